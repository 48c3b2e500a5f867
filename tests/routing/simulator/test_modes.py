"""Every mode, as bytes on a real socket."""

import orjson
import pytest

from routing.simulator import Simulator
from routing.simulator.behaviour import SPOKEN_ERRORS, Mode
from tests.routing.simulator.client import KEYS, ask, connect, question, request
from tests.waiting import until

WIRES = ("openai", "azure", "anthropic", "gemini")
# fmt: off
STATUSES = {
    "openai": {"rate_limit": 429, "quota": 429, "error": 500, "overloaded": 503, "auth": 401, "model_missing": 404, "context_length": 400, "content_filter": 400, "invalid": 400},
    "azure": {"rate_limit": 429, "quota": 429, "error": 500, "overloaded": 503, "auth": 401, "model_missing": 404, "context_length": 400, "content_filter": 400, "invalid": 400},
    "anthropic": {"rate_limit": 429, "quota": 400, "error": 500, "overloaded": 529, "auth": 401, "model_missing": 404, "context_length": 400, "content_filter": 400, "invalid": 400},
    "gemini": {"rate_limit": 429, "quota": 429, "error": 500, "overloaded": 503, "auth": 400, "model_missing": 404, "context_length": 400, "content_filter": 200, "invalid": 400},
}
# fmt: on


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
async def test_a_good_answer_is_complete(wire, stream):
    async with Simulator() as simulator:
        seen = await ask(simulator, wire, stream=stream)
    assert seen.status == 200
    assert seen.complete
    assert b"hello" in seen.body
    assert stream == seen.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("mode", SPOKEN_ERRORS)
@pytest.mark.parametrize("wire", WIRES)
async def test_an_error_is_said_with_its_status(wire, mode, stream):
    async with Simulator() as simulator:
        simulator.behave(wire, mode=mode)
        seen = await ask(simulator, wire, stream=stream)
    assert STATUSES[wire][mode] == seen.status
    assert seen.complete
    if seen.status != 200:
        assert isinstance(seen.json["error"], dict)
        assert seen.headers["content-type"] == "application/json"


@pytest.mark.parametrize("wire", ["openai", "azure", "anthropic"])
async def test_a_rate_limit_tells_when_to_come_back(wire):
    async with Simulator() as simulator:
        simulator.behave(wire, mode="rate_limit", retry_after=7)
        hinted = await ask(simulator, wire)
        simulator.behave(wire, mode="rate_limit")
        bare = await ask(simulator, wire)
    assert hinted.headers["retry-after"] == "7"
    assert "retry-after" not in bare.headers


async def test_gemini_tells_when_to_come_back_in_the_body():
    async with Simulator() as simulator:
        simulator.behave("gemini", mode="rate_limit", retry_after=1.5)
        seen = await ask(simulator, "gemini")
    details = {detail["@type"].rpartition(".")[2]: detail for detail in seen.json["error"]["details"]}
    assert details["RetryInfo"]["retryDelay"] == "1.5s"
    assert "PerMinute" in details["QuotaFailure"]["violations"][0]["quotaId"]
    assert "retry-after" not in seen.headers


async def test_an_error_can_be_given_another_status_message_and_headers():
    async with Simulator() as simulator:
        simulator.behave(
            "openai", mode="error", status=999, message="gone fishing", headers={"X-RateLimit-Reset-Requests": "1m"}
        )
        seen = await ask(simulator, "openai")
    assert seen.status == 999
    assert seen.json["error"]["message"] == "gone fishing"
    assert seen.headers["x-ratelimit-reset-requests"] == "1m"


async def test_gemini_filters_content_with_a_200_without_candidates():
    async with Simulator() as simulator:
        simulator.behave("gemini", mode="content_filter")
        plain = await ask(simulator, "gemini")
        streamed = await ask(simulator, "gemini", stream=True)
    for document in (plain.json, streamed.events[0]):
        assert document["promptFeedback"]["blockReason"] == "SAFETY"
        assert "candidates" not in document


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
async def test_a_bad_gateway_is_a_page(wire, stream):
    async with Simulator() as simulator:
        simulator.behave(wire, mode="bad_gateway")
        seen = await ask(simulator, wire, stream=stream)
    assert seen.status == 502
    assert seen.headers["content-type"] == "text/html"
    assert b"<html>" in seen.body


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("mode", "ended"), [("reset", "reset"), ("disconnect_before_headers", "closed")])
@pytest.mark.parametrize("wire", WIRES)
async def test_the_connection_ends_before_any_byte(wire, mode, ended, stream):
    async with Simulator() as simulator:
        simulator.behave(wire, mode=mode)
        seen = await ask(simulator, wire, stream=stream)
    assert (b"", ended) == (seen.raw, seen.ended)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_reset_can_come_in_the_middle_of_a_stream(wire):
    async with Simulator() as simulator:
        simulator.behave(wire, mode="reset", after=2)
        seen = await ask(simulator, wire, stream=True)
    assert seen.ended == "reset"
    assert contents(seen.body) == 2


@pytest.mark.parametrize("wire", WIRES)
async def test_a_cut_document_is_shorter_than_its_length(wire):
    async with Simulator() as simulator:
        simulator.behave(wire, mode="cut")
        seen = await ask(simulator, wire)
    assert seen.ended == "closed"
    assert 0 < len(seen.body) < int(seen.headers["content-length"])


