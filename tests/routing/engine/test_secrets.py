"""A connection's secrets that its provider quotes."""

import pytest

from routing.table import Connection

from .harness import ROLE, Gateway, Reply, chat, chunk, event, failing
from .harness import streaming as stream_of

STREAM = chat(stream=True)


@pytest.mark.parametrize("key", ["0123456789abcdef0123456789ABCDEF", "sk-proj-abc_def-123456"])
@pytest.mark.parametrize("where", ["message", "code", "param", "page", "long", "in_200", "first_event", "later_event"])
async def test_a_secret_that_its_provider_quotes_goes_nowhere(gateway: Gateway, where: str, key: str) -> None:
    account = Connection(
        "a", "main", "http://a.invalid/v1", api_key=key, headers=(("X-Proxy-Token", "Bearer TENANTSECRET"),)
    )
    envelope = {"error": {"message": f"bad credential {key} of TENANTSECRET", "type": "x", "code": None}}
    reply = {
        "message": Reply(401, envelope),
        "code": Reply(401, {"error": {"message": "no", "code": key}}),
        "param": Reply(400, {"error": {"message": "no", "param": key}}),
        "page": Reply(500, f"<html>{key} TENANTSECRET</html>"),
        "long": Reply(500, {"error": {"message": "x" * 480 + f" {key}"}}),
        "in_200": Reply(200, envelope),
        "first_event": stream_of(ROLE, event(envelope)),
        "later_event": stream_of(ROLE, chunk("x"), event(envelope)),
    }[where]
    gateway.provider("a", reply, connections=[account])
    answer = await gateway.ask(STREAM if "event" in where else chat())
    state = (gateway.breaker("a"), gateway.registry.cooldowns, gateway.registry.lockouts)
    everything = f"{answer.body.decode()} {answer.headers} {gateway.records} {state}".lower()
    assert key[:16].lower() not in everything
    assert "tenantsecret" not in everything


async def test_a_word_that_is_no_secret_stays(gateway: Gateway) -> None:
    account = Connection("a", "main", "http://a.invalid/v1", api_key="none", headers=(("X-Version", "experimental"),))
    gateway.provider("a", failing(500, message="none of the experimental shards answered"), connections=[account])
    await gateway.ask()
    assert "none of the experimental shards" in str(gateway.records[0].targets)
