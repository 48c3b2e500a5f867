"""From an upstream's answer to a failure with its kind."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from .error_rules import ErrorFormat, ErrorRule
from .outcome import Failure

__all__ = ["ErrorFormat", "ErrorRule", "classify_envelope", "classify_http", "find_error"]


def classify_http(
    fmt: ErrorFormat,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    now: datetime,
    max_cooldown: timedelta,
    rules: Sequence[ErrorRule] = (),
) -> Failure:
    """The failure that an error answer means. The body may be anything; `headers` have lower-case names."""
    raise NotImplementedError


def classify_envelope(
    fmt: ErrorFormat,
    envelope: object,
    status: int | None,
    headers: Mapping[str, str],
    now: datetime,
    max_cooldown: timedelta,
    rules: Sequence[ErrorRule] = (),
) -> Failure:
    """The failure that an error envelope inside a 200 or a stream means. `status` None: the envelope's own."""
    raise NotImplementedError


def find_error(fmt: ErrorFormat, document: object) -> object | None:
    """The error envelope of a document or stream event that should have been an answer; None if it is an answer."""
    raise NotImplementedError
