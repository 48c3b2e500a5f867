"""Who asks: a client key with the right scope, or a person who is logged in."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from ninja.security.base import AuthBase
from ninja.utils import check_csrf

from omniroute_site.people import may_operate, may_read
from routing import auth, table
from routing.errors import GatewayError

KEY_HEADERS = ("authorization", "x-api-key")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
LONGEST_ACTOR = 200  # characters, of the columns that name who acted: PostgreSQL refuses more


@dataclass(frozen=True, slots=True)
class Asker:
    """Whoever asks, under the name that events record."""

    name: str


class Access(AuthBase):
    """Admits holders of a scope (`read` or `operate`); everybody else is told what is missing."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.scope = scope

    def __call__(self, request: HttpRequest) -> Asker:
        """The asker; raises GatewayError 401, 403 or 429.

        A key outranks a session: a script that sends one means it, and needs no CSRF token, since a browser never
        sends a key by itself.
        """
        in_force = table.current_sync()  # also what the answer's policies are taken from
        if any(name in request.headers for name in KEY_HEADERS):
            return self._by_key(request, in_force)
        return self._by_session(request)

    def _by_key(self, request: HttpRequest, in_force: table.RoutingTable) -> Asker:
        headers = [(name.lower().encode("latin-1"), _bytes(value)) for name, value in request.headers.items()]
        key = auth.authenticate(headers, in_force, self.scope)
        return Asker(f"key:{key.name}"[:LONGEST_ACTOR])

    def _by_session(self, request: HttpRequest) -> Asker:
        user: Any = request.user
        if not user.is_authenticated:
            raise GatewayError(
                f"Send a key with the scope `{self.scope}` as `Authorization: Bearer KEY`, or log in.",
                status=401,
                code="invalid_api_key",
            )
        allowed = may_operate(user) if self.scope == "operate" else may_read(user)
        if not allowed:
            raise GatewayError(
                f"Your account lacks the permission to {self.scope}.", status=403, code="insufficient_permissions"
            )
        if request.method not in SAFE_METHODS and check_csrf(request) is not None:
            raise GatewayError(
                "The CSRF token is missing or wrong; send it as X-CSRFToken.", status=403, code="csrf_failed"
            )
        return Asker(user.get_username())


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogateescape")


reader = Access("read")
operator = Access("operate")


def asker(request: HttpRequest) -> str:
    """The name of whoever was admitted, for the event."""
    found: Asker = request.auth  # type: ignore[attr-defined]  # ninja sets it
    return found.name
