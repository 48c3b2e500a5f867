"""From an upstream's answer to a failure with its kind.

Operators' rules come first, then the table of the format (`error_tables.py`). The rule that fired is kept, and by what
it decided; of an error that only its status told, so is what a rule can be made of (`unmatched.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from .envelope import Envelope, decode, read
from .error_rules import ErrorFormat, ErrorRule
from .error_tables import STATUS_OF_CODE, TABLES
from .find_error import find_error
from .hints import parse_hint
from .kinds import Kind
from .outcome import DecidedBy, Failure, Hint
from .patterns import read_pattern
from .redaction import redact
from .unmatched import unmatched

__all__ = ["ErrorFormat", "ErrorRule", "classify_envelope", "classify_http", "find_error"]

UNMATCHED = (DecidedBy.STATUS, DecidedBy.NOTHING)
"""Nobody knows this error: it is collected, so that an operator can make a rule of it."""


def classify_http(
    fmt: ErrorFormat,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    now: datetime,
    max_cooldown: timedelta,
    rules: Sequence[ErrorRule] = (),
) -> Failure:
    """The failure that an error answer means. The body may be anything; `headers` have lower-case names. Never raises."""
    document = decode(body)
    envelope = read(document, body)
    hint = parse_hint(_telling(envelope, status, headers), document, envelope.text, now, max_cooldown)
    return _classify(fmt, document, envelope, status, hint=hint, rules=rules)


def classify_envelope(
    fmt: ErrorFormat,
    envelope: object,
    status: int | None,
    headers: Mapping[str, str],
    *,
    now: datetime,
    max_cooldown: timedelta,
    rules: Sequence[ErrorRule] = (),
) -> Failure:
    """The failure that an error envelope inside a 200 or a stream means. Never raises.

    `status` is the answer's, or None; that the envelope names counts for more. Headers of a 2xx give no hint.
    """
    found = read(envelope)
    hint = parse_hint(_telling(found, status, headers), envelope, found.text, now, max_cooldown)
    return _classify(fmt, envelope, found, status, hint=hint, rules=rules)


def _telling(envelope: Envelope, status: int | None, headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers that may hint: those the envelope quotes, and the answer's unless it is a success."""
    return envelope.headers if status is None or 200 <= status < 300 else {**envelope.headers, **headers}


def _classify(
    fmt: ErrorFormat,
    document: object,
    envelope: Envelope,
    status: int | None,
    *,
    hint: Hint | None,
    rules: Sequence[ErrorRule],
) -> Failure:
    stated = _stated(envelope, status)
    implied = next((STATUS_OF_CODE[code] for code in envelope.codes if code in STATUS_OF_CODE), None)
    meant = implied if stated is None else stated
    message = redact(envelope.text)
    told = message or (f"status {status}, no message" if status else "no message")
    param = envelope.param and redact(envelope.param)
    failure = Failure(Kind.TRANSIENT, told, meant, envelope.codes[0] if envelope.codes else None, hint, param)
    line = " ".join(envelope.text.split()).encode(errors="replace") if rules else b""
    for rule in rules:
        if _rule_matches(rule, envelope, line, {meant, status}):
            name = f"operator: {rule.name}"
            return replace(failure, kind=rule.kind, rule=name, cooldown=rule.cooldown, decided_by=DecidedBy.RULE)
    row = next(row for row in TABLES[fmt] if row.matches(envelope, meant))
    decided_by = row.decides_by
    if decided_by is DecidedBy.STATUS and stated is None:
        decided_by = DecidedBy.NOTHING if implied is None else DecidedBy.CODE
    return replace(
        failure,
        kind=row.kind,
        rule=f"{fmt}: {row.name}",
        model_scope=row.kind is Kind.QUOTA_EXHAUSTED and envelope.model_scope,
        decided_by=decided_by,
        unmatched=unmatched(document, message) if decided_by in UNMATCHED else None,
    )


def _stated(envelope: Envelope, status: int | None) -> int | None:
    """The status that classifies: the envelope's own, else the answer's if it is not a success."""
    if envelope.status is not None:
        return envelope.status
    return status if status is not None and not 200 <= status < 300 else None


def _rule_matches(rule: ErrorRule, envelope: Envelope, line: bytes, statuses: set[int | None]) -> bool:
    """Whether all that an operator's rule names is there; `line` is what the envelope says, on one line."""
    if rule.status is not None and rule.status not in statuses:
        return False
    if rule.code is not None and rule.code.lower() not in envelope.codes:
        return False
    if rule.pattern is None:
        return rule.status is not None or rule.code is not None
    return read_pattern(rule.pattern).is_in(line)
