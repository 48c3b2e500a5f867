"""Every way the ORM writes a row of the configuration gives the table another version, in the same transaction."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.core import serializers
from django.db import connection, transaction
from django.db.models import Value

from routing.models import (
    ClientKey,
    Connection,
    ErrorRule,
    FallbackChain,
    FallbackEntry,
    GatewaySettings,
    Provider,
    UpstreamModel,
)
from routing.table_compile import read_version
from tests.routing.rows import make_chain, make_provider

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider() -> Provider:
    provider = make_provider()
    make_chain("gpt-4o", provider)
    return provider


def change_and_save(provider: Provider) -> None:
    provider.enabled = False
    provider.save()


def save_one_field(provider: Provider) -> None:
    provider.name = "Other"
    provider.save(update_fields=["name"])


def bulk_update(provider: Provider) -> None:
    provider.name = "Other"
    Provider.objects.bulk_update([provider], ["name"])


def load_fixture(provider: Provider) -> None:
    for loaded in serializers.deserialize("json", serializers.serialize("json", [provider])):
        loaded.save()


async def update_asynchronously(provider: Provider) -> None:
    await Provider.objects.filter(pk=provider.pk).aupdate(name="Other")


WRITES: dict[str, Callable[[Provider], Any]] = {
    "save": change_and_save,
    "save(update_fields)": save_one_field,
    "create": lambda p: Provider.objects.create(slug="b", base_url="http://b.test"),
    "get_or_create": lambda p: Provider.objects.get_or_create(slug="b", defaults={"base_url": "http://b.test"}),
    "update_or_create": lambda p: Provider.objects.update_or_create(slug=p.slug, defaults={"name": "Other"}),
    "QuerySet.update": lambda p: Provider.objects.filter(pk=p.pk).update(name="Other"),
    "update with an expression": lambda p: Provider.objects.update(name=Value("Other")),
    "bulk_create": lambda p: Provider.objects.bulk_create([Provider(slug="b", base_url="http://b.test")]),
    "bulk_create(ignore_conflicts)": lambda p: Provider.objects.bulk_create(
        [Provider(slug="openai", base_url="http://b.test")], ignore_conflicts=True
    ),
    "bulk_create(update_conflicts)": lambda p: Provider.objects.bulk_create(
        [Provider(slug="openai", base_url="http://b.test")],
        update_conflicts=True,
        unique_fields=["slug"],
        update_fields=["base_url"],
    ),
    "bulk_update": bulk_update,
    "Model.delete": lambda p: FallbackEntry.objects.get().delete(),
    "QuerySet.delete": lambda p: FallbackEntry.objects.all().delete(),
    "delete with cascade": lambda p: FallbackChain.objects.get().delete(),
    "_raw_delete": lambda p: FallbackEntry.objects.all()._raw_delete("default"),
    "base manager": lambda p: Provider._base_manager.filter(pk=p.pk).update(name="Other"),
    "default manager": lambda p: Provider._default_manager.update(name="Other"),
    "related manager update": lambda p: p.connections.update(enabled=False),
    "related manager create": lambda p: p.connections.create(slug="second"),
    "related manager add": lambda p: make_provider("b", ()).connections.add(*p.connections.all()),
    "fixture": load_fixture,
    "connection": lambda p: Connection.objects.update(weight=2),
    "upstream model": lambda p: UpstreamModel.objects.create(provider=p, model="gpt-4o"),
    "error rule": lambda p: ErrorRule.objects.create(provider=p, status=418, kind="transient"),
    "client key": lambda p: ClientKey.objects.create(name="app", key_hash="0" * 64),
    "settings": lambda p: GatewaySettings.objects.create(max_attempts=3),
    "entry": lambda p: FallbackEntry.objects.update(priority=7),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_gives_the_table_another_version(provider: Provider, write: str) -> None:
    before = read_version()
    WRITES[write](provider)
    assert read_version() > before


async def test_an_asynchronous_write_gives_the_table_another_version() -> None:
    from asgiref.sync import sync_to_async

    provider = await sync_to_async(make_provider)()
    before = await sync_to_async(read_version)()
    await update_asynchronously(provider)
    assert await sync_to_async(read_version)() > before


def write_and_roll_back() -> int:
    """Return the version the lost write had."""
    with transaction.atomic():
        Provider.objects.update(name="Other")
        version = read_version()
        transaction.set_rollback(True)
    return version


def test_a_write_that_is_rolled_back_takes_its_version_with_it(provider: Provider) -> None:
    before = read_version()
    assert write_and_roll_back() > before
    assert read_version() == before


def test_a_version_is_never_given_out_twice_even_after_a_rollback(provider: Provider) -> None:
    assert len({write_and_roll_back() for _ in range(3)}) == 3


def test_reading_changes_no_version(provider: Provider) -> None:
    before = read_version()
    list(Provider.objects.all())
    Provider.objects.exists()
    Provider.objects.in_bulk()
    assert read_version() == before


@pytest.mark.django_db(transaction=True)
def test_one_transaction_announces_once(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    announced: list[str] = []
    monkeypatch.setattr("resilience.news.announce", announced.append)
    with transaction.atomic():
        Provider.objects.update(name="Other")
        FallbackEntry.objects.update(priority=3)
        Connection.objects.all().delete()
        assert announced == []
    assert announced == ["table"]


@pytest.mark.django_db(transaction=True)
def test_a_write_of_another_connection_is_seen_once_it_is_committed() -> None:
    make_provider()
    before = read_version()
    written, go_on = threading.Event(), threading.Event()

    def write_elsewhere() -> None:
        try:
            with transaction.atomic():
                Provider.objects.update(name="Other")
                written.set()
                go_on.wait(10)
        finally:
            connection.close()

    thread = threading.Thread(target=write_elsewhere)
    thread.start()
    assert written.wait(10)
    during = read_version()
    go_on.set()
    thread.join(10)
    assert during == before
    assert read_version() > before
