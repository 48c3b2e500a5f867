"""The routing floor: providers, chains, keys and the proxy."""

from django.apps import AppConfig


class RoutingConfig(AppConfig):
    """What to call."""

    name = "routing"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell the floor below where each provider's policy stands."""
        from resilience.policies import register_source  # apps are ready only now
        from routing import table

        register_source(table.policies)
