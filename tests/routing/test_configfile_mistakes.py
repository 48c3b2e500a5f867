"""Files that cannot be applied: each mistake with its line and path, all at once, and nothing changed."""

from typing import Any

import pytest

from routing.configfile import ConfigFileError, apply_file
from routing.models import Provider
from tests.routing.rows import make_chain, make_provider

pytestmark = pytest.mark.django_db


def mistakes(text: str | bytes, **options: Any) -> list[str]:
    raw = text.encode() if isinstance(text, str) else text
    with pytest.raises(ConfigFileError) as caught:
        apply_file(raw, **options)
    return [str(problem) for problem in caught.value.problems]


def provider_with(members: str) -> str:
    return f"providers:\n- slug: p\n  format: openai\n  base_url: http://p/v1\n  connections: [{{slug: c}}]\n{members}"


def test_every_mistake_is_reported_with_line_and_path_and_nothing_is_changed() -> None:
    text = """
providers:
  - slug: good
    format: openai
    base_url: http://good/v1
    connections: []
  - slug: Open_AI
    format: foo
    base_url: ftp://x
    breaker:
      failure_threshold: 0
      surprise: 1
    connections: [{slug: main}, {slug: spare, colour: red}]
chains: []
"""
    assert mistakes(text) == [
        "line 7: providers[1].slug: must be lower-case letters, digits and hyphens, at most 64 characters",
        "line 8: providers[1].format: must be one of openai, anthropic, gemini, azure",
        "line 9: providers[1].base_url: must be an http:// or https:// URL without credentials, query (but ?api-version=… for Azure) or fragment",
        "line 11: providers[1].breaker.failure_threshold: must be a whole number from 1 to 10000",
        (
            "line 12: providers[1].breaker.surprise: is not known here; known are failure_threshold, "
            "degradation_threshold, reset_timeout, half_open_requests, backoff_multiplier, max_backoff_multiplier, "
            "jitter, failure_rate, minimum_calls, window, probe_lease"
        ),
        (
            "line 13: providers[1].connections[1].colour: is not known here; known are slug, api_key, base_url, "
            "enabled, priority, weight, max_concurrency, headers"
        ),
    ]
    assert not Provider.objects.exists()


@pytest.mark.parametrize(
    "value", ["-1", ".nan", ".inf", "-.inf", "1e300", "9" * 400, "true", "'5'", "[]", "5 s", "null"]
)
@pytest.mark.parametrize("member", ["breaker: {reset_timeout: %s}", "timeouts: {idle: %s}", "max_cooldown: %s"])
def test_a_duration_must_be_a_number_within_bounds(member: str, value: str) -> None:
    (mistake,) = mistakes(provider_with("  " + member % value))
    assert "must be a number from" in mistake


@pytest.mark.parametrize("value", ["0", "1.5", "-3", "true", "'5'"])
def test_a_count_must_be_a_whole_number_within_bounds(value: str) -> None:
    (mistake,) = mistakes(provider_with(f"  breaker: {{failure_threshold: {value}}}"))
    assert mistake == "line 6: providers[0].breaker.failure_threshold: must be a whole number from 1 to 10000"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x",
        "x",
        "//x/v1",
        "http://",
        "http://user:pw@x/v1",
        "http://x/v1?a=b",
        "http://x/#f",
        "http://x:99999",
        "http://x y",
    ],
)
def test_a_base_url_must_be_plain_http(url: str) -> None:
    (mistake,) = mistakes(f'providers: [{{slug: p, format: openai, base_url: "{url}", connections: []}}]')
    assert "providers[0].base_url: must be an http:// or https:// URL" in mistake


@pytest.mark.parametrize(
    "url", ["http://upstream:8080/v1", "https://api.example.com", "http://127.0.0.1:9/x/", "http://[::1]:80"]
)
def test_a_base_url_may_name_any_host(url: str) -> None:
    apply_file(f"providers: [{{slug: p, format: openai, base_url: '{url}', connections: []}}]".encode())
    assert Provider.objects.get().base_url == url


