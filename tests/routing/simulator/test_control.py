"""Choosing behaviours over HTTP, and what they decide."""

import asyncio

import pytest

from routing.simulator import Simulator
from tests.routing.simulator.client import HELLO, KEYS, ask, connect, exchange, question, request, send
from tests.waiting import until


async def statuses(simulator: Simulator, count: int, **members: object) -> list[int]:
    return [(await ask(simulator, "openai", **members)).status for _ in range(count)]


async def test_a_behaviour_set_over_http_holds_until_it_is_deleted():
    async with Simulator() as simulator:
        put = await send(simulator, "PUT", "/control/openai", {"mode": "error", "rate": 1})
        broken = await ask(simulator, "openai")
        listed = await send(simulator, "GET", "/control/")
        await send(simulator, "DELETE", "/control/openai")
        mended = await ask(simulator, "openai")
    assert (put.status, put.json) == (200, {"name": "openai", "mode": "error", "rate": 1.0})
    assert listed.json == {"openai": {"mode": "error", "rate": 1.0, "hits": 1}}
    assert (broken.status, mended.status) == (500, 200)


async def test_a_key_has_a_behaviour_of_its_own_which_wins_over_the_formats():
    async with Simulator() as simulator:
        await send(simulator, "PUT", "/control/openai", {"mode": "error"})
        await send(simulator, "PUT", "/control/openai:sk-test-1234", {"mode": "auth"})
        path, body = question("openai", stream=False)
        own = await ask(simulator, "openai")
        other = await send(simulator, "POST", path, body, authorization="Bearer sk-other")
        foreign = await ask(simulator, "anthropic")
    assert (own.status, other.status, foreign.status) == (401, 500, 200)


async def test_a_behaviour_for_some_models_leaves_the_others_to_the_next_rule():
    async with Simulator() as simulator:
        simulator.behave("openai", mode="overloaded")
        simulator.behave("openai:sk-test-1234", mode="model_missing", models=["gpt-*"])
        assert (await ask(simulator, "openai", model="gpt-4o")).status == 404
        assert (await ask(simulator, "openai", model="o3")).status == 503


async def test_a_rate_with_a_seed_fails_the_same_requests_every_time():
    runs = []
    async with Simulator() as simulator:
        for _ in range(2):
            simulator.behave("openai", mode="error", rate=0.5, seed=7)
            runs.append(await statuses(simulator, 12))
    assert runs[0] == runs[1]
    assert {200, 500} == set(runs[0])


async def test_times_limits_how_many_requests_get_the_mode():
    async with Simulator() as simulator:
        simulator.behave("openai", mode="rate_limit", times=2)
        assert await statuses(simulator, 4) == [429, 429, 200, 200]
        assert simulator.control.describe()["openai"]["hits"] == 2


async def test_requests_spared_by_the_rate_are_not_slowed_and_carry_none_of_its_headers():
    async with Simulator() as simulator:
        simulator.behave("openai", mode="slow", rate=0, latency=3000, headers={"x-mark": "1"}, words=2)
        seen = await ask(simulator, "openai")
    assert seen.json["choices"][0]["message"]["content"] == "You asked:"
    assert "x-mark" not in seen.headers


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"mode": "bogus"}, "'rate_limit'"),
        ({"speed": 1}, "unknown member speed; allowed: mode, rate"),
        ({"rate": 1.5}, "rate: Input should be less than or equal to 1"),
        ({"latency": -1}, "latency"),
        ({"latency": "2"}, "latency"),
        ({"times": 1.5}, "times"),
        ({"error": "timeout"}, "timeout has no error document; allowed: rate_limit"),
        ({"headers": {"x": "a\r\nb: c"}}, "control characters"),
        ([], "object"),
    ],
)
async def test_a_control_that_makes_no_sense_is_refused_and_changes_nothing(document, named):
    async with Simulator() as simulator:
        seen = await send(simulator, "PUT", "/control/openai", document)
        assert not simulator.control.describe()
    assert seen.status == 400
    assert named in seen.json["error"]
    assert "error_in_stream" in seen.json["modes"]


async def test_a_name_of_no_format_is_refused_with_the_names_there_are():
    async with Simulator() as simulator:
        seen = await send(simulator, "PUT", "/control/opnai:sk-1", {"mode": "ok"})
        not_json = await exchange(simulator, request("PUT", "/control/openai", b"{mode: ok}"))
    assert seen.status == 400
    assert "openai, anthropic, gemini, azure" in seen.json["error"]
    assert not_json.status == 400


async def test_one_name_can_be_read_and_all_can_be_forgotten():
    async with Simulator() as simulator:
        simulator.behave("gemini", mode="slow", latency=3)
        one = await send(simulator, "GET", "/control/gemini")
        unset = await send(simulator, "GET", "/control/openai")
        cleared = await send(simulator, "DELETE", "/control/")
    assert one.json == {"name": "gemini", "mode": "slow", "rate": 1.0, "latency": 3.0, "hits": 0}
    assert unset.json == {"name": "openai", "mode": "ok", "rate": 1.0}
    assert cleared.json == {}


