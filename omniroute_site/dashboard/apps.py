"""The operators' pages; no models."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """Live pages over resilience and routing."""

    name = "omniroute_site.dashboard"
    label = "dashboard"
