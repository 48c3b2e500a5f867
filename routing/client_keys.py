"""What people do to client keys: made, switched and deleted, each told as an event with who and why.

A key's secret is returned once, by the function that makes it; only its hash and the end of it are kept.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import DEFAULT_DB_ALIAS

from resilience import actions
from resilience.core.events import ConfigChanged
from routing import crypto
from routing.models import ClientKey
from routing.querysets import touching


class NameTakenError(ValueError):
    """There is a key of this name."""


def give_secret(key: ClientKey) -> str:
    """Give a key another secret, not saved; return it in clear, this once."""
    secret = crypto.generate_client_key()
    key.key_hash, key.key_hint = crypto.hash_client_key(secret), crypto.hint(secret)
    return secret


def create(
    name: str, *, scopes: Sequence[str], models: Sequence[str], requests_per_minute: int, actor: str, reason: str
) -> tuple[ClientKey, str]:
    """Make a key; return it with its secret. Raises NameTakenError, ValidationError, ValueError without a reason."""
    with touching(DEFAULT_DB_ALIAS):  # first: whoever else makes keys waits, so that the name stays free
        if ClientKey.objects.filter(name=name).exists():
            raise NameTakenError(f"There is a key named {name}.")
        key = ClientKey(name=name, scopes=[*scopes], models=[*models], requests_per_minute=requests_per_minute)
        secret = give_secret(key)
        key.full_clean()
        key.save()
        _tell(key, f"created: {', '.join(scopes)}", actor, reason)
    return key, secret


def switch(key_id: int, *, enabled: bool, actor: str, reason: str) -> None:
    """Enable or disable a key. Raises ClientKey.DoesNotExist, ValueError without a reason."""
    with _existing(key_id) as key:
        key.enabled = enabled
        key.save(update_fields=["enabled"])
        _tell(key, "enabled" if enabled else "disabled", actor, reason)


def delete(key_id: int, *, actor: str, reason: str) -> None:
    """Delete a key, for good. Raises ClientKey.DoesNotExist, ValueError without a reason."""
    with _existing(key_id) as key:
        _tell(key, "deleted", actor, reason)
        key.delete()


@contextmanager
def _existing(key_id: int) -> Iterator[ClientKey]:
    with touching(DEFAULT_DB_ALIAS):
        yield ClientKey.objects.get(pk=key_id)


def _tell(key: ClientKey, what: str, actor: str, reason: str) -> None:
    actions.configured(ConfigChanged(f"key {key.name}", what), actor=actor, reason=reason)