@pytest.mark.parametrize("wire", WIRES)
async def test_a_cut_stream_ends_inside_a_chunk_after_some_content(wire):
    async with Simulator() as simulator:
        simulator.behave(wire, mode="cut", after=4)
        seen = await ask(simulator, wire, stream=True)
    assert seen.ended == "closed"
    assert not seen.complete
    assert seen.payload.endswith(b"400\r\ndata: ")
    assert contents(seen.body.removesuffix(b"data: ")) == 4


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("mode", "sent"), [("timeout", False), ("stall", True)])
@pytest.mark.parametrize("wire", WIRES)
async def test_silence_lasts_until_the_client_leaves(wire, mode, sent, stream):
    async with Simulator() as simulator:
        simulator.behave(wire, mode=mode)
        path, body = question(wire, stream=stream)
        reader, writer = await connect(simulator)
        writer.write(request("POST", path, orjson.dumps(body), KEYS[wire]))
        if sent:
            await reader.readuntil(b"asked:" if stream else b"\r\n\r\n")
        await until(lambda: bool(simulator.log.entries))
        (entry,) = simulator.log.entries
        assert not entry.finished
        assert (200 if sent else None) == entry.status
        writer.close()
        await until(lambda: entry.duration is not None)
        assert entry.client_closed
        assert not entry.finished


@pytest.mark.parametrize("wire", WIRES)
async def test_malformed_documents_are_not_json(wire):
    async with Simulator() as simulator:
        simulator.behave(wire, mode="malformed")
        seen = await ask(simulator, wire)
    assert seen.status == 200
    assert seen.complete
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(seen.body)


@pytest.mark.parametrize("wire", WIRES)
async def test_malformed_streams_bring_broken_events_after_as_much_content_as_asked(wire):
    async with Simulator() as simulator:
        simulator.behave(wire, mode="malformed")
        garbage = await ask(simulator, wire, stream=True)
        simulator.behave(wire, mode="malformed", after=2)
        late = await ask(simulator, wire, stream=True)
    assert garbage.complete
    assert b"[DONE]" not in garbage.body
    assert b'data: {"id": "sim", "choi\n\n' in garbage.body
    assert contents(garbage.body) == 0
    assert contents(late.body) == 2


@pytest.mark.parametrize("wire", WIRES)
async def test_empty_answers_bring_no_content(wire):
    async with Simulator() as simulator:
        simulator.behave(wire, mode="empty")
        plain = await ask(simulator, wire)
        streamed = await ask(simulator, wire, stream=True)
    assert (plain.status, plain.body) == (200, b"")
    assert streamed.status == 200
    assert streamed.complete
    assert contents(streamed.body) == 0


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
async def test_an_error_can_come_under_status_200(wire, stream):
    async with Simulator() as simulator:
        simulator.behave(wire, mode="error_in_200", error="overloaded")
        seen = await ask(simulator, wire, stream=stream)
    assert seen.status == 200
    (document,) = seen.events if stream else [seen.json]
    assert any(word in str(document["error"]) for word in ("overloaded", "NoCapacity"))


@pytest.mark.parametrize("wire", WIRES)
async def test_an_error_can_come_after_content(wire):
    async with Simulator() as simulator:
        simulator.behave(wire, mode="error_in_stream", after=2)
        streamed = await ask(simulator, wire, stream=True)
        plain = await ask(simulator, wire)
    assert contents(streamed.body) == 2
    assert "error" in streamed.events[-1]
    assert streamed.complete
    assert plain.status == 500


async def test_anthropic_names_its_error_event():
    async with Simulator() as simulator:
        simulator.behave("anthropic", mode="error_in_stream")
        seen = await ask(simulator, "anthropic", stream=True)
    assert b'event: error\ndata: {"type":"error"' in seen.body


@pytest.mark.parametrize("wire", WIRES)
async def test_a_slow_stream_comes_in_pieces(wire):
    async with Simulator() as simulator:
        simulator.behave(wire, mode="slow", latency=0.02, words=3)
        path, body = question(wire, stream=True)
        reader, writer = await connect(simulator)
        writer.write(request("POST", path, orjson.dumps(body), KEYS[wire]))
        await reader.readuntil(b'"You"')
        (entry,) = simulator.log.entries
        assert not entry.finished  # the rest is still to come
        rest = await reader.read()
        writer.close()
    assert b"hello" in rest
    assert entry.finished
    assert entry.duration is not None
    assert entry.duration >= 0.02 * 4


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode not in (Mode.TIMEOUT, Mode.STALL)])  # those never end
@pytest.mark.parametrize("wire", WIRES)
async def test_every_mode_works_in_every_format(wire, mode):
    async with Simulator() as simulator:
        simulator.behave(wire, mode=mode, latency=0.001)
        await ask(simulator, wire, stream=True)
        await ask(simulator, wire)
        assert [(mode, True)] * 2 == [(entry.mode, entry.finished) for entry in simulator.log.entries]


def contents(body: bytes) -> int:
    """How many events with text a stream brought, in any format."""
    marks = (b'"delta":{"content":"', b'"text_delta"', b'"parts":[{"text":"')
    return sum(any(mark in line for mark in marks) for line in body.split(b"\n"))
