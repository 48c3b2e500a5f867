"""From an upstream's answer to a failure with its kind.

Operators' rules come first, then the table of the format (`error_tables.py`). The rule that fired is kept.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from .envelope import Envelope, decode, read
from .error_rules import ErrorFormat, ErrorRule
from .error_tables import STATUS_OF_CODE, TABLES
from .find_error import find_error
from .hints import parse_hint
from .kinds import Kind
from .outcome import Failure, Hint
from .redaction import redact

__all__ = ["ErrorFormat", "ErrorRule", "classify_envelope", "classify_http", "find_error"]


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
    return _classify(fmt, envelope, status, hint=hint, rules=rules)


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
    return _classify(fmt, found, status, hint=hint, rules=rules)


def _telling(envelope: Envelope, status: int | None, headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers that may hint: those the envelope quotes, and the answer's unless it is a success."""
    return envelope.headers if status is None or 200 <= status < 300 else {**envelope.headers, **headers}


def _classify(
    fmt: ErrorFormat, envelope: Envelope, status: int | None, *, hint: Hint | None, rules: Sequence[ErrorRule]
) -> Failure:
    meant = _status_meant(envelope, status)
    message = redact(envelope.text) or (f"status {status}, no message" if status else "no message")
    code = envelope.codes[0] if envelope.codes else None
    for rule in rules:
        if _rule_matches(rule, envelope, meant, status):
            name = f"operator: {rule.name}"
            return Failure(rule.kind, message, meant, code, hint, rule=name, cooldown=rule.cooldown)
    row = next(row for row in TABLES[fmt] if row.matches(envelope, meant))
    model_scope = row.kind is Kind.QUOTA_EXHAUSTED and envelope.model_scope
    return Failure(row.kind, message, meant, code, hint, model_scope, rule=f"{fmt}: {row.name}")


def _status_meant(envelope: Envelope, status: int | None) -> int | None:
    """The status that classifies: the envelope's own, else the answer's if it is not a success, else its codes'."""
    if envelope.status is not None:
        return envelope.status
    if status is not None and not 200 <= status < 300:
        return status
    return next((STATUS_OF_CODE[code] for code in envelope.codes if code in STATUS_OF_CODE), None)


def _rule_matches(rule: ErrorRule, envelope: Envelope, meant: int | None, status: int | None) -> bool:
    """Whether all that an operator's rule names is there."""
    if rule.status is not None and rule.status not in {meant, status}:
        return False
    if rule.code is not None and rule.code.lower() not in envelope.codes:
        return False
    if rule.pattern is None:
        return rule.status is not None or rule.code is not None
    pattern = _compiled(rule.pattern)
    return pattern is not None and pattern.search(envelope.text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """An operator's pattern; one that is not valid (the form refuses it, an old row may hold it) never matches."""
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error:
        return None
