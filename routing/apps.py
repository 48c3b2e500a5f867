"""The routing floor: providers, chains, keys and the proxy."""

from django.apps import AppConfig


class RoutingConfig(AppConfig):
    """What to call."""

    name = "routing"
    default_auto_field = "django.db.models.BigAutoField"
