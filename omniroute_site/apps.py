"""The site: settings, pages and the state API."""

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class SiteConfig(AppConfig):
    """What people and scripts see."""

    name = "omniroute_site"
    verbose_name = "OmniRoute"

    def ready(self) -> None:
        """Register checks and the two groups of people."""
        from omniroute_site import checks  # noqa: F401 (registering is what the import is for)
        from omniroute_site.people import ensure_groups  # needs the models

        # only apps with models are told; routing is the last of ours. auth, being ready before us, makes permissions first
        post_migrate.connect(ensure_groups, sender=apps.get_app_config("routing"), dispatch_uid="omniroute.groups")
