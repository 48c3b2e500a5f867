"""`manage.py resilience …`: what an operator without a browser sees and does."""

import argparse
import getpass
import json
import math
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from resilience import actions, policies, status
from resilience.core.permit import Pair
from resilience.models import BreakerState
from resilience.shapes import BreakerData, CooldownData, LockoutData

ON_PROVIDER = {
    "reset": "close the breaker with zero counts",
    "force-open": "refuse every call to the provider",
    "force-close": "admit every call to the provider",
    "unforce": "end a forced state",
}
ON_PAIR = {"unlock": "use a locked model of a connection again", "lock": "skip one model of a connection"}
TIMED = {"force-open", "force-close", "lock"}


class Command(BaseCommand):
    help = "Shows breakers, cooldowns and lockouts, and acts on them."

    def add_arguments(self, parser: CommandParser) -> None:
        commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        shown = commands.add_parser("status", help="breakers, cooldowns and lockouts as a table")
        shown.add_argument("--json", action="store_true", help="as JSON, the same as GET /api/resilience/")
        for name, text in ON_PROVIDER.items():
            _add_action(commands, name, text)
        _add_action(commands, "clear-cooldown", "use a cooling connection again at once", "connection")
        for name, text in ON_PAIR.items():
            _add_action(commands, name, text, "connection", "model")

    def handle(self, *args: Any, **options: Any) -> None:
        action: str = options["action"]
        if action == "status":
            self._show(as_json=options["json"])
            return
        _check_provider(options["provider"])
        try:
            self._act(action, options)
        except ValueError as error:
            raise CommandError(str(error), returncode=2) from error

    def _act(self, action: str, options: dict[str, Any]) -> None:
        provider: str = options["provider"]
        why = {"actor": _actor(), "reason": options["reason"]}
        duration = timedelta(seconds=options["for"]) if options.get("for") is not None else None
        match action:
            case "reset":
                change = actions.reset(provider, **why)
            case "force-open":
                change = actions.force_open(provider, duration=duration, **why)
            case "force-close":
                change = actions.force_close(provider, duration=duration, **why)
            case "unforce":
                change = actions.unforce(provider, **why)
            case "clear-cooldown":
                change = actions.clear_cooldown(provider, options["connection"], **why)
            case "lock":
                change = actions.lock(_pair(options), duration=duration, **why)
            case _:
                change = actions.unlock(_pair(options), **why)
        self.stdout.write(f"{action} {provider}: {'done' if change.written else 'nothing to change'}")

    def _show(self, *, as_json: bool) -> None:
        snapshot = status.snapshot(timezone.now())
        if as_json:
            self.stdout.write(json.dumps(snapshot, indent=2))
            return
        self._table(
            ("PROVIDER", "STATE", "FAILURES", "WINDOW", "RETRY IN", "LAST FAILURE", "FORCED"),
            [_breaker_cells(breaker) for breaker in snapshot["breakers"]],
            empty="No providers.",
        )
        self._table(
            ("COOLING CONNECTION", "KIND", "FOR", "SOURCE", "LEVEL"),
            [_cooldown_cells(cooldown) for cooldown in snapshot["cooldowns"]],
            empty="No cooldowns.",
        )
        self._table(
            ("LOCKED PAIR", "REASON", "FOR", "FAILURES"),
            [_lockout_cells(lockout) for lockout in snapshot["lockouts"]],
            empty="No lockouts.",
        )

    def _table(self, head: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> None:
        if not rows:
            self.stdout.write(empty)
            return
        widths = [max(len(line[column]) for line in [head, *rows]) for column in range(len(head))]
        for line in [head, *rows]:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _breaker_cells(breaker: BreakerData) -> Sequence[str]:
    window, forced = breaker["window"], breaker["forced"]
    return (
        breaker["provider"],
        breaker["state"],
        f"{breaker['failure_count']}/{breaker['failure_threshold']}",
        f"{window['failures']}/{window['calls']}",
        "" if breaker["retry_after"] is None else f"{breaker['retry_after']:.0f} s",
        breaker["last_failure_kind"] or "",
        f"{forced['mode']} by {forced['by']}" if forced else "",
    )


def _cooldown_cells(cooldown: CooldownData) -> Sequence[str]:
    connection = f"{cooldown['provider']}/{cooldown['connection']}"
    remaining = f"{cooldown['remaining']:.0f} s"
    return (connection, cooldown["kind"], remaining, cooldown["source"], str(cooldown["level"]))


def _lockout_cells(lockout: LockoutData) -> Sequence[str]:
    pair = f"{lockout['provider']}/{lockout['connection']}/{lockout['model']}"
    return (pair, lockout["reason"], f"{lockout['remaining']:.0f} s", str(lockout["attempts"]))


def _add_action(commands: Any, name: str, text: str, *places: str) -> None:
    parser = commands.add_parser(name, help=text)
    for place in ("provider", *places):
        parser.add_argument(place, metavar=place.upper())
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why; kept in the event log")
    if name in TIMED:
        parser.add_argument("--for", type=_seconds, metavar="SECONDS", help="end by itself after this time")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= actions.LONGEST.total_seconds():  # false for NaN too
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


def _check_provider(provider: str) -> None:
    known = known_providers()
    if provider not in known:
        names = ", ".join(sorted(known)) or "none are configured"
        raise CommandError(f"Unknown provider {provider!r}. Known: {names}.", returncode=2)


def known_providers() -> set[str]:
    """Configured ones, and those that have state from before they were taken out of the configuration."""
    rows: Iterable[str] = BreakerState.objects.values_list("provider", flat=True)
    return {*policies.providers(), *rows}


def _pair(options: dict[str, Any]) -> Pair:
    return Pair(options["provider"], options["connection"], options["model"])


def _actor() -> str:
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a container whose user has no name
        return "cli"
