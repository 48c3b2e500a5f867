"""When not to call: breakers, cooldowns and lockouts, kept in the database and decided upon in memory.

The public names are those of `resilience.api`; they are found here too, loaded when first asked for, since models
cannot be imported before Django is set up.
"""

from typing import Any

PUBLIC = (
    "force_unlock",
    "get_all_circuit_breaker_statuses",
    "get_all_model_lockouts",
    "get_circuit_breaker",
    "mark_account_unavailable",
    "record_success",
)


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from resilience import api  # needs the app registry, which is not there yet when this package is imported

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLIC})
