"""Security headers for every page: nothing from elsewhere, nothing inline."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

POLICY = "; ".join(
    [
        "default-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "object-src 'none'",
    ]
)


class ContentSecurityPolicyMiddleware(MiddlewareMixin):
    """Sets `Content-Security-Policy`. Django gains a middleware of its own in version 6."""

    get_response: Callable[[HttpRequest], HttpResponseBase]

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add the header unless the view has set a stricter one."""
        del request
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response
