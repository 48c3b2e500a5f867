"""The resilience floor: breaker, cooldown and lockout state."""

from django.apps import AppConfig


class ResilienceConfig(AppConfig):
    """When not to call."""

    name = "resilience"
    default_auto_field = "django.db.models.BigAutoField"
