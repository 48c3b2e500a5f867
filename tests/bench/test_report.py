"""The benchmark's own reckoning; nothing is measured here."""

import json
import os
from pathlib import Path

import pytest

from tests.bench.measure import Memory, Plain, Sizes, Streamed, summary
from tests.bench.plain_load import Burst, read
from tests.bench.processes import BenchError, family, rss_megabytes
from tests.bench.report import Report, translation_lines, translation_targets
from tests.bench.translation import Cost, Translation, measure


def plain(per_second: float) -> Plain:
    return Plain(1000, per_second, 0.001, 0.002, 0.0005, 600.0, 0)


def report(gateway: float, nginx: float) -> Report:
    streamed = Streamed(6400, 0.01, 0.001, 0.002, 90.0)
    plains = {"upstream": plain(50_000), "nginx": plain(nginx), "gateway": plain(gateway)}
    streams = {"upstream": streamed, "nginx": streamed, "gateway": streamed}
    return Report(Sizes(), plains, streams, Memory(100_000, 90.0, 201.0, 100_000, 0), 0.1)


def test_the_rate_promised_is_1200_or_a_tenth_of_nginx_whichever_is_lower() -> None:
    assert [(t.promised, t.met) for t in report(1300, 20_000).targets()] == [
        (1200.0, True),
        (170.0, True),
        (200.0, False),
    ]
    assert (report(800, 9_000).targets()[0].promised, report(800, 9_000).targets()[0].met) == (900.0, False)


def test_a_run_is_kept_as_json_and_shown_as_a_table(tmp_path: Path) -> None:
    made = report(2_000, 20_000)
    kept = json.loads(made.write(tmp_path).read_text())
    assert kept["ratio_to_nginx"] == 0.1
    assert kept["plain"]["gateway"]["cpu_us_per_request"] == 600.0
    assert "10.0%" in made.table()
    assert "MISSED  MB resident after 100,000 requests: 201.0 (promised 200.0)" in made.table()


def test_the_median_round_counts_and_all_requests_are_added_up() -> None:
    rounds = [(Burst(requests, 1.0, 0.1, 0.2, 1), float(requests)) for requests in (300, 100, 200)]
    made = summary(rounds, Burst(10, 1.0, 0.05, 0.06, 0), 5)
    assert (made.per_second, made.cpu_us_per_request, made.alone_p50) == (200.0, 200.0, 0.05)
    assert (made.requests, made.failed) == (615, 3)


def test_a_run_with_failures_is_refused() -> None:
    figures = {"requests": 1000, "seconds": 1.0, "p50": 0.1, "p99": 0.2, "bad_status": 11, "broken": 0}
    with pytest.raises(BenchError, match="11 of 1000"):
        read(figures, "http://h")
    assert read(figures | {"bad_status": 10}, "http://h").failed == 10


def test_a_process_is_measured_with_its_descendants() -> None:
    assert os.getpid() in family(os.getpid())
    assert rss_megabytes(os.getpid()) > 1


def test_translations_are_judged_by_the_dearest_over_passing_on() -> None:
    passed_on = Cost(100.0, 5.0)
    cheap = Translation("/v1/messages", "openai", Cost(150.0, 50.0), passed_on)
    dear = Translation("/v1/messages", "gemini", Cost(401.0, 8.0), passed_on)
    assert [(target.measured, target.met) for target in translation_targets([cheap, dear])] == [
        (301.0, False),
        (45.0, False),
    ]
    assert [target.met for target in translation_targets([Translation("/v1/x", "y", passed_on, passed_on)])] == [
        True
    ] * 2
    assert "limits: 300 a request, 40 an event" in translation_lines([cheap])[1]
    assert "messages to openai" in translation_lines([cheap])[-1]
    assert dear.document()["over"] == {"us_per_request": 301.0, "us_per_event": 3.0}


def test_every_translation_can_be_measured() -> None:
    found = measure(rounds=1, number=1)
    assert {"chat to anthropic", "chat to gemini", "messages to openai", "messages to gemini"} <= {
        translation.name for translation in found
    }
    assert all(translation.cost.request > 0 for translation in found)
