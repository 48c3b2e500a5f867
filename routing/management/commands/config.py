"""`manage.py config apply FILE` and `config export`."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from routing.configfile import ConfigFileError, apply_file, export_file

INVALID = 2
"""Exit status of a file that cannot be applied."""


class Command(BaseCommand):
    help = "Apply a configuration file, or write the configuration as one."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        apply = verbs.add_parser("apply", help="make the configuration what a YAML file says")
        apply.add_argument("file", help="path of the file, - for standard input")
        apply.add_argument("--dry-run", action="store_true", help="print what would change, change nothing")
        apply.add_argument("--prune", action="store_true", help="delete what the file does not name")
        verbs.add_parser("export", help="print the configuration as YAML, without literal secrets")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verb"] == "export":
            self.stdout.write(export_file(), ending="")
            return
        raw = self._read(options["file"])
        try:
            plan = apply_file(raw, dry_run=options["dry_run"], prune=options["prune"])
        except ConfigFileError as error:
            raise CommandError(f"{options['file']} was not applied:\n{error}", returncode=INVALID) from error
        for line in plan.lines():
            self.stdout.write(line)
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was changed.")
            return
        for name, key in plan.generated_keys.items():
            self.stdout.write(f"key {name}: {key} (shown this once, only its hash is stored)")

    @staticmethod
    def _read(file: str) -> bytes:
        try:
            return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}", returncode=INVALID) from error
