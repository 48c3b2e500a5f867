"""The site: settings, pages and the state API."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class SiteConfig(AppConfig):
    """What people and scripts see."""

    name = "omniroute_site"
    verbose_name = "OmniRoute"

    def ready(self) -> None:
        """Register checks and the two groups of people."""
        from omniroute_site import checks  # noqa: F401 (registering is what the import is for)
        from omniroute_site.people import ensure_groups  # needs the models

        post_migrate.connect(ensure_groups, sender=self, dispatch_uid="omniroute.groups")
