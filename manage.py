#!/usr/bin/env python
"""Django's command line for OmniRoute."""

import os
import sys


def main() -> None:
    """Run the management command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omniroute_site.settings")
    from django.core.management import execute_from_command_line  # settings module must be named first

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
