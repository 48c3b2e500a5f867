"""Who may look and who may act: two groups over Django's own permissions.

Viewers hold the view permissions of the state and routing models, operators the change permissions too. Kept as
permissions rather than as a flag of our own, so that an administrator can cut other groups in the stock admin.
"""

from django.apps import AppConfig
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group, Permission, PermissionsMixin
from django.db.models import Q

VIEWERS = "viewers"
OPERATORS = "operators"
APPS = ("resilience", "routing")

READ = "resilience.view_breakerstate"
OPERATE = "resilience.change_breakerstate"
CONFIGURE = "routing.change_fallbackchain"
ISSUE_KEYS = "routing.change_clientkey"

User = AbstractBaseUser | AnonymousUser


def may_read(user: User) -> bool:
    """Whether this person may see state, chains and requests."""
    return _has(user, READ)


def may_operate(user: User) -> bool:
    """Whether this person may hold, reset, clear and unlock."""
    return _has(user, OPERATE)


def may_configure(user: User) -> bool:
    """Whether this person may edit providers and chains."""
    return _has(user, CONFIGURE)


def may_issue_keys(user: User) -> bool:
    """Whether this person may make, switch and delete client keys: with one of scope `operate` scripts act."""
    return _has(user, ISSUE_KEYS)


def _has(user: User, permission: str) -> bool:
    return user.is_authenticated and isinstance(user, PermissionsMixin) and user.has_perm(permission)


def ensure_groups(sender: AppConfig, **_: object) -> None:
    """Create the two groups and give them their permissions.

    After each migrate rather than in a migration: permissions are created there, and a flushed database gets its
    groups back. What an administrator added to the groups stays.
    """
    del sender
    of_ours = Permission.objects.filter(content_type__app_label__in=APPS)
    # the state's rows are changed through actions only, so operators need no add and delete there
    acting = Q(codename__startswith="view_") | Q(codename__startswith="change_")
    configuring = Q(content_type__app_label="routing") & ~Q(
        content_type__model__in=["requestlog", "tableversion", "servingprocess"]
    )
    viewers, _created = Group.objects.get_or_create(name=VIEWERS)
    viewers.permissions.add(*of_ours.filter(codename__startswith="view_"))
    operators, _created = Group.objects.get_or_create(name=OPERATORS)
    operators.permissions.add(*of_ours.filter(acting | configuring))
