"""The only package that speaks HTTP to providers; nothing else imports httpx or aiohttp."""

from routing.upstream.calls import (
    USER_AGENT,
    Upstream,
    UpstreamError,
    UpstreamRequest,
    UpstreamResponse,
    current,
)

__all__ = ["USER_AGENT", "Upstream", "UpstreamError", "UpstreamRequest", "UpstreamResponse", "current"]
