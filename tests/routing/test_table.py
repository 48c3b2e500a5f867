"""The routing table: what the rows become, and when it is swapped."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection

from resilience.core.kinds import Kind
from resilience.core.policy import Policy
from resilience.policies import policy_for
from routing import crypto, table, table_compile, table_poll
from routing.models import (
    ClientKey,
    Connection,
    ErrorRule,
    FallbackEntry,
    GatewaySettings,
    Provider,
    UpstreamModel,
)
from tests.routing.rows import make_chain, make_provider
from tests.waiting import until

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_table() -> Iterator[None]:
    replaced = table.swap(table.RoutingTable())
    yield
    table.swap(replaced)


def test_a_provider_without_tuning_has_the_default_policy() -> None:
    make_provider()
    assert table.load().providers["openai"].policy == Policy()


def test_tuning_becomes_the_policy() -> None:
    make_provider(breaker_failure_threshold=9, cooldown_rate_limit=7.5, lockout_attempt_window=11, timeout_idle=3)
    provider = table.load().providers["openai"]
    assert provider.policy.breaker.failure_threshold == 9
    assert provider.policy.cooldown.for_kind(Kind.RATE_LIMIT) == timedelta(seconds=7.5)
    assert provider.policy.lockout.attempt_window == timedelta(seconds=11)
    assert provider.timeouts.idle == 3


def test_connections_come_by_priority_then_slug_and_know_where_to_call() -> None:
    provider = make_provider(connections=("b", "a"))
    Connection.objects.create(provider=provider, slug="z", priority=0, base_url="http://other.test/v2/")
    Connection.objects.filter(slug="a").update(priority=1)
    connections = table.load().providers["openai"].connections
    assert [(c.slug, c.base_url) for c in connections] == [
        ("b", "http://openai.test/v1"),
        ("z", "http://other.test/v2"),
        ("a", "http://openai.test/v1"),
    ]


def test_entries_come_by_priority_and_default_to_the_chains_name() -> None:
    openai, groq = make_provider(), make_provider("groq")
    chain = make_chain("gpt-4o", openai, strategy="weighted")
    FallbackEntry.objects.update(priority=5)
    FallbackEntry.objects.create(chain=chain, provider=groq, model="llama", connection=groq.connections.get())
    compiled = table.load().chains["gpt-4o"]
    assert compiled.strategy == "weighted"
    assert [(e.provider.slug, e.model, e.connection) for e in compiled.entries] == [
        ("groq", "llama", "main"),
        ("openai", "gpt-4o", None),
    ]


def test_keys_facts_rules_and_settings_are_compiled() -> None:
    provider = make_provider()
    key = crypto.generate_client_key()
    ClientKey.objects.create(name="app", key_hash=crypto.hash_client_key(key), models=["gpt-*"])
    UpstreamModel.objects.create(provider=provider, model="gpt-4o", context_window=128_000, input_price="2.5")
    ErrorRule.objects.create(provider=provider, pattern="no capacity", kind="overloaded", cooldown=9)
    GatewaySettings.objects.create(max_attempts=3)
    loaded = table.load()
    assert loaded.keys[crypto.hash_client_key(key)].models == ("gpt-*",)
    assert loaded.model_facts("openai", "gpt-4o").input_price == Decimal("2.5")
    assert loaded.model_facts("openai", "other") == table.ModelFacts()
    (rule,) = loaded.providers["openai"].error_rules
    assert (rule.pattern, rule.code, rule.kind, rule.cooldown) == (
        "no capacity",
        None,
        Kind.OVERLOADED,
        timedelta(seconds=9),
    )
    assert loaded.settings.max_attempts == 3


def test_a_rule_of_an_older_release_that_cannot_be_searched_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    ErrorRule.objects.create(provider=make_provider(), name="left", pattern="quota(?! left)", kind="quota_exhausted")
    table.load()
    (record,) = [record for record in caplog.records if record.message == "error_rule.unusable"]
    assert (record.__dict__["provider"], record.__dict__["rule"]) == ("openai", "left")
    assert "There is no lookaround" in record.__dict__["problem"]


def test_without_any_row_the_table_is_empty_and_loaded() -> None:
    assert not table.is_loaded()
    assert table.load().settings == table.GatewaySettings()
    assert table.is_loaded()


def test_the_number_of_queries_does_not_grow_with_the_rows(django_assert_num_queries: Any) -> None:
    make_chain("one", make_provider("a"))
    table.load()
    with django_assert_num_queries(10):
        table.load()
    for number in range(5):
        make_chain(f"chain-{number}", make_provider(f"p{number}", ("x", "y")), make_provider(f"q{number}"))
    with django_assert_num_queries(10):
        table.load()


def test_a_key_from_the_environment_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", " sk-from-env\n")
    make_provider()
    Connection.objects.update(api_key_env="SOME_KEY")
    (loaded,) = table.load().providers["openai"].connections
    assert loaded.api_key == "sk-from-env"
    assert loaded.usable


def test_a_missing_variable_makes_the_connection_unusable_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    make_provider(connections=("main", "second"))
    Connection.objects.filter(slug="main").update(api_key_env="SOME_KEY")
    main, second = table.load().providers["openai"].connections
    assert (main.usable, main.api_key) == (False, None)
    assert main.problem == "environment variable SOME_KEY is not set"
    assert second.usable


def test_a_changed_encryption_key_makes_the_connection_unusable_and_says_why(settings: Any) -> None:
    make_provider()
    Connection.objects.update(api_key_encrypted=crypto.encrypt("sk-secret"))
    assert table.load().providers["openai"].connections[0].api_key == "sk-secret"
    settings.ENCRYPTION_KEYS = ["QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY="]
    (loaded,) = table.load().providers["openai"].connections
    assert (loaded.usable, loaded.api_key) == (False, None)
    assert "ENCRYPTION_KEY" in loaded.problem


def test_no_secret_shows_in_the_tables_text() -> None:
    make_provider()
    Connection.objects.update(api_key_encrypted=crypto.encrypt("sk-secret"), headers={"x-key": "hidden"})
    assert "sk-secret" not in repr(table.load())
    assert "hidden" not in repr(table.current())


def test_a_header_value_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORG", "org-1")
    make_provider()
    Connection.objects.update(headers={"OpenAI-Organization": "env:ORG", "x-plain": "1"})
    (loaded,) = table.load().providers["openai"].connections
    assert loaded.headers == (("openai-organization", "org-1"), ("x-plain", "1"))


def test_current_sync_loads_at_first_and_again_after_a_write() -> None:
    make_provider()
    assert list(table.current_sync().providers) == ["openai"]
    first = table.current()
    assert table.current_sync() is first
    Provider.objects.update(enabled=False)
    assert not table.current_sync().providers["openai"].enabled


def test_raw_sql_is_seen_by_a_full_load() -> None:
    make_provider()
    table.load()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE routing_provider SET name = 'Raw'")
    assert table.load().providers["openai"].name == "Raw"


def test_policies_are_those_of_the_table() -> None:
    make_provider(breaker_failure_threshold=9)
    table.load()
    assert policy_for("openai").breaker.failure_threshold == 9
    assert policy_for("unknown") == Policy()


def test_rows_that_change_while_they_are_read_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    make_provider()
    versions = iter([1, 2, 2])
    monkeypatch.setattr(table_compile, "read_version", lambda using="default": next(versions))
    assert table_compile.compile_table().version == 2


def test_rows_that_never_hold_still_keep_the_old_table(monkeypatch: pytest.MonkeyPatch) -> None:
    old = table.load()
    versions = iter(range(1000))
    monkeypatch.setattr(table_compile, "read_version", lambda using="default": next(versions))
    with pytest.raises(table_compile.UnsettledRowsError):
        table.load()
    assert table.current() is old


@pytest.mark.django_db(transaction=True)
async def test_the_poll_brings_a_write_of_another_connection_without_any_news(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resilience.news.announce", lambda topic: None)
    monkeypatch.setattr(table_poll, "POLL_EVERY", 0.02)
    await sync_to_async(make_provider)()
    await table.start()
    try:
        assert table.current().providers["openai"].enabled
        await Provider.objects.aupdate(enabled=False)
        await until(lambda: not table.current().providers["openai"].enabled)
    finally:
        await table.stop()


@pytest.mark.django_db(transaction=True)
async def test_news_brings_a_write_before_the_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_poll, "POLL_EVERY", 60)
    await sync_to_async(make_provider)()
    await table.start()
    try:
        await asyncio.sleep(0.05)  # the listener joins its group
        await Provider.objects.aupdate(enabled=False)
        from resilience import news

        news.announce("table")  # what the commit does on the serving loop
        await until(lambda: not table.current().providers["openai"].enabled)
    finally:
        await table.stop()


@pytest.mark.django_db(transaction=True)
async def test_a_database_that_fails_keeps_the_old_table_until_it_is_back(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(table_poll, "POLL_EVERY", 0.02)
    await sync_to_async(make_provider)()
    await table.start()
    try:
        with monkeypatch.context() as broken:

            def fail(using: str = "default") -> int:
                raise DatabaseError("gone")

            broken.setattr(table_compile, "read_version", fail)
            await until(table_poll.failing)
            assert "openai" in table.current().providers
            await Provider.objects.aupdate(enabled=False)
        await until(lambda: not table.current().providers["openai"].enabled)
        await until(lambda: not table_poll.failing())
    finally:
        await table.stop()
    assert [record.message for record in caplog.records if record.name == "routing.table_poll"] == ["table.load_failed"]


@pytest.mark.django_db(transaction=True)
async def test_starting_twice_runs_one_poll_and_stopping_ends_it() -> None:
    await table.start()
    await table.start()
    names = [task.get_name() for task in asyncio.all_tasks()]
    assert names.count("table-poll") == 1
    assert table_poll.running()
    await table.stop()
    assert not table_poll.running()