@pytest.mark.parametrize(
    "headers", ['{"bad header": x}', '{x: "a\\nb"}', "{Content-Length: '5'}", "{x: 5}", "[]", '{"": x}']
)
def test_a_header_must_be_one_that_can_be_sent(headers: str) -> None:
    text = (
        f"providers: [{{slug: p, format: openai, base_url: http://p, connections: [{{slug: c, headers: {headers}}}]}}]"
    )
    (mistake,) = mistakes(text)
    assert "providers[0].connections[0].headers" in mistake


def test_what_stands_twice_is_reported() -> None:
    text = """
providers:
  - {slug: p, format: openai, base_url: "http://p", connections: [{slug: c}, {slug: c}]}
  - {slug: p, format: openai, base_url: "http://p", connections: []}
models: [{provider: p, model: m}, {provider: p, model: m}]
chains:
  - {model: m, entries: [{provider: p}, {provider: p, model: m}]}
  - {model: m, entries: []}
keys: [{name: k, key: sk-or-0123456789}, {name: k}, {name: other, key: sk-or-0123456789}]
"""
    assert mistakes(text) == [
        "line 3: providers[0].connections[1].slug: c stands here already, as number 0",
        "line 4: providers[1].slug: p stands here already, as number 0",
        "line 5: models[1].model: p/m stands here already, as number 0",
        "line 7: chains[0].entries[1]: is the same target as entry 0: provider, model and connection",
        "line 8: chains[1].model: m stands here already, as number 0",
        "line 9: keys[1].name: k stands here already, as number 0",
        "line 9: keys[2].key: is the same as the key of k",
    ]


def test_a_chain_may_only_name_what_exists() -> None:
    make_provider("stored")
    text = (
        "chains: [{model: m, entries: [{provider: nobody}, {provider: stored, connection: none}, "
        "{provider: stored, connection: main}]}]\nmodels: [{provider: nobody, model: m}]"
    )
    assert mistakes(text) == [
        "line 1: chains[0].entries[0].provider: there is no provider nobody; known are stored",
        "line 1: chains[0].entries[1].connection: stored has no connection none; it has main",
        "line 2: models[0].provider: there is no provider nobody; known are stored",
    ]


def test_what_prune_would_delete_cannot_be_named() -> None:
    make_chain("m", make_provider("stored"))
    (mistake,) = mistakes("chains: [{model: m, entries: [{provider: stored}]}]", prune=True)
    assert "there is no provider stored" in mistake


def test_an_enabled_emergency_needs_a_provider_that_exists() -> None:
    assert mistakes("settings: {emergency: {enabled: true}}") == [
        "line 1: settings.emergency: needs a provider and a model to be enabled"
    ]
    (mistake,) = mistakes("settings: {emergency: {enabled: true, provider: free, model: m}}")
    assert mistake == "line 1: settings.emergency.provider: there is no provider free; known are none"
    apply_file(b"settings: {emergency: {enabled: false, provider: free, model: m}}")


def test_prune_does_not_take_the_emergency_provider_away() -> None:
    make_provider("free")
    apply_file(b"settings: {emergency: {enabled: true, provider: free, model: m}}")
    assert "there is no provider free" in mistakes("keys: []", prune=True)[0]


def test_thresholds_must_agree() -> None:
    text = provider_with(
        "  breaker: {failure_threshold: 3, degradation_threshold: 4}\n  lockout: {lockout_duration: 9999}"
    )
    assert mistakes(text) == [
        "line 6: providers[0].breaker.degradation_threshold: must not be above failure_threshold, which is 3",
        "line 7: providers[0].lockout.max_lockout_duration: must not be below lockout_duration, which is 9999",
    ]


