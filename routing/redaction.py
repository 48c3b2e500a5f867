"""Keeps a connection's own secrets out of what its provider says of them.

The core masks what looks like a key (`resilience.core.redaction`). Keys of self-hosted servers, of Azure and of proxies in
between look like nothing in particular; here they are known.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from resilience.core.outcome import Failure, Unmatched
from resilience.core.redaction import MASK
from routing.table import Connection

SHORTEST = 8  # characters; `none`, `EMPTY` and the like are no secrets, and common words
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)


def without_secrets(failure: Failure, connection: Connection) -> Failure:
    """The failure with the connection's key and secret headers masked in all that it says."""
    secrets = sorted({secret for secret in _secrets(connection) if len(secret) >= SHORTEST}, key=len, reverse=True)
    if not secrets:
        return failure
    pattern = re.compile("|".join(map(_cut_or_whole, secrets)), re.IGNORECASE)  # codes are told in lower case
    code = failure.code and pattern.sub(MASK, failure.code)
    param = failure.param and pattern.sub(MASK, failure.param)
    kept = failure.unmatched and Unmatched(
        pattern.sub(MASK, failure.unmatched.shape), pattern.sub(MASK, failure.unmatched.example)
    )
    return replace(failure, message=pattern.sub(MASK, failure.message), code=code, param=param, unmatched=kept)


def is_secret_header(name: str) -> bool:
    """Whether a header of this name is likely to hold a secret."""
    return _SECRET_HEADER.search(name) is not None


def _secrets(connection: Connection) -> Iterator[str]:
    if connection.api_key:
        yield connection.api_key
    for name, value in connection.headers:
        if is_secret_header(name):
            yield from value.split()  # the scheme is not secret: `Bearer …`, `Basic …`


def _cut_or_whole(secret: str) -> str:
    """Matches it, and its beginning where a message was cut short within it."""
    beginning = re.escape(secret[:SHORTEST])
    return f"{re.escape(secret)}|{beginning}[^\\s]*…$"
