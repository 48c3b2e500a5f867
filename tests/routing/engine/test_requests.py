"""What is refused before a provider is asked: CONTRACT section 4's table, row by row."""

import gzip
import json
from hashlib import sha256
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError

from routing import health, lifecycle
from routing.table import ClientKey, ModelFacts

from .harness import KEY, Answer, Gateway, chat, failing


def key(gateway: Gateway, **members: object) -> None:
    gateway.keys = {sha256(KEY.encode()).hexdigest(): ClientKey(1, "test", **members)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "code", "param"),
    [
        (b"", "invalid_json", None),
        (b"{nonsense", "invalid_json", None),
        (b"\x00\xff\xfe random", "invalid_json", None),
        (b"[" * 10_000 + b"]" * 10_000, "invalid_json", None),
        (b"[]", "invalid_request", None),
        (b'"text"', "invalid_request", None),
        (b"{}", "invalid_request", "model"),
        (json.dumps({"model": "", "messages": []}).encode(), "invalid_request", "model"),
        (json.dumps({"model": 3, "messages": []}).encode(), "invalid_request", "model"),
        (json.dumps({"model": "m" * 300, "messages": []}).encode(), "invalid_request", "model"),
        (json.dumps({"model": "model"}).encode(), "invalid_request", "messages"),
        (json.dumps(chat(messages=[])).encode(), "invalid_request", "messages"),
        (json.dumps(chat(messages="hi")).encode(), "invalid_request", "messages"),
        (json.dumps(chat(messages=["hi"])).encode(), "invalid_request", "messages[0]"),
        (json.dumps(chat(messages=[{"content": "hi"}])).encode(), "invalid_request", "messages[0].role"),
        (
            json.dumps(chat(messages=[{"role": "user", "content": 3}])).encode(),
            "invalid_request",
            "messages[0].content",
        ),
        (json.dumps(chat(stream="yes")).encode(), "invalid_request", "stream"),
        (json.dumps(chat(n=0)).encode(), "invalid_request", "n"),
        (json.dumps(chat(stream_options=[])).encode(), "invalid_request", "stream_options"),
    ],
)
async def test_a_body_that_cannot_be_meant_is_a_400(
    gateway: Gateway, body: bytes, code: str, param: str | None
) -> None:
    provider = gateway.provider("a")
    answer = await gateway.ask(body)
    assert (answer.status, answer.error["code"], answer.error["param"]) == (400, code, param)
    assert answer.error["message"]
    assert answer.headers["x-omniroute-request-id"] == answer.error["omniroute"]["request_id"]
    assert answer.headers["x-request-id"] == answer.error["omniroute"]["request_id"]
    assert not provider.calls


@pytest.mark.parametrize("sent", [None, "wrong", ""])
async def test_no_or_a_wrong_key_is_401(gateway: Gateway, sent: str | None) -> None:
    gateway.provider("a")
    answer = await gateway.ask(key=sent)
    assert (answer.status, answer.error["code"]) == (401, "invalid_api_key")


async def test_an_anthropic_style_key_header_works_and_authorization_wins(gateway: Gateway) -> None:
    gateway.provider("a")
    assert (await gateway.ask(key=None, headers={"x-api-key": KEY})).status == 200
    assert (await gateway.ask(key="wrong", headers={"x-api-key": KEY})).status == 401


async def test_a_disabled_key_is_401_and_a_missing_scope_403(gateway: Gateway) -> None:
    gateway.provider("a")
    key(gateway, enabled=False)
    assert (await gateway.ask()).status == 401
    key(gateway, scopes=frozenset({"read"}))
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"]) == (403, "insufficient_permissions")


async def test_a_key_is_held_to_its_models(gateway: Gateway) -> None:
    gateway.provider("a")
    key(gateway, models=("other*",))
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"]) == (403, "model_not_allowed")


