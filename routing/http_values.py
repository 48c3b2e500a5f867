"""What may stand in a base URL, an extra upstream header and an error pattern. Raises Django's ValidationError, which says what is allowed."""

import re
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

from resilience.core.patterns import read_pattern

MAX_HEADERS = 50
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")  # RFC 9110, field-name
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]{0,4000}")  # RFC 9110, field-value: no control characters
_FRAMING = {"connection", "content-length", "transfer-encoding", "te", "upgrade", "trailer"}
_HOST = re.compile(r"[A-Za-z0-9._:\[\]-]+")


def validate_base_url(value: str) -> None:
    """Allow an absolute http or https URL without credentials or fragment. Names without a dot are fine.

    The only query is Azure's `?api-version=…`.
    """
    allowed = "must be an http:// or https:// URL without credentials, query (but ?api-version=… for Azure) or fragment"
    try:
        parts = urlsplit(value)
        _ = parts.port  # out of range raises here
    except ValueError as error:
        raise ValidationError(f"{allowed} ({error})") from error
    complete = parts.scheme in ("http", "https") and parts.hostname and _HOST.fullmatch(parts.netloc)
    if not complete or _query_is_strange(parts.query) or parts.fragment or re.search(r"[\s\\\x00-\x1f]", value):
        raise ValidationError(allowed)


def _query_is_strange(query: str) -> bool:
    return bool(query) and not re.fullmatch(r"api-version=[\w.-]+", query)


def validate_headers(headers: object) -> None:
    """Allow a mapping of header names to texts, but none that frame the message itself."""
    if not isinstance(headers, dict):
        raise ValidationError("must be a mapping of header names to texts")
    if len(headers) > MAX_HEADERS:
        raise ValidationError(f"must not hold more than {MAX_HEADERS} headers")
    for name, value in headers.items():
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise ValidationError(f"{str(name)[:100]!r} is not a header name: letters, digits and hyphens")
        if name.lower() in _FRAMING:
            raise ValidationError(f"{name} is set by the gateway itself")
        if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
            raise ValidationError(f"the value of {name} must be a text without line breaks, at most 4000 characters")


def validate_pattern(value: str) -> None:
    """Allow what the classification can search."""
    if problem := read_pattern(value).problem:
        raise ValidationError(problem)
