"""The site: settings, pages and the state API."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """What people and scripts see."""

    name = "omniroute_site"
    verbose_name = "OmniRoute"
