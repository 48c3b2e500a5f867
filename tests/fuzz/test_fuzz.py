"""A little of `make fuzz`, the same each time."""

from random import Random

import pytest

from tests.fuzz.run import TARGETS, Target, run
from tests.fuzz.streams import Stream, specified

INPUTS = {"hints": 3_000, "errors": 1_000, "streams": 2_000, "requests": 2_000}


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_makes_it_stumble(name: str) -> None:
    target, chance = TARGETS[name], Random()
    for seed in range(INPUTS[name]):
        chance.seed(seed)
        target.check(target.make(chance))


def test_the_reader_that_ours_is_compared_with_follows_the_specification() -> None:
    # the examples of the specification's section 9.2.6
    assert specified(b"data: YHOO\ndata: +2\ndata: 10\n\n") == [(b"YHOO\n+2\n10", b"")]
    stream = b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"
    assert [data for data, _ in specified(stream)] == [None, b"first event", b"second event", b" third event"]
    assert specified(b"data\n\ndata\ndata\n\ndata:") == [(b"", b""), (b"\n", b"")]
    assert specified(b"event: add\ndata: 73857293\n\n") == [(b"73857293", b"add")]


def test_what_goes_wrong_is_found_and_can_be_repeated() -> None:
    def check(given: Stream) -> None:
        if b"needle" in given.chunks:
            raise ValueError("found it")

    broken = Target("x", lambda chance: Stream([chance.choice((b"needle", b"hay"))]), check)
    *_, report = run(broken, 5, 100)
    [(seed, story)] = report.findings.values()
    assert report.inputs == 100
    assert "found it" in story
    *_, again = run(broken, seed, 1)
    assert (again.inputs, len(again.findings)) == (1, 1)
