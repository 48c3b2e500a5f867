"""Every error of the state API in one shape, the one `/v1` uses: `{"error": {"message", "type", "code", "param"}}`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.deprecation import MiddlewareMixin
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from routing.errors import GatewayError

CODES: Mapping[int, tuple[str, str]] = {
    400: ("invalid_request", "The request could not be understood."),
    401: ("invalid_api_key", "Send a key with the scope `read` (actions: `operate`), or log in."),
    403: ("insufficient_permissions", "This is not allowed for you."),
    404: ("not_found", "There is nothing at this address."),
    405: ("method_not_allowed", "This address does not take this method."),
    500: ("internal_error", "The gateway failed to answer; its log says why."),
}


def error_response(error: GatewayError) -> JsonResponse:
    """The error as an answer, with Retry-After where a time is known."""
    member = {"message": error.message, "type": error.type, "code": error.code, "param": error.param}
    response = JsonResponse({"error": member}, status=error.status)
    if error.retry_after_header is not None:
        response["Retry-After"] = error.retry_after_header
    if error.status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


def install(api: NinjaAPI) -> None:
    """Let the API answer with our shape instead of ninja's."""

    @api.exception_handler(GatewayError)
    def gateway_error(request: HttpRequest, error: GatewayError) -> HttpResponse:
        del request
        return error_response(error)

    @api.exception_handler(Http404)
    def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
        del request
        message = str(error.args[0]) if error.args else CODES[404][1]
        return error_response(GatewayError(message, status=404, code="not_found"))

    @api.exception_handler(HttpError)
    def http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
        del request
        code = "invalid_json" if error.status_code == 400 else CODES.get(error.status_code, CODES[400])[0]
        return error_response(GatewayError(str(error), status=error.status_code, code=code))

    @api.exception_handler(ValidationError)
    def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
        del request
        return error_response(unprocessable(error.errors))


def unprocessable(problems: Iterable[Mapping[str, Any]]) -> GatewayError:
    """422 that names each member and what is wrong with it."""
    named = [(_member(problem.get("loc", ())), str(problem.get("msg", "is wrong"))) for problem in problems]
    message = "; ".join(f"{member}: {_advice(member, text)}" for member, text in named)
    return GatewayError(message, status=422, code="invalid_request", param=named[0][0] if named else None)


def _member(location: Iterable[Any]) -> str:
    """`("body", "payload", "reason")` → `reason`: the first two are ninja's own words."""
    parts = [str(part) for part in location]
    return ".".join(parts[2:]) or ".".join(parts[1:]) or "body"


def _advice(member: str, text: str) -> str:
    if member == "reason":
        return 'say why, for whoever reads the event later, e.g. {"reason": "maintenance until noon"}'
    return text.removeprefix("Value error, ")


class JsonErrorsMiddleware(MiddlewareMixin):
    """Turns the HTML that Django answers under `/api/` and `/metrics` into the same shape: 404, 405, 500."""

    get_response: Callable[[HttpRequest], HttpResponseBase]

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Replace an error that is not JSON."""
        if response.status_code < 400 or not request.path.startswith(("/api/", "/metrics")):
            return response
        if response.headers.get("Content-Type", "").startswith("application/json"):
            return response
        code, message = CODES.get(response.status_code, CODES[500 if response.status_code >= 500 else 400])
        answer = error_response(GatewayError(message, status=response.status_code, code=code))
        if "Allow" in response.headers:
            answer["Allow"] = response.headers["Allow"]
        return answer
