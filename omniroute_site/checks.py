"""Checks of the set-up that Django cannot know: `manage.py check`, and before every command."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register  # noqa: A004 (Django's name for it)
from django.core.checks import Error as CheckError
from django.db import DatabaseError

from resilience.core.patterns import read_pattern


@register(Tags.security)
def debug_is_off(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """DEBUG shows settings and source to whoever causes an error."""
    del app_configs
    if not settings.DEBUG:
        return []
    return [Warning("DEBUG is on: for development only.", hint="Set DEBUG=false.", id="omniroute.W001")]


@register(Tags.database)
def stored_keys_can_be_read(app_configs: Any, databases: Any = None, **_: Any) -> list[CheckMessage]:
    """Provider keys are stored encrypted; without ENCRYPTION_KEY no connection could use its key."""
    del app_configs
    if settings.ENCRYPTION_KEYS or not databases:
        return []
    from routing.models import Connection  # needs the app registry

    try:
        stored = Connection.objects.exclude(api_key_encrypted="").exists()
    except DatabaseError:  # not migrated yet: there is nothing stored
        return []
    if not stored:
        return []
    hint = "Put back the ENCRYPTION_KEY they were stored with."
    return [
        CheckError("There are stored provider keys, and ENCRYPTION_KEY is not set.", hint=hint, id="omniroute.E001")
    ]


@register(Tags.database)
def error_rules_can_fire(app_configs: Any, databases: Any = None, **_: Any) -> list[CheckMessage]:
    """A rule of an older release may hold a pattern that is refused today: it never fires."""
    del app_configs
    if not databases:
        return []
    from routing.models import ErrorRule  # needs the app registry

    try:
        unusable = [rule for rule in ErrorRule.objects.select_related("provider") if read_pattern(rule.pattern).problem]
    except DatabaseError:  # not migrated yet: there is nothing stored
        return []
    return [
        Warning(
            f"An error rule of {rule.provider.slug} ({rule}) never fires: its pattern cannot be searched.",
            hint=f"The pattern {read_pattern(rule.pattern).problem}",
            id="omniroute.W004",
        )
        for rule in unusable
    ]


@register(Tags.security, deploy=True)
def people_come_by_https(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Cookies are Secure where an https origin is trusted (settings.py)."""
    del app_configs
    loopback = {"127.0.0.1", "localhost", "[::1]"}
    if settings.SERVED_OVER_HTTPS or set(settings.ALLOWED_HOSTS) <= loopback:
        return []
    hint = "Set CSRF_TRUSTED_ORIGINS=https://your-host, and serve pages over TLS."
    return [Warning("Cookies of this site are sent over plain http.", hint=hint, id="omniroute.W002")]


@register("omniroute", deploy=True)
def workers_can_talk(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Several processes with PostgreSQL and no Redis hear of each other once a second."""
    del app_configs
    on_sqlite = settings.DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3"
    if on_sqlite or settings.REDIS_URL:
        return []
    hint = "Set REDIS_URL, or accept up to 1 s between a breaker's opening and another process's knowing."
    return [Warning("PostgreSQL without Redis: processes learn of changes by polling.", hint=hint, id="omniroute.W003")]
