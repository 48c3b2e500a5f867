"""Where this floor learns the thresholds of each provider.

The floor above owns the configuration; it registers one function that returns the policies of all providers.
Without one every provider has the default policy.
"""

from collections.abc import Callable, Mapping

from resilience.core.policy import DEFAULT_POLICY, Policy

Source = Callable[[], Mapping[str, Policy]]


def _no_providers() -> Mapping[str, Policy]:
    return {}


_source: Source = _no_providers


def register_source(source: Source) -> None:
    """Take policies from `source` from now on; it must be cheap (a lookup in memory) and callable in any thread."""
    global _source  # noqa: PLW0603 (one source per process, set once at start)
    _source = source


def policy_for(provider: str) -> Policy:
    """The policy of `provider`, the default one if the configuration does not name it."""
    return _source().get(provider, DEFAULT_POLICY)


def providers() -> Mapping[str, Policy]:
    """Every configured provider with its policy."""
    return _source()
