"""A case as it stands in rows/*.jsonl: what providers answer, what a client sends, what must be true afterwards.

The fields are those of the failure cases that the project was given (tests/cases/README.md lists them).
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from tests.routing.engine.harness import KEY

Json = Any

FOLDER = Path(__file__).parent / "rows"
PACE = 0.2
"""A second of a row's delays, gaps and deadlines lasts this many seconds; its sleeps only move the clock."""
SETTINGS = ("max_attempts", "on_content_filter", "wait_for_retry_after", "max_cooldown_wait")


@dataclass(frozen=True)
class Row:
    """One case. `moment` of `expand` is what its placeholders are relative to."""

    row: dict[str, Json]

    def __str__(self) -> str:
        meaning = re.split(r"(?<=[a-z0-9)'])[.:;] ", self.row["notes"])[0]
        return f"{self.row['id']} {meaning}"[:110]

    @property
    def settings(self) -> dict[str, Json]:
        settings: dict[str, Json] = self.row.get("settings") or {}
        return settings

    @property
    def steps(self) -> list[dict[str, Json]]:
        return self.row.get("steps") or [{"do": "request", "client": self.row.get("client")}]

    @property
    def chains(self) -> dict[tuple[str, ...], str]:
        """The targets of each chain that the row names, and the model by which a client asks for it."""
        named = [self.row["chain"], *(step["chain"] for step in self.steps if "chain" in step)]
        return {targets: f"model{number}" for number, targets in enumerate(dict.fromkeys(map(tuple, named)))}

    def expand(self, text: str, now: datetime) -> str:
        """Fill in `{{epoch:+90}}`, `{{repeat:x:100}}` and the like."""

        def value(found: re.Match[str]) -> str:
            name, argument = found[1], found[2] or ""
            if name == "repeat":
                what, _, times = argument.partition(":")
                return what * int(times)
            if name in ("key", "gateway_key"):
                return api_key(argument) if name == "key" else KEY
            moment = now + timedelta(seconds=float(argument))
            forms = {
                "http_date": format_datetime(moment.astimezone(UTC), usegmt=True),
                "epoch": str(int(moment.timestamp())),
                "epoch_ms": str(int(moment.timestamp() * 1000)),
                "iso": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
            return forms[name]

        return re.sub(r"\{\{(\w+)(?::([^{}]*))?\}\}", value, text)

    def configuration(self, port: int) -> bytes:
        """The configuration file for this case, its providers listening on `port`."""
        settings: dict[str, Json] = {"max_attempts": 8, "wait_for_retry_after": 0, "max_cooldown_wait": 0}
        settings |= {name: self.settings[name] for name in SETTINGS if name in self.settings}
        if "emergency" in self.settings:
            slug, _, model = self.settings["emergency"].partition(":")
            limit = self.settings.get("emergency_max_tokens", 1024)
            settings["emergency"] = {"enabled": True, "provider": slug, "model": model, "max_output_tokens": limit}
        facts = (self.settings.get("models") or {}).items()
        document = {
            "settings": settings,
            "keys": [{"name": "test", "key": KEY, "scopes": ["chat"], "models": ["*"]}],
            "providers": [self._provider(one["name"], one["kind"], port) for one in self.row["upstreams"]],
            "models": [dict(zip(("provider", "model"), name.split(":"), strict=True)) | known for name, known in facts],
            "chains": [
                {"model": model, "entries": list(self._entries(targets))} for targets, model in self.chains.items()
            ],
        }
        return json.dumps(document).encode()

    def _entries(self, targets: tuple[str, ...]) -> Iterator[dict[str, Json]]:
        for priority, target in enumerate(dict.fromkeys(targets)):
            slug, _, model = target.partition(":")
            enabled = target not in self.settings.get("disabled_entries", [])
            yield {"provider": slug, "model": model, "priority": priority, "enabled": enabled}

    def _provider(self, slug: str, kind: str, port: int) -> dict[str, Json]:
        chosen = self.settings
        threshold = chosen.get("failure_threshold", 5)
        first_token = chosen.get("first_token_timeout_s", 20) * PACE
        plain = "first_token_timeout_s" in chosen and not self.row["request"].get("stream")
        version = "v1beta" if kind == "gemini" else "v1"
        return {
            "slug": slug,
            "format": kind,
            "base_url": f"http://127.0.0.1:{port}/{slug}/{version}",
            "breaker": {
                "failure_threshold": threshold,
                "degradation_threshold": math.ceil(threshold * 0.6),
                "reset_timeout": chosen.get("reset_timeout_s", 30),
                "half_open_requests": chosen.get("half_open_requests", 1),
                "max_backoff_multiplier": chosen.get("max_backoff_multiplier", 16),
                "jitter": 0,
                "minimum_calls": chosen.get("minimum_calls", 20),
                "probe_lease": chosen.get("probe_lease_s", 120),
            },
            "cooldown_by_kind": {"transient": chosen.get("transient_cooldown_s", 0)},
            "lockout": {"max_attempts": chosen.get("lockout_max_attempts", 5)},
            "timeouts": {
                "first_token": first_token,
                "response": first_token if plain else 120,
                "idle": chosen.get("idle_timeout_s", 20) * PACE,
            },
            "retries": chosen.get("retries_per_target", 0),
            "stream_rescue": chosen.get("stream_rescue", "off"),
            "connections": [
                {
                    "slug": "main",
                    "api_key": api_key(slug),
                    "max_concurrency": chosen.get("max_concurrency_per_provider", 0),
                }
            ],
        }


def api_key(slug: str) -> str:
    return f"upstream-key-of-{slug}"


def load_rows() -> list[Row]:
    files = sorted(FOLDER.glob("*.jsonl"))
    return [Row(json.loads(line)) for file in files for line in file.read_text("utf-8").split("\n") if line.strip()]
