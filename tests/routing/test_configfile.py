"""Configuration files: what applying one does, and that an export says the same."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

from resilience.core.policy import Policy
from routing import crypto, table_compile
from routing.configfile import ConfigFileError, apply_file, export_file
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
from routing.tunables import TUNABLES

pytestmark = pytest.mark.django_db

FULL = """
settings:
  emergency: {enabled: true, provider: free, model: small-free, max_output_tokens: 512, skip_tool_requests: false}
  max_attempts: 5
  wait_for_retry_after: 1.5
providers:
  - slug: openai
    name: OpenAI
    format: openai
    base_url: https://api.openai.com/v1
    breaker: {failure_threshold: 7, jitter: 0, failure_rate: 0.25}
    cooldown_by_kind: {rate_limit: 90, transient: 1.5}
    max_cooldown: 7200
    lockout: {max_attempts: 3}
    timeouts: {connect: 2.5, total: 60}
    retries: 0
    stream_rescue: off
    error_rules:
      - {status: 418, kind: overloaded, cooldown: 5, name: teapot}
      - {pattern: "no capacity", kind: overloaded}
    connections:
      - {slug: main, api_key: "env:OPENAI_API_KEY", priority: 0}
      - {slug: spare, api_key: sk-literal-secret-0123456789, weight: 2.5, headers: {x-team: blue}, base_url: "http://spare:8080"}
  - {slug: free, format: openai, base_url: "http://127.0.0.1:9000/openai/v1", connections: [{slug: main}]}
models:
  - {provider: openai, model: gpt-4o, context_window: 128000, supports_tools: true, input_price: 2.5, output_price: 10}
chains:
  - model: gpt-4o
    strategy: weighted
    entries:
      - {provider: openai, connection: spare, weight: 3}
      - {provider: free, model: small, priority: 1, enabled: false}
keys:
  - {name: my-app, key: sk-or-example, models: ["gpt-*"], requests_per_minute: 60}
  - {name: operator, key: sk-or-operator-1, scopes: [read, operate]}
