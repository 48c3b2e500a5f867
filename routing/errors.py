"""What a client is told when it gets no answer; CONTRACT section 4's table is built from these.

GatewayError            one refusal or failure, raised where it is known, rendered in one place (proxy.py)
"""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


class GatewayError(Exception):
    """A request that ends without an answer.

    status: HTTP status. code: machine-readable, of CONTRACT section 4. param: the offending body member.
    retry_after: seconds, rounded up in the header; None where no time is known. allow: the method that is, for a 405.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        type: str = "",  # noqa: A002 (the member's name in OpenAI's error object)
        param: str | None = None,
        retry_after: float | None = None,
        allow: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.type = type or TYPES.get(status) or ("invalid_request_error" if status < 500 else "server_error")
        self.param = param
        self.retry_after = retry_after
        self.allow = allow

    @property
    def retry_after_header(self) -> str | None:
        """Whole seconds, at least one: a client that obeys must not come too early."""
        return None if self.retry_after is None else str(max(1, ceil(self.retry_after)))

    def body(self, request_id: str, chain: str, targets: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
        """The OpenAI-shaped error object with the gateway's own member."""
        return {
            "error": {
                "message": self.message,
                "type": self.type,
                "code": self.code,
                "param": self.param,
                "omniroute": {"request_id": request_id, "chain": chain, "targets": list(targets)},
            }
        }


def invalid_request(message: str, param: str | None = None) -> GatewayError:
    """The caller's mistake, found before anything was sent."""
    return GatewayError(message, status=400, code="invalid_request", param=param)


def model_not_found(model: str) -> GatewayError:
    """No chain of that name, and no provider before its slash."""
    return GatewayError(
        f"The model {model!r} does not exist here. GET /v1/models lists the names this key may use.",
        status=404,
        code="model_not_found",
        param="model",
    )


def draining() -> GatewayError:
    """This process is going down; another one, or the next start, will answer."""
    return GatewayError(
        "This gateway is shutting down; send the request again.", status=503, code="draining", retry_after=5
    )