def test_a_literal_key_needs_an_encryption_key(settings: Any) -> None:
    settings.ENCRYPTION_KEYS = []
    text = "providers: [{slug: p, format: openai, base_url: http://p, connections: [{slug: c, api_key: sk-secret-1}]}]"
    (mistake,) = mistakes(text)
    assert mistake.startswith(
        "line 1: providers[0].connections[0].api_key: cannot be stored: ENCRYPTION_KEY is not set"
    )
    assert "sk-secret" not in mistake
    apply_file(text.replace("sk-secret-1", "env:SOME_KEY").encode())


def test_a_missing_variable_for_a_client_key_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("APP_KEY", raising=False)
    assert mistakes("keys: [{name: app, key: 'env:APP_KEY'}]") == [
        "line 1: keys[0].key: environment variable APP_KEY is not set"
    ]


def test_a_key_has_no_more_patterns_than_each_request_can_be_held_against() -> None:
    assert mistakes(f"keys: [{{name: app, models: [{', '.join(['gpt-*'] * 101)}]}}]") == [
        "line 1: keys[0].models: must be at most 100"
    ]


@pytest.mark.parametrize("key", ["short", "has a space in it", "sk-or-\u00e9\u00e9\u00e9\u00e9\u00e9", "x" * 501])
def test_no_mistake_about_a_secret_shows_it(key: str) -> None:
    text = f"keys: [{{name: app, key: '{key}'}}]"
    (mistake,) = mistakes(text)
    assert key not in mistake


def test_an_error_rule_must_say_when_and_what() -> None:
    text = provider_with("  error_rules: [{kind: auth}, {status: 400, kind: local}, {pattern: '(', kind: auth}]")
    first, second, third = mistakes(text)
    assert first.endswith("error_rules[0]: needs a status, a code or a pattern to look for")
    assert "must be one of rate_limit, quota_exhausted" in second
    assert "must be a regular expression" in third


def test_a_rules_name_fits_its_column() -> None:
    (mistake,) = mistakes(provider_with(f"  error_rules: [{{name: {'n' * 101}, status: 529, kind: overloaded}}]"))
    assert mistake.endswith("error_rules[0].name: must be a text without control characters, at most 100 characters")


def test_a_pattern_that_would_have_to_backtrack_is_refused_with_what_to_write_instead() -> None:
    (mistake,) = mistakes(provider_with("  error_rules: [{pattern: 'quota(?! left)', kind: quota_exhausted}]"))
    assert "error_rules[0].pattern: must be a regular expression; RE2 says" in mistake
    assert "put a rule for the exception before this one" in mistake


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(c)}: &{chr(c)} [{', '.join([f'*{chr(c - 1)}'] * 9)}]\n" for c in range(ord("b"), ord("l"))
)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "the file is empty"),
        (b"# only a comment", "the file is empty"),
        (b"- a", "the file must be a mapping"),
        (b"\xff\xfe", "line 1: the file is not UTF-8"),
        (b"keys: []\nkeys: []", "line 2: the key 'keys' stands twice"),
        (b"keys: &a [*a]", "nested deeper than"),
        (b"[" * 100_000, "nested deeper than"),
        (b'{"a":' * 50_000, "nested deeper than"),
        (BOMB.encode(), "more than 200000 values"),
        (b"keys: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
        (b"settings: {max_attempts: " + b"9" * 10_000 + b"}", "not a number that can be read"),
        (b"keys: [", "not YAML"),
        (b"--- a\n--- b", "expected a single document"),
        (b'keys: "\x01"', "not YAML"),
        (b"1: 2", "a key must be a text"),
        (b"? [a, b]\n: c", "a key must be a text"),
        (b"keys: {<<: 5}", "<< takes a mapping"),
        (b"x" * (4 * 1024 * 1024 + 1), "larger than 4 MiB"),
        (b"providers: {}", "providers: must be a list"),
        (b"settings: []", "settings: must be a mapping"),
        (b"keys: [5]", "keys[0]: must be a mapping"),
        (b"chains: [{entries: []}]", "chains[0].model: is missing"),
    ],
    ids=range(22),
)
def test_a_file_that_cannot_be_read_says_why(raw: bytes, message: str) -> None:
    assert message in mistakes(raw)[0]
