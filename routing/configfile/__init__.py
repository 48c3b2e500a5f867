"""The configuration as a file (CONTRACT section 3).

bytes ──document──► values ──schema──► ConfigFile ──references──► apply ──► rows, and a Plan of what changed
rows ──export──► YAML
"""

from routing.configfile.apply import apply_file
from routing.configfile.export import export_file
from routing.configfile.plan import Change, Plan
from routing.configfile.problems import ConfigFileError, Problem

__all__ = ["Change", "ConfigFileError", "Plan", "Problem", "apply_file", "export_file"]