async def test_the_log_tells_what_was_asked_without_the_key():
    async with Simulator() as simulator:
        simulator.behave("openai", mode="rate_limit")
        await ask(simulator, "openai")
        await ask(simulator, "anthropic", stream=True)
        whole = (await send(simulator, "GET", "/control/log")).json
        named = (await send(simulator, "GET", "/control/log?name=anthropic")).json
        keyed = (await send(simulator, "GET", "/control/log?name=openai:sk-test-1234")).json
        other = (await send(simulator, "GET", "/control/log?name=openai:sk-else-1234")).json
        emptied = await send(simulator, "DELETE", "/control/log")
    first = {"format": "openai", "key": "1234", "model": "m-1", "mode": "rate_limit", "status": 429, "stream": False}
    assert first.items() <= whole[0].items()
    assert {"stream": True, "mode": "ok", "finished": True, "client_closed": False}.items() <= whole[1].items()
    assert [whole[1]] == named
    assert [whole[0]] == keyed
    assert other == []
    assert emptied.json == []
    assert "sk-test" not in str(whole)


async def test_the_log_shows_bodies_to_who_asks_for_them():
    async with Simulator() as simulator:
        await ask(simulator, "openai", user="eve")
        await exchange(simulator, request("POST", "/openai/v1/chat/completions", b"{", KEYS["openai"]))
        await ask(simulator, "openai", user="e" * 70_000)
        bare = (await send(simulator, "GET", "/control/log")).json
        whole = (await send(simulator, "GET", "/control/log?name=openai&bodies=true")).json
    assert "body" not in bare[0]
    assert [entry["body"] and entry["body"]["user"] for entry in whole] == ["eve", None, None]


async def test_the_log_keeps_the_last_thousand():
    async with Simulator() as simulator:
        reader, writer = await connect(simulator)
        sent = request("GET", "/openai/v1/models", headers=KEYS["openai"] | {"connection": "keep-alive"})
        for _ in range(11):
            writer.write(sent * 100)
        last = request("GET", "/control/log")
        writer.write(last)
        await reader.read()
        writer.close()
        assert len(simulator.log.entries) == 1000


async def test_a_path_of_nobody_says_what_there_is():
    async with Simulator() as simulator:
        seen = await send(simulator, "GET", "/v1/models")
        wrong_method = await send(simulator, "POST", "/control/openai", {})
    assert seen.status == 404
    assert "openai, anthropic, gemini, azure" in seen.json["error"]
    assert wrong_method.status == 405


async def test_one_connection_serves_many_requests_and_a_slow_one_holds_up_those_behind_it():
    async with Simulator() as simulator:
        simulator.behave("openai", latency=0.01, words=2)
        path, _ = question("openai", stream=False)
        body = b'{"model": "m-1", "messages": [{"role": "user", "content": "hello"}]}'
        kept = KEYS["openai"] | {"connection": "keep-alive"}
        answer = await exchange(
            simulator,
            request("POST", path, body, kept) * 2 + request("GET", "/openai/v1/models", headers=KEYS["openai"]),
        )
        assert [entry.finished for entry in simulator.log.entries] == [True] * 3
    assert answer.raw.count(b"HTTP/1.1 200 OK") == 3
    assert answer.raw.index(b"chat.completion") < answer.raw.index(b'"object":"list"')


async def test_a_client_waiting_for_permission_to_send_gets_it():
    async with Simulator() as simulator:
        path, _ = question("openai", stream=False)
        reader, writer = await connect(simulator)
        body = b'{"model": "m-1", "messages": [{"role": "user", "content": "hello"}]}'
        head = request("POST", path, b"", KEYS["openai"] | {"expect": "100-continue", "content-length": str(len(body))})
        writer.write(head)
        assert await reader.readexactly(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(body)
        assert (await reader.read()).startswith(b"HTTP/1.1 200 OK")
        writer.close()


async def test_bytes_that_are_no_request_are_answered_and_hung_up_on():
    async with Simulator() as simulator:
        seen = await exchange(simulator, b"\x00\x01\x02\r\n\r\n")
        assert seen.status == 400
        assert (await ask(simulator, "openai")).status == 200


async def test_an_old_client_gets_a_stream_without_chunks():
    async with Simulator() as simulator:
        path, _ = question("openai", stream=True)
        body = b'{"model": "m-1", "stream": true, "messages": %b}' % str(HELLO).replace("'", '"').encode()
        sent = request("POST", path, body, KEYS["openai"]).replace(b"HTTP/1.1", b"HTTP/1.0")
        seen = await exchange(simulator, sent)
    assert "transfer-encoding" not in seen.headers
    assert seen.payload.endswith(b"data: [DONE]\n\n")


async def test_stopping_drops_connections_that_are_being_answered():
    simulator = Simulator()
    await simulator.start()
    simulator.behave("openai", mode="timeout")
    asked = asyncio.ensure_future(ask(simulator, "openai"))
    await until(lambda: bool(simulator.log.entries))
    await simulator.stop()
    assert (await asked).raw == b""