async def test_an_unknown_model_is_404(gateway: Gateway) -> None:
    gateway.provider("a")
    for name in ("nothing", "nobody/model", "a/", "/m"):
        answer = await gateway.ask(chat(model=name))
        assert (answer.status, answer.error["code"]) == (404, "model_not_found"), name


async def test_a_body_over_the_limit_is_413_before_and_after_decompression(gateway: Gateway, settings: Any) -> None:
    gateway.provider("a")
    settings.MAX_BODY_BYTES = 1000
    long = json.dumps(chat(messages=[{"role": "user", "content": "x" * 2000}])).encode()
    for body, headers in ((long, {}), (gzip.compress(long), {"content-encoding": "gzip"})):
        answer = await gateway.ask(body, headers=headers)
        assert (answer.status, answer.error["code"]) == (413, "request_too_large")


async def test_a_gzipped_body_is_read(gateway: Gateway) -> None:
    provider = gateway.provider("a")
    body = gzip.compress(json.dumps(chat()).encode())
    assert (await gateway.ask(body, headers={"content-encoding": "gzip"})).status == 200
    assert "content-encoding" not in provider.calls[0].headers
    cut = await gateway.ask(body[:-9], headers={"content-encoding": "gzip"})
    assert (cut.status, cut.error["code"]) == (400, "invalid_request")
    assert (await gateway.ask(body, headers={"content-encoding": "br"})).status == 415


async def test_headers_of_64_kib_are_431(gateway: Gateway) -> None:
    gateway.provider("a")
    assert (await gateway.ask(headers={"x-long": "x" * 65536})).status == 431


async def test_a_draining_gateway_says_so(gateway: Gateway) -> None:
    gateway.provider("a")
    lifecycle.begin_drain()
    answer = await gateway.ask()
    assert (answer.status, answer.error["code"], answer.headers["retry-after"]) == (503, "draining", "5")


async def test_unknown_paths_and_methods_are_answered_in_json(gateway: Gateway) -> None:
    gateway.provider("a")
    assert (await gateway.ask(path="/v1/nothing")).error["code"] == "not_found"
    assert (await gateway.ask(method="GET")).status == 405


async def test_no_client_credential_reaches_a_provider(gateway: Gateway) -> None:
    provider = gateway.provider("a")
    canaries = {"x-goog-api-key": "CANARY", "api-key": "CANARY", "cookie": "CANARY", "x-forwarded-for": "CANARY"}
    await gateway.ask(headers=canaries | {"traceparent": "00-abc"})
    [call] = provider.calls
    assert "CANARY" not in str(call.headers)
    assert KEY not in str(call.headers)
    assert call.headers["traceparent"] == "00-abc"
    assert call.headers["host"] == "a.invalid"


async def test_models_lists_what_the_key_may_use(gateway: Gateway) -> None:
    gateway.provider("a")
    listed = await gateway.ask(path="/v1/models", method="GET")
    assert [row["id"] for row in listed.json()["data"]] == ["model", "a/m"]
    key(gateway, models=("model",))
    listed = await gateway.ask(path="/v1/models", method="GET")
    assert [row["id"] for row in listed.json()["data"]] == ["model"]
    assert (await gateway.ask(path="/v1/models/a/m", method="GET")).status == 403
    assert (await gateway.ask(path="/v1/models/model", method="GET")).json()["id"] == "model"
    assert (await gateway.ask(path="/v1/models/none", method="GET")).status == 404