"""


def apply(text: str, **options: Any) -> list[str]:
    return list(apply_file(text.encode(), **options).lines())


def everything() -> str:
    """The whole configuration with its secrets, to tell whether anything changed."""
    secrets = list(Connection.objects.values_list("slug", "api_key_encrypted").order_by("pk"))
    return export_file() + str(secrets) + str(list(ClientKey.objects.values_list("key_hash").order_by("pk")))


def test_a_full_file_becomes_rows() -> None:
    apply(FULL)
    openai = Provider.objects.get(slug="openai")
    assert (openai.breaker_failure_threshold, openai.breaker_jitter, openai.cooldown_transient) == (7, 0, 1.5)
    assert (openai.timeout_connect, openai.retries, openai.stream_rescue) == (2.5, 0, "off")
    assert [rule.kind for rule in openai.error_rules.all()] == ["overloaded", "overloaded"]
    main, spare = openai.connections.all()
    assert (main.api_key_env, main.api_key_encrypted) == ("OPENAI_API_KEY", "")
    assert crypto.decrypt(spare.api_key_encrypted) == "sk-literal-secret-0123456789"
    assert "sk-literal" not in spare.api_key_encrypted
    assert (spare.key_hint, spare.headers) == ("6789", {"x-team": "blue"})
    first, second = FallbackEntry.objects.all()
    assert (first.connection, first.upstream_model, first.weight) == (spare, "gpt-4o", 3)
    assert (second.upstream_model, second.enabled) == ("small", False)
    key = ClientKey.objects.get(name="my-app")
    assert key.key_hash == crypto.hash_client_key("sk-or-example")
    assert (key.scopes, key.models, key.requests_per_minute) == (["chat"], ["gpt-*"], 60)
    assert GatewaySettings.objects.get().emergency_max_output_tokens == 512


def test_what_is_left_out_has_the_contracts_defaults() -> None:
    apply(
        "providers: [{slug: p, format: openai, base_url: 'http://p/v1', connections: [{slug: c}]}]\n"
        "chains: [{model: m, entries: [{provider: p}]}]\nkeys: [{name: k}]\n"
    )
    loaded = table_compile.compile_table()
    provider = loaded.providers["p"]
    assert provider.policy == Policy()
    assert (provider.retries, provider.retry_backoff, provider.stream_rescue, provider.enabled) == (
        1,
        0.25,
        "auto",
        True,
    )
    timeouts = provider.timeouts
    assert (timeouts.connect, timeouts.first_token, timeouts.response, timeouts.idle, timeouts.total) == (
        5,
        10,
        300,
        20,
        900,
    )
    (connection,) = provider.connections
    assert (connection.priority, connection.weight, connection.max_concurrency, connection.headers) == (0, 1, 0, ())
    assert (connection.api_key, connection.usable) == (None, True)
    assert (loaded.chains["m"].strategy, loaded.chains["m"].enabled) == ("priority", True)
    settings = loaded.settings
    assert (settings.max_attempts, settings.wait_for_retry_after, settings.max_cooldown_wait) == (8, 3, 0)
    assert (settings.on_content_filter, settings.emergency.enabled) == ("error", False)
    assert (settings.emergency.max_output_tokens, settings.emergency.skip_tool_requests) == (1024, True)


def test_every_tunable_has_the_column_and_the_default_of_its_table() -> None:
    for column, tunable in TUNABLES.items():
        assert Provider._meta.get_field(column).default == tunable.default, column


def test_applying_twice_changes_nothing() -> None:
    apply(FULL)
    before = everything()
    (line,) = apply(FULL)
    assert line == "No changes, 10 unchanged."
    assert everything() == before


def test_an_export_applied_again_changes_nothing() -> None:
    apply(FULL)
    assert apply(export_file(), prune=True) == ["No changes, 10 unchanged."]


def test_an_export_builds_the_same_configuration_from_nothing() -> None:
    apply(FULL)
    exported = export_file()
    for model in (FallbackChain, Provider, ClientKey, GatewaySettings):
        model.objects.all().delete()
    apply(exported)
    assert export_file() == exported


def test_an_export_holds_no_literal_secret() -> None:
    apply(FULL)
    exported = export_file()
    assert "sk-literal" not in exported
    assert "sk-or" not in exported
    (connection, _) = yaml.safe_load(exported)["providers"][1]["connections"]
    assert connection["api_key"] == "env:OPENAI_API_KEY"


@pytest.mark.parametrize(
    "name", ["off", "yes", "1e3", "010", "1:30", "2024-01-01", "null", "~", "a: b", "# x", "é", "'"]
)
def test_an_export_writes_awkward_names_so_that_they_come_back(name: str) -> None:
    provider = Provider.objects.create(slug="p", base_url="http://p.test")
    UpstreamModel.objects.create(provider=provider, model=name)
    assert apply(export_file())[-1].startswith("No changes") or UpstreamModel.objects.get().model == name
    assert UpstreamModel.objects.get().model == name


def test_a_file_with_only_chains_changes_only_what_it_names() -> None:
    apply(FULL)
    lines = apply("chains: [{model: other, entries: [{provider: openai, model: gpt-4o}]}]")
    assert lines == [
        "create chain other: entry openai/gpt-4o added",
        "1 to create, 0 to change, 0 to delete, 0 unchanged.",
    ]
    assert FallbackChain.objects.count() == 2


def test_settings_that_are_left_out_stay() -> None:
    apply(FULL)
    assert apply("settings: {max_attempts: 2, emergency: {model: other}}")[0] == (
        "change settings: max_attempts 5 → 2, emergency_model small-free → other"
    )
    row = GatewaySettings.objects.get()
    assert (row.wait_for_retry_after, row.emergency_enabled, row.emergency_provider) == (1.5, True, "free")


def test_the_plan_names_the_fields_that_change() -> None:
    apply(FULL)
    changed = FULL.replace("weight: 2.5", "weight: 4").replace("failure_threshold: 7", "failure_threshold: 8")
    changed = changed.replace("strategy: weighted", "strategy: random").replace(
        "requests_per_minute: 60", "requests_per_minute: 0"
    )
    assert apply(changed) == [
        "change provider openai: breaker_failure_threshold 7 → 8",
        "change connection openai/spare: weight 2.5 → 4",
        "change chain gpt-4o: strategy weighted → random",
        "change key my-app: requests_per_minute 60 → 0",
        "0 to create, 4 to change, 0 to delete, 6 unchanged.",
    ]


def test_no_plan_shows_a_secret() -> None:
    created = apply(FULL)
    changed = apply(
        FULL.replace("sk-literal-secret-0123456789", "sk-another").replace("sk-or-example", "sk-or-changed")
    )
    assert changed[:2] == ["change connection openai/spare: api_key changed", "change key my-app: key changed"]
    assert "sk-" not in "".join(created + changed)
    assert "blue" not in "".join(apply(FULL.replace("x-team: blue", "x-team: red, x-more: blue")))


def test_a_connection_without_api_key_keeps_the_stored_one_and_null_takes_it_away() -> None:
    apply(FULL)
    apply(FULL.replace("api_key: sk-literal-secret-0123456789, ", ""))
    assert crypto.decrypt(Connection.objects.get(slug="spare").api_key_encrypted) == "sk-literal-secret-0123456789"
    apply(FULL.replace("api_key: sk-literal-secret-0123456789", "api_key: null"))
    assert Connection.objects.get(slug="spare").api_key_encrypted == ""


def test_a_dry_run_shows_the_plan_and_changes_nothing() -> None:
    apply(FULL)
    before = everything()
    assert "delete chain gpt-4o" in apply("settings: {emergency: {enabled: false}}", dry_run=True, prune=True)
    assert everything() == before


def test_without_prune_nothing_that_is_not_named_goes() -> None:
    apply(FULL)
    apply("providers: [{slug: openai, format: openai, base_url: 'http://x', connections: []}]\nchains: []")
    assert (Provider.objects.count(), Connection.objects.count(), FallbackChain.objects.count()) == (2, 3, 1)


def test_prune_deletes_what_the_file_does_not_name() -> None:
    apply(FULL)
    lines = apply(
        "settings: {emergency: {enabled: false}}\n"
        "providers: [{slug: openai, format: openai, base_url: 'http://x/v1', connections: [{slug: main}]}]\n"
        "chains: [{model: new, entries: [{provider: openai}]}]",
        prune=True,
    )
    assert [line for line in lines if line.startswith("delete")] == [
        "delete chain gpt-4o",
        "delete key my-app",
        "delete key operator",
        "delete model openai/gpt-4o",
        "delete connection free/main",
        "delete connection openai/spare",
        "delete provider free",
    ]
    assert [provider.slug for provider in Provider.objects.all()] == ["openai"]
    assert not ErrorRule.objects.exists()


def test_the_entries_of_a_chain_are_those_of_the_file_in_its_order() -> None:
    apply(FULL)
    chain = "chains: [{model: gpt-4o, strategy: weighted, entries: [%s]}]"
    a, b, c = "{provider: openai}", "{provider: free}", "{provider: free, model: x}"
    for order in ([a, b, c], [c, a, b], [b], [b, a], [a, c]):
        apply(chain % ", ".join(order))
        wanted = [yaml.safe_load(entry) for entry in order]
        entries = table_compile.compile_table().chains["gpt-4o"].entries
        assert [(e.provider.slug, e.model) for e in entries] == [
            (w["provider"], w.get("model", "gpt-4o")) for w in wanted
        ]
        assert apply(chain % ", ".join(order)) == ["No changes, 1 unchanged."]


def test_a_changed_entry_keeps_its_row() -> None:
    apply(FULL)
    before = list(FallbackEntry.objects.values_list("pk", flat=True))
    lines = apply(FULL.replace("priority: 1, enabled: false", "priority: 3, enabled: true"))
    assert lines[0] == "change chain gpt-4o: entry free/small priority 1 → 3, entry free/small enabled false → true"
    assert list(FallbackEntry.objects.values_list("pk", flat=True)) == before
    assert FallbackChain.objects.get().version == 2


def test_a_key_without_a_value_is_generated_once_and_kept() -> None:
    plan = apply_file(b"keys: [{name: app}]")
    (generated,) = plan.generated_keys.values()
    assert generated.startswith("sk-or-")
    assert ClientKey.objects.get().key_hash == crypto.hash_client_key(generated)
    assert apply_file(b"keys: [{name: app}]").generated_keys == {}
    assert ClientKey.objects.get().key_hash == crypto.hash_client_key(generated)


def test_a_key_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APP_KEY", "sk-or-from-environment")
    apply("keys: [{name: app, key: 'env:APP_KEY'}]")
    assert ClientKey.objects.get().key_hash == crypto.hash_client_key("sk-or-from-environment")


def test_json_is_taken_as_well() -> None:
    apply('{"keys": [{"name": "app", "enabled": false}]}')
    assert not ClientKey.objects.get().enabled


def test_the_command_prints_the_plan_and_a_generated_key_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("keys: [{name: app}]")
    call_command("config", "apply", str(file), "--dry-run")
    assert "sk-or-" not in capsys.readouterr().out
    call_command("config", "apply", str(file))
    out = capsys.readouterr().out
    assert "create key app" in out
    assert out.count("sk-or-") == 1
    call_command("config", "apply", str(file))
    assert capsys.readouterr().out == "No changes, 1 unchanged.\n"


def test_the_command_prints_the_export(capsys: pytest.CaptureFixture[str]) -> None:
    apply(FULL)
    call_command("config", "export")
    assert capsys.readouterr().out == export_file()


@pytest.mark.parametrize("content", [b"chains: {", b"keys: [{nam: x}]", b"\xff"])
def test_the_command_ends_with_2_for_a_file_it_cannot_apply(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "config.yaml"
    file.write_bytes(content)
    with pytest.raises(CommandError) as caught:
        call_command("config", "apply", str(file))
    assert caught.value.returncode == 2


def test_the_command_ends_with_2_for_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("config", "apply", str(tmp_path / "none.yaml"))
    assert caught.value.returncode == 2


def test_what_the_database_refuses_is_a_problem_of_the_file_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    apply(FULL)
    before = everything()
    monkeypatch.setattr("routing.configfile.apply.check_references", lambda *args, **kwargs: None)
    with pytest.raises(ConfigFileError, match="the database refused it"):
        apply("settings: {max_attempts: 3}\nkeys: [{name: second, key: sk-or-example}]")
    assert everything() == before
