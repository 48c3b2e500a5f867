"""All that a row wants, against all that happened: answers, upstream calls, and the state API's three layers."""

import json
from collections.abc import Iterator
from typing import Any

from resilience import status

from .judge_answers import ANSWER_CHECKS, check_answers
from .judge_calls import check_calls
from .play import Play
from .values import as_list

Json = Any
Findings = Iterator[tuple[str, str]]

TIMES = {"time_s"}
"""Not looked at: no test asserts a timing, and what would hang runs into the player's patience."""
TASTE = {"cooldown_s_preferred"}
STATE_KEYS = {"upstream_calls", "upstream_request", "upstream_cancelled_s", "breaker", "cooldown_s", "lockout"}
KNOWN = {*ANSWER_CHECKS, *STATE_KEYS, *TIMES, *TASTE, "served_by_counts", "any_of", "soft"}
ALIKE = {"transient": {"transient", "overloaded", "timeout"}}


def judge(play: Play) -> list[str]:
    """What does not hold; matters of taste left out."""
    expect = json.loads(play.row.expand(json.dumps(play.row.row["expect"]), play.now()))
    unknown = {*expect, *(key for step in play.row.steps for key in step.get("expect") or {})} - KNOWN
    assert not unknown, f"nobody looks at {unknown}"
    state = dict(status.snapshot(play.now()))
    soft = expect.get("soft", [])
    found = list(_expectation(expect, play, state))
    for step in play.steps:
        if step.expect is not None:
            found += [(key, f"step {step.number}: {why}") for key, why in check_answers(step.expect, step.answers)]
    if alternatives := expect.get("any_of"):
        tried = [list(_expectation(one, play, state)) for one in alternatives]
        if all(tried):
            found.append(("any_of", f"{tried}"))
    found += _always(play)
    return [f"{path}: {why}" for path, why in found if not any(f"{path}.".startswith(f"{one}.") for one in soft)]


def _always(play: Play) -> Findings:
    """The headers that every answer carries."""
    for answer in (answer for step in play.steps for answer in step.answers):
        names = ["request-id", "chain", "attempts"]
        if answer.status is not None and answer.status < 400:
            names += ["provider", "connection", "model", "fallback"]
        if missing := [name for name in names if f"x-omniroute-{name}" not in answer.headers]:
            yield "contract", f"status {answer.status} without {missing}"
    if not any(step.left for step in play.steps):
        answers = [answer for step in play.steps for answer in step.answers]
        told = sum(int(answer.headers.get("x-omniroute-attempts", 0)) for answer in answers)
        made = sum(map(len, play.providers.calls.values()))
        if told != made:
            yield "contract", f"{told} attempts were told, {made} calls made"


def _expectation(expect: dict[str, Json], play: Play, state: dict[str, Json]) -> Findings:
    for step in play.steps:
        if step.expect is None and not step.background:
            yield from check_answers(expect, step.answers)
    for slug, count in expect.get("upstream_calls", {}).items():
        if count != len(play.providers.calls[slug]):
            yield "upstream_calls", f"{slug} was called {len(play.providers.calls[slug])} times instead of {count}"
    for slug in expect.get("upstream_cancelled_s", ()):
        if not all(call.given_up for call in play.providers.calls[slug]):
            yield "upstream_cancelled_s", f"a call of {slug} was not given up"
    for problem in check_calls(expect.get("upstream_request", {}), play):
        yield "upstream_request", problem
    for slug, fields in expect.get("breaker", {}).items():
        yield from _breaker(slug, fields, state)
    yield from _cooldowns(expect.get("cooldown_s", {}), state)
    if "lockout" in expect:
        yield from _lockouts(expect["lockout"], state)


def _breaker(slug: str, fields: dict[str, Json], state: dict[str, Json]) -> Findings:
    breaker = next(one for one in state["breakers"] if one["provider"] == slug)
    for key, want in fields.items():
        if key == "kind" and want is None:
            right = not breaker["failure_count"] and not breaker["window"]["failures"]
        elif key == "kind":
            right = bool(_kinds(breaker, state) & ALIKE.get(want, {want}))
        else:
            right = breaker[key] in as_list(want)
        if not right:
            yield f"breaker.{slug}.{key}", f"not {want}: {breaker}, kinds {_kinds(breaker, state)}"


def _kinds(breaker: Json, state: dict[str, Json]) -> set[str]:
    """Every kind under which a failure of this provider shows, in whichever layer."""
    seen = {breaker["last_failure_kind"], *breaker["kind_counts"]}
    seen |= {one["kind"] for one in state["cooldowns"] if one["provider"] == breaker["provider"]}
    seen |= {one["reason"] for one in state["lockouts"] if one["provider"] == breaker["provider"]}
    return seen - {None}


def _cooldowns(want: dict[str, Json], state: dict[str, Json]) -> Findings:
    """`p1` is the connection, `p1:model` the pair: there a lockout is as good as a cooldown."""
    for target, limits in want.items():
        slug, _, model = target.partition(":")
        found = [one for one in state["cooldowns"] if one["provider"] == slug]
        if model:
            found += [one for one in state["lockouts"] if (one["provider"], one["model"]) == (slug, model)]
        left = max((one["remaining"] for one in found), default=0)
        low, high = limits or (0, 0)
        if not low <= left <= high:
            yield f"cooldown_s.{target}", f"{left} s left, not in {limits}: {found}"


def _lockouts(want: dict[str, bool], state: dict[str, Json]) -> Findings:
    locked = {f"{one['provider']}:{one['model']}" for one in state["lockouts"]}
    wanted = {target for target, is_locked in want.items() if is_locked}
    if (locked & want.keys() if want else locked) != wanted:
        yield "lockout", f"locked: {locked}, not {want}"
