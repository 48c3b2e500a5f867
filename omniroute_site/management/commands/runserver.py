"""The development server: daphne's.

Only this command loads daphne. As an app in INSTALLED_APPS it would load Twisted into every command and every worker.
"""

from daphne.management.commands.runserver import Command

__all__ = ["Command"]
