"""What has to be true while a database is away, and after it."""

from contextlib import AbstractContextManager

from tests.site.processes import KEY, until
from tests.stage import Json, Stage

THRESHOLD = 5  # failures that open a breaker
PROVIDERS: Json = {"breaker": {"failure_threshold": THRESHOLD, "reset_timeout": 600}, "lockout": {"max_attempts": 1000}}


def ask(stage: Stage) -> tuple[int, str | None]:
    """One request to a chain whose primary fails; who answered it."""
    connection = stage.gateway.connect()
    stage.gateway.ask(connection)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.getheader("x-omniroute-provider")


def gauge(stage: Stage, name: str) -> float:
    text = stage.gateway.get("/metrics", Authorization=f"Bearer {KEY}")[1].decode()
    return float(text.partition(f"\nomniroute_{name} ")[2].partition("\n")[0])


def survive(stage: Stage, outage: AbstractContextManager[None], *, shown: bool = True) -> None:
    """Open a breaker while the database is away. shown: pages that ask it still answer."""
    stage.control("primary-one", mode="error")
    already = len(stage.calls("primary-one"))
    assert ask(stage) == (200, "backup")
    with outage:
        answers = [ask(stage) for _ in range(THRESHOLD + 3)]
        assert answers == [(200, "backup")] * len(answers)
        assert len(stage.calls("primary-one")) - already == THRESHOLD
        if shown:
            assert (gauge(stage, "state_database_up"), gauge(stage, "state_backlog")) == (0, THRESHOLD - 1)
    until(lambda: gauge(stage, "state_backlog") == 0)
    breaker = stage.breaker("primary")
    assert (breaker["state"], breaker["kind_counts"]) == ("OPEN", {"transient": THRESHOLD})
    assert gauge(stage, "state_database_up") == 1
    until(lambda: gauge(stage, "request_log_waiting") == 0)
    assert gauge(stage, "request_log_dropped") == 0
    log = stage.gateway.output()
    assert "state.database_unreachable" in log
    assert "state.database_is_back" in log
