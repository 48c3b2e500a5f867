"""What a row wants of the requests that its providers were sent."""

import json
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from .play import Play
from .provider import Asked
from .values import camel, contains, differs, find, objects

Json = Any
Problem = str | None


def _json_contains(want: dict[str, Json], call: Asked, play: Play) -> Problem:
    """Each key somewhere in the body with that value; Gemini takes camelCase and snake_case alike."""
    kind = next(one["kind"] for one in play.row.row["upstreams"] if one["name"] == call.provider)
    sent, want = (camel(call.json()), camel(want)) if kind == "gemini" else (call.json(), want)
    wrong = [key for key, value in want.items() if not any(contains(found, value) for found in find(sent, key))]
    return f"{wrong} in {call.body[:500]!r}" if wrong else None


def _json_absent(want: list[str], call: Asked, play: Play) -> Problem:
    return next((f"{key} was sent" for key in want if list(find(call.json(), key))), None)


def _as_the_client_sent(want: list[str], call: Asked, play: Play) -> Problem:
    sent = {key: value for key, value in call.json().items() if key not in want}
    original = {key: value for key, value in play.row.row["request"].items() if key not in want}
    if "stream" not in original and sent.get("stream") is False:
        del sent["stream"]
    return differs(sent, original)


def _no_empty_text(want: bool, call: Asked, play: Play) -> Problem:
    sent = call.json()
    empty = any(not str(one.get("text", "")).strip() for one in objects(sent) if one.get("type") == "text")
    bare = sent.get("system") == "" or any(message.get("content") == "" for message in sent.get("messages", []))
    return f"an empty text block in {sent}" if empty or bare else None


def _blocks(kind: str, key: str) -> Callable[[Json, Asked, Play], Problem]:
    def check(want: Json, call: Asked, play: Play) -> Problem:
        found = [block.get(key) for block in objects(call.json()) if block.get("type") == kind]
        return None if want in found else f"{kind} {key}: {found}"

    return check


def _json_max(want: dict[str, int], call: Asked, play: Play) -> Problem:
    sent = call.json()
    for key, limit in want.items():
        value = sent.get(key, sent.get("max_completion_tokens") if key == "max_tokens" else None)
        if not isinstance(value, int) or value > limit:
            return f"{key} is {value}"
    return None


def _json_positive(want: list[str], call: Asked, play: Play) -> Problem:
    sent = call.json()
    return next((f"{key} is {sent.get(key)}" for key in want if type(sent.get(key)) is not int or sent[key] < 1), None)


def _headers_equal(want: dict[str, str], call: Asked, play: Play) -> Problem:
    expanded = {name: play.row.expand(value, play.now()) for name, value in want.items()}
    return next(
        (f"{name}: {call.header(name)}" for name, value in expanded.items() if call.header(name) != [value]), None
    )


def _headers_not_containing(want: list[str], call: Asked, play: Play) -> Problem:
    sent = [call.target, *(f"{name}: {value}" for name, value in call.headers)]
    return next((f"sent {line!r}" for line in sent for part in want if part in line), None)


def _roles_absent(want: list[str], call: Asked, play: Play) -> Problem:
    roles = {message.get("role") for message in call.json().get("messages", [])}
    return f"roles {roles}" if roles & set(want) else None


def _contains_text(want: list[str], call: Asked, play: Play) -> Problem:
    sent = json.dumps(call.json(), ensure_ascii=False)
    return next((f"no {text!r} in {sent[:500]}" for text in want if text not in sent), None)


REQUEST_CHECKS: dict[str, Callable[[Json, Asked, Play], Problem]] = {
    "json_contains": _json_contains,
    "json_contains_text": _contains_text,
    "json_absent": _json_absent,
    "json_absent_roles": _roles_absent,
    "json_equals_original_except": _as_the_client_sent,
    "json_max": _json_max,
    "json_positive": _json_positive,
    "no_empty_text_blocks": _no_empty_text,
    "tool_use_input": _blocks("tool_use", "input"),
    "tool_result_for": _blocks("tool_result", "tool_use_id"),
    "headers_present": lambda want, call, _: next((f"no {name}" for name in want if not call.header(name)), None),
    "headers_absent": lambda want, call, _: next((f"{name} was sent" for name in want if call.header(name)), None),
    "headers_equal": _headers_equal,
    "headers_equal_host": lambda _, call, play: differs(call.header("host"), [f"127.0.0.1:{play.providers.port}"]),
    "headers_not_containing": _headers_not_containing,
}


def check_calls(want: dict[str, dict[str, Json]], play: Play) -> Iterator[str]:
    for slug, checks in want.items():
        calls = play.providers.calls[slug]
        if not calls:
            yield f"no call of {slug}"
        for call, (key, value) in product(calls, checks.items()):
            if problem := REQUEST_CHECKS[key](value, call, play):
                yield f"{slug} {key}: {problem}"
