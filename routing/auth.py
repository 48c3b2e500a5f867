"""Who is calling, and may they: one hash and one lookup in the routing table per request.

`Authorization: Bearer KEY`, else `x-api-key: KEY`. An `Authorization` header decides even if it makes no sense.
The same answer for no key and a wrong key; keys are compared by the hash they are stored under, so there is
nothing to time.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256

from routing.errors import GatewayError
from routing.table import ClientKey, RoutingTable

RATE_WINDOW = 60.0
"""Seconds that `requests_per_minute` counts over."""
_BEARER = b"bearer "
NO_KEY = "No API key provided: send `Authorization: Bearer KEY` or `x-api-key: KEY`."


@dataclass(slots=True)
class RateLimiter:
    """Requests of the last minute per key, in this process's memory: a limit holds per process.

    Used from one event loop. A refused request does not count, so that a client that keeps knocking gets in again.
    """

    clock: Callable[[], float] = time.monotonic
    _taken: dict[int, deque[float]] = field(default_factory=dict)

    def take(self, key: ClientKey) -> float:
        """Count one request; return 0, or the seconds until one is free, and then count nothing."""
        now = self.clock()
        taken = self._taken.setdefault(key.id, deque())
        while taken and taken[0] <= now - RATE_WINDOW:
            taken.popleft()
        if len(taken) < key.requests_per_minute:
            taken.append(now)
            return 0.0
        # the limit may have been lowered since: wait until enough of the older ones have left the window
        return max(taken[-key.requests_per_minute] + RATE_WINDOW - now, 0.001)

    def forget(self) -> None:
        """Start over."""
        self._taken.clear()


limiter = RateLimiter()


def authenticate(headers: Iterable[tuple[bytes, bytes]], table: RoutingTable, scope: str) -> ClientKey:
    """Return the caller's key, or raise GatewayError: 401, 403 without the scope, 429 over its rate.

    `headers` as ASGI gives them: lower-case names. The rate counts requests to `/v1` (scope `chat`) only.
    """
    key = identify(headers, table)
    if scope not in key.scopes:
        raise GatewayError(f"This key lacks the scope {scope!r}.", status=403, code="insufficient_permissions")
    if key.requests_per_minute and scope == "chat":
        wait = limiter.take(key)
        if wait:
            raise GatewayError(
                f"This key may send {key.requests_per_minute} requests per minute. Try again in {wait:.0f} s.",
                status=429,
                code="rate_limit_exceeded",
                retry_after=wait,
            )
    return key


def identify(headers: Iterable[tuple[bytes, bytes]], table: RoutingTable) -> ClientKey:
    """Return the enabled key that the headers carry; raises GatewayError 401."""
    presented = presented_key(headers)
    key = table.keys.get(sha256(presented).hexdigest())
    if key is None:
        raise _refused("Incorrect API key provided." if presented else NO_KEY)
    if not key.enabled:
        raise _refused("This API key is disabled.")
    return key


def presented_key(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the key that the headers carry, empty if none. The first of several headers of one name counts."""
    authorization: bytes | None = None
    api_key: bytes | None = None
    for name, value in headers:
        if name == b"authorization" and authorization is None:
            authorization = value
        elif name == b"x-api-key" and api_key is None:
            api_key = value
    if authorization is not None:
        return authorization[len(_BEARER) :].strip() if authorization[: len(_BEARER)].lower() == _BEARER else b""
    return (api_key or b"").strip()


def key_may_use(key: ClientKey, model: str) -> bool:
    """Whether one of the key's patterns fits the requested name; `*` fits every name, slashes included."""
    return any(pattern in ("*", model) or fnmatchcase(model, pattern) for pattern in key.models)


def _refused(message: str) -> GatewayError:
    return GatewayError(message, status=401, code="invalid_api_key")
