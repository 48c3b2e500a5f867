#!/usr/bin/env python
"""Django's command line for OmniRoute."""

import os
import sys


def main() -> None:
    """Run the management command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omniroute_site.settings")
    from django.core.exceptions import ImproperlyConfigured  # settings module must be named first
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:  # a wrong variable deserves its sentence, not a traceback
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
