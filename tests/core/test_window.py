"""The sliding window of calls and failures."""

import json
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from resilience.core.window import BUCKETS, Window
from tests.core.short_runs import SHORT

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MINUTE = timedelta(seconds=60)


def test_calls_leave_the_window_with_time() -> None:
    window = Window.EMPTY.add(NOW, MINUTE, 3, 1).add(NOW + timedelta(seconds=30), MINUTE, 2, 2)
    assert window.totals(NOW + timedelta(seconds=30), MINUTE) == (5, 3)
    assert window.totals(NOW + timedelta(seconds=70), MINUTE) == (2, 2)
    assert window.totals(NOW + timedelta(seconds=100), MINUTE) == (0, 0)


def test_a_window_that_is_added_to_forgets_what_has_left_it() -> None:
    window = Window.EMPTY
    for second in range(1000):
        window = window.add(NOW + timedelta(seconds=second), MINUTE)
    assert len(window.buckets) <= BUCKETS + 2
    assert 60 <= window.totals(NOW + timedelta(seconds=999), MINUTE)[0] <= 64


def test_a_clock_that_goes_back_keeps_the_window_small_and_recent_calls_counted() -> None:
    window = Window.EMPTY.add(NOW, MINUTE, 5, 5)
    for second in range(200):
        window = window.add(NOW - timedelta(days=1) + timedelta(seconds=second), MINUTE, 1, 0)
    assert len(window.buckets) <= 2 * BUCKETS + 4
    calls, failures = window.totals(NOW - timedelta(days=1) + timedelta(seconds=199), MINUTE)
    assert (60 <= calls <= 64, failures) == (True, 0)


def test_a_small_step_back_loses_nothing() -> None:
    window = Window.EMPTY.add(NOW, MINUTE).add(NOW - timedelta(seconds=10), MINUTE).add(NOW, MINUTE)
    assert window.totals(NOW, MINUTE) == (3, 0)
    assert window.buckets == tuple(sorted(window.buckets))


def test_merging_adds_what_two_processes_counted() -> None:
    one = Window.EMPTY.add(NOW, MINUTE, 2, 1).add(NOW + timedelta(seconds=9), MINUTE, 1, 1)
    two = Window.EMPTY.add(NOW, MINUTE, 3, 0)
    assert one.merge(two) == two.merge(one)
    assert one.merge(two).totals(NOW + timedelta(seconds=9), MINUTE) == (6, 2)
    assert one.merge(Window.EMPTY) is one
    assert Window.EMPTY.merge(one) is one


def test_a_window_survives_json() -> None:
    window = Window.EMPTY.add(NOW, MINUTE, 2, 1)
    assert Window.from_json(json.loads(json.dumps(window.to_json()))) == window


@SHORT
@given(
    steps=st.lists(st.tuples(st.integers(-100, 100), st.integers(0, 3), st.integers(0, 3)), max_size=30),
    seconds=st.floats(0.1, 900),
)
def test_a_window_never_counts_more_than_was_added(steps: list[tuple[int, int, int]], seconds: float) -> None:
    window, now, total = Window.EMPTY, NOW, 0
    for step, calls, failures in steps:
        now += timedelta(seconds=step)
        window = window.add(now, timedelta(seconds=seconds), calls, min(calls, failures))
        total += calls
        counted, failed = window.totals(now, timedelta(seconds=seconds))
        assert calls <= counted <= total
        assert failed <= counted