async def test_anthropic_s_clients_get_the_models_in_its_shape_and_in_pages(gateway: Gateway) -> None:
    gateway.provider("a")
    for model in ("m1", "m2", "m3"):
        gateway.facts["a", model] = ModelFacts(context_window=1000, max_output_tokens=10)

    async def ask(path: str, query: str = "", **options: Any) -> Answer:
        headers = {"anthropic-version": "2023-06-01"}
        return await gateway.ask(path=path, query=query, method="GET", headers=headers, **options)

    whole = (await ask("/v1/models")).json()
    names = ["model", "a/m", "a/m1", "a/m2", "a/m3"]
    assert [row["id"] for row in whole["data"]] == names
    assert (whole["has_more"], whole["first_id"], whole["last_id"]) == (False, "model", "a/m3")
    one = await ask("/v1/models/a/m1")
    assert one.json() == whole["data"][2]
    assert (one.json()["type"], one.json()["max_input_tokens"], one.json()["max_tokens"]) == ("model", 1000, 10)
    for query, wanted, has_more in (
        ("limit=2", names[:2], True),
        ("limit=2&after_id=a/m", names[2:4], True),
        ("limit=2&after_id=a%2Fm1", names[3:], False),
        ("limit=2&before_id=a/m3", names[2:4], True),
        ("before_id=a/m", names[:1], False),
        ("after_id=a/m3", [], False),
    ):
        page = (await ask("/v1/models", query)).json()
        assert ([row["id"] for row in page["data"]], page["has_more"]) == (wanted, has_more), query
    for query in ("limit=0", "limit=1001", "limit=x", "limit=", "after_id=none", "before_id="):
        refused = await ask("/v1/models", query)
        assert (refused.status, refused.json()["type"]) == (400, "error"), query
        assert refused.error["type"] == "invalid_request_error"
        assert refused.error["param"] == query.partition("=")[0]
    assert (await ask("/v1/models/none")).error["type"] == "not_found_error"
    assert (await ask("/v1/models", key="sk-wrong")).error["type"] == "authentication_error"


async def test_the_old_completions_are_not_there_and_the_answer_says_what_is(gateway: Gateway) -> None:
    provider = gateway.provider("a")
    answer = await gateway.ask({"model": "model", "prompt": "ping"}, path="/v1/completions")
    assert (answer.status, answer.error["code"]) == (404, "not_found")
    assert "/v1/completions" in answer.error["message"]
    assert "/v1/chat/completions" in answer.error["message"]
    assert not provider.calls


async def test_models_carry_the_gateway_s_headers(gateway: Gateway) -> None:
    gateway.provider("a")
    for path, chain in (("/v1/models", "-"), ("/v1/models/a/m", "a/m")):
        answer = await gateway.ask(path=path, method="GET")
        headers = {name: value for name, value in answer.headers.items() if name.startswith("x-omniroute-")}
        assert headers.pop("x-omniroute-request-id")
        assert headers == {"x-omniroute-chain": chain, "x-omniroute-attempts": "0"}


async def test_a_model_name_cannot_split_a_header_or_upset_a_database(gateway: Gateway) -> None:
    provider = gateway.provider("a")
    for name in ("a/m\r\nx-evil: 1", "a/m\x00", "a/" + "m" * 254):
        answer = await gateway.ask(chat(model=name))
        assert (answer.status, answer.error["param"]) == (400, "model")
        assert "x-evil" not in answer.headers
    assert not provider.calls
    answer = await gateway.ask(chat(model="a/größer"))
    assert answer.headers["x-omniroute-model"] == "gr\\xf6\\xdfer"


async def test_an_error_carries_the_whole_story(gateway: Gateway) -> None:
    gateway.provider("a", failing(429, "rate_limit_exceeded", retry_after="30"))
    gateway.provider("b", failing(500))
    answer = await gateway.ask()
    assert (answer.status, answer.error["type"]) == (502, "server_error")
    first, second = answer.error["omniroute"]["targets"]
    assert first.items() >= {"provider": "a", "decision": "failed", "reason": "rate_limit", "status": 429}.items()
    assert 29 <= first["retry_after"] <= 30
    assert second["reason"] == "transient"
    assert answer.headers["retry-after"] == "30"


@pytest.mark.parametrize("error", [OperationalError("no route to host"), InterfaceError("the connection is closed")])
async def test_readyz_says_that_the_database_is_away(
    gateway: Gateway, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise error

    monkeypatch.setattr(health, "_select_one", away)
    answer = await gateway.begin(path="/readyz", method="GET").answer()
    assert (answer.status, answer.json()["failing"]) == (503, ["database"])
