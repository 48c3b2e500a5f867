"""Who is let in, and what the others are told."""

import pytest

from routing import auth, crypto
from routing.auth import RateLimiter, authenticate, key_may_use
from routing.errors import GatewayError
from routing.table import ClientKey, RoutingTable

SECRET = "sk-or-known"
HASH = crypto.hash_client_key(SECRET)


def table(**columns: object) -> RoutingTable:
    return RoutingTable(keys={HASH: ClientKey(**{"id": 1, "name": "app"} | columns)})  # type: ignore[arg-type]


def headers(**values: str) -> list[tuple[bytes, bytes]]:
    return [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in values.items()]


def refusal(sent: list[tuple[bytes, bytes]], known: RoutingTable, scope: str = "chat") -> GatewayError:
    with pytest.raises(GatewayError) as caught:
        authenticate(sent, known, scope)
    return caught.value


@pytest.mark.parametrize(
    "sent",
    [
        headers(authorization=f"Bearer {SECRET}"),
        headers(authorization=f"bearer {SECRET}"),
        headers(authorization=f"BEARER   {SECRET} "),
        headers(x_api_key=SECRET),
        headers(accept="*/*", x_api_key="other", authorization=f"Bearer {SECRET}"),
    ],
)
def test_a_known_key_is_let_in(sent: list[tuple[bytes, bytes]]) -> None:
    assert authenticate(sent, table(), "chat").name == "app"


@pytest.mark.parametrize(
    "sent",
    [
        [],
        headers(accept="*/*"),
        headers(authorization="Bearer other"),
        headers(authorization="Bearer "),
        headers(authorization=""),
        headers(authorization=SECRET),
        headers(authorization=f"Basic {SECRET}"),
        headers(authorization="Bearer \xff\xfe"),
        headers(x_api_key=""),
        headers(x_api_key=SECRET + "x"),
        headers(authorization="Basic x", x_api_key=SECRET),
        headers(authorization="", x_api_key=SECRET),
        headers(authorization=f"Bearer {HASH}"),
    ],
)
def test_everything_else_is_401(sent: list[tuple[bytes, bytes]]) -> None:
    error = refusal(sent, table())
    assert (error.status, error.code) == (401, "invalid_api_key")
    assert SECRET not in error.message


def test_a_disabled_key_is_401() -> None:
    error = refusal(headers(x_api_key=SECRET), table(enabled=False))
    assert (error.status, error.code) == (401, "invalid_api_key")


def test_a_key_without_the_scope_is_403() -> None:
    error = refusal(headers(x_api_key=SECRET), table(scopes=frozenset({"chat", "read"})), "operate")
    assert (error.status, error.code) == (403, "insufficient_permissions")


@pytest.mark.parametrize(
    ("patterns", "model", "allowed"),
    [
        (("*",), "openai/gpt-4o", True),
        (("gpt-*",), "gpt-4o", True),
        (("gpt-*",), "claude", False),
        (("openai/*",), "openai/gpt-4o", True),
        (("gpt-4o",), "gpt-4o-mini", False),
        (("GPT-*",), "gpt-4o", False),
        ((), "gpt-4o", False),
        (("a", "b"), "b", True),
    ],
)
def test_a_key_may_use_what_one_of_its_patterns_fits(patterns: tuple[str, ...], model: str, allowed: bool) -> None:
    assert key_may_use(ClientKey(1, "app", models=patterns), model) is allowed


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(auth, "limiter", RateLimiter(clock))
    return clock


def test_a_key_over_its_rate_is_429_until_its_oldest_request_is_a_minute_old(clock: Clock) -> None:
    limited, sent = table(requests_per_minute=2), headers(x_api_key=SECRET)
    authenticate(sent, limited, "chat")
    clock.now += 20
    authenticate(sent, limited, "chat")
    clock.now += 10
    error = refusal(sent, limited)
    assert (error.status, error.code, error.retry_after) == (429, "rate_limit_exceeded", 30)
    clock.now += 30
    authenticate(sent, limited, "chat")
    assert refusal(sent, limited).retry_after == 20


def test_refused_requests_do_not_count(clock: Clock) -> None:
    limited, sent = table(requests_per_minute=1), headers(x_api_key=SECRET)
    authenticate(sent, limited, "chat")
    for _ in range(5):
        clock.now += 10
        refusal(sent, limited)
    clock.now += 10
    authenticate(sent, limited, "chat")


def test_a_lowered_limit_holds_for_requests_already_made(clock: Clock) -> None:
    sent = headers(x_api_key=SECRET)
    for _ in range(5):
        authenticate(sent, table(requests_per_minute=5), "chat")
        clock.now += 1
    assert refusal(sent, table(requests_per_minute=2)).retry_after == pytest.approx(58)


def test_reading_state_is_not_limited(clock: Clock) -> None:
    limited = table(requests_per_minute=1, scopes=frozenset({"chat", "read"}))
    for _ in range(3):
        authenticate(headers(x_api_key=SECRET), limited, "read")


def test_a_key_without_a_limit_is_not_counted(clock: Clock) -> None:
    for _ in range(100):
        authenticate(headers(x_api_key=SECRET), table(), "chat")
    assert not auth.limiter._taken
