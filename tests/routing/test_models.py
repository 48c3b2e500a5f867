"""What the database itself refuses."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from routing.models import (
    ClientKey,
    Connection,
    ErrorRule,
    FallbackChain,
    FallbackEntry,
    GatewaySettings,
    Provider,
    RequestLog,
    TableVersion,
)
from routing.tunables import TUNABLES
from tests.routing.rows import make_chain, make_provider

pytestmark = pytest.mark.django_db


def refused(model: Any, /, **columns: Any) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        model._base_manager.update(**columns)


@pytest.mark.parametrize("column", TUNABLES)
def test_no_tunable_leaves_its_bounds(column: str) -> None:
    make_provider()
    tunable = TUNABLES[column]
    Provider.objects.update(**{column: tunable.low})
    Provider.objects.update(**{column: tunable.high})
    refused(Provider, **{column: tunable.high + 1})
    if tunable.low > 0:
        refused(Provider, **{column: tunable.low - 1 if tunable.whole else tunable.low / 2})
    if tunable.default is not None:
        refused(Provider, **{column: None})


@pytest.mark.parametrize(
    ("model", "columns"),
    [
        (Provider, {"slug": "Open_AI"}),
        (Provider, {"slug": ""}),
        (Provider, {"format": "cohere"}),
        (Provider, {"stream_rescue": "maybe"}),
        (Connection, {"slug": "a/b"}),
        (Connection, {"weight": 0}),
        (Connection, {"api_key_env": "NAME", "api_key_encrypted": "x"}),
        (FallbackChain, {"strategy": "best"}),
        (FallbackChain, {"model": ""}),
        (FallbackEntry, {"weight": -1}),
        (TableVersion, {"id": 2}),
    ],
)
def test_values_outside_of_what_is_known_are_refused(model: Any, columns: dict[str, Any]) -> None:
    make_chain("gpt-4o", make_provider())
    refused(model, **columns)


def test_an_emergency_fallback_needs_a_target() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        GatewaySettings.objects.create(emergency_enabled=True)
    with pytest.raises(ValidationError):
        GatewaySettings(emergency_enabled=True, emergency_provider="nobody", emergency_model="m").full_clean()


def test_there_is_one_row_of_settings() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        GatewaySettings.objects.create(id=2)


def test_an_error_rule_says_when() -> None:
    provider = make_provider()
    with pytest.raises(IntegrityError), transaction.atomic():
        ErrorRule.objects.create(provider=provider, kind="auth")
    with pytest.raises(IntegrityError), transaction.atomic():
        ErrorRule.objects.create(provider=provider, kind="local", status=500)


def test_one_target_stands_once_in_a_chain() -> None:
    provider = make_provider()
    chain = make_chain("gpt-4o", provider)
    with pytest.raises(IntegrityError), transaction.atomic():
        FallbackEntry.objects.create(chain=chain, provider=provider)
    pin = provider.connections.get()
    FallbackEntry.objects.create(chain=chain, provider=provider, connection=pin)
    with pytest.raises(IntegrityError), transaction.atomic():
        FallbackEntry.objects.create(chain=chain, provider=provider, connection=pin)


def test_two_entries_may_have_one_priority_and_swap_theirs() -> None:
    chain = make_chain("gpt-4o", make_provider("a"), make_provider("b"))
    first, second = chain.entries.all()
    first.priority, second.priority = second.priority, first.priority
    FallbackEntry.objects.bulk_update([first, second], ["priority"])
    FallbackEntry.objects.update(priority=0)


def test_a_provider_or_connection_that_a_chain_names_is_not_deleted() -> None:
    provider = make_provider()
    make_chain("gpt-4o", provider)
    with pytest.raises(ProtectedError):
        provider.delete()
    FallbackEntry.objects.update(connection=provider.connections.get())
    with pytest.raises(ProtectedError):
        provider.connections.get().delete()
    FallbackChain.objects.all().delete()
    provider.delete()
    assert not Connection.objects.exists()


def test_a_pin_to_another_providers_connection_is_refused() -> None:
    chain = make_chain("gpt-4o", make_provider("a"))
    entry = chain.entries.get()
    entry.connection = make_provider("b").connections.get()
    with pytest.raises(ValidationError, match="another provider"):
        entry.full_clean()


def test_a_pattern_that_would_have_to_backtrack_is_refused_with_what_to_write_instead() -> None:
    with pytest.raises(ValidationError, match="put a rule for the exception before this one"):
        ErrorRule(provider=make_provider(), pattern="quota(?! left)", kind="auth").full_clean()


@pytest.mark.parametrize(
    "columns",
    [
        *({"scopes": ["admin"]}, {"scopes": "chat"}),
        *({"models": "*"}, {"models": [1]}, {"models": ["*a" * 101]}, {"models": ["gpt-*"] * 101}),
    ],
)
def test_a_key_has_known_scopes_and_a_list_of_models(columns: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ClientKey(name="app", key_hash="0" * 64, **columns).full_clean()


def test_slugs_names_and_hashes_are_unique() -> None:
    provider = make_provider()
    ClientKey.objects.create(name="app", key_hash="0" * 64)
    for make in (
        lambda: Provider.objects.create(slug="openai", base_url="http://x"),
        lambda: Connection.objects.create(provider=provider, slug="main"),
        lambda: ClientKey.objects.create(name="app", key_hash="1" * 64),
        lambda: ClientKey.objects.create(name="other", key_hash="0" * 64),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            make()


def test_the_request_log_has_no_index_but_what_pages_filter_by() -> None:
    assert [index.fields for index in RequestLog._meta.indexes] == [
        ["chain", "id"],
        ["provider", "id"],
        ["outcome", "id"],
        ["key_name", "id"],
    ]
