"""The routing floor: what to call, who may call us, and the proxy.

The Python names of CONTRACT section 6 are here, loaded at their first use, since they need Django's apps.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routing.registration import register_fallback, resolve_fallback_chain

__all__ = ["register_fallback", "resolve_fallback_chain"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from routing import registration  # as said above

        return getattr(registration, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
