"""What a row wants of the answers that its client got. A check returns what is wrong, or None."""

import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.routing.engine.harness import Answer

from .chatstream import ChatStream
from .values import as_list, contains, differs, walk

Json = Any
Problem = str | None


def body(answer: Answer) -> str:
    return answer.body.decode("utf-8", "replace")


def document(answer: Answer) -> Json:
    try:
        return json.loads(answer.body)
    except ValueError:
        return None


def _status(want: Json, answer: Answer) -> Problem:
    return None if answer.status in as_list(want) else f"{answer.status} instead of {want}: {body(answer)[:300]}"


def _json(want: dict[str, Json], answer: Answer) -> Problem:
    wrong = [path for path, value in want.items() if walk(document(answer), path) != value]
    return f"{wrong[0]} is {walk(document(answer), wrong[0])!r}" if wrong else None


def _json_error(want: bool, answer: Answer) -> Problem:
    """The error object of the contract; nothing is asked of a success."""
    if answer.status is not None and answer.status < 400:
        return None
    error = walk(document(answer), "error")
    whole = (
        isinstance(error, dict)
        and error.get("message")
        and isinstance(error.get("type"), str)
        and {"code", "param"} <= error.keys()
        and walk(error, "omniroute.request_id")
    )
    return None if whole else f"no error object: {body(answer)[:200]}"


def _error_code(want: Json, answer: Answer) -> Problem:
    code = walk(document(answer), "error.code")
    return None if code in as_list(want) else f"{code} instead of {want}"


def _headers(want: dict[str, Json], answer: Answer) -> Problem:
    for name, value in want.items():
        found = answer.headers.get(name)
        if isinstance(value, list):
            right = found is not None and value[0] <= float(found) <= value[1]
        else:
            right = found is not None and value in (found, found.partition(";")[0].strip())
        if not right:
            return f"{name} is {found!r} instead of {value}"
    return None


def _headers_consistent(want: bool, answer: Answer) -> Problem:
    if "content-length" in answer.headers and int(answer.headers["content-length"]) != len(answer.body):
        return "content-length is of another body"
    if answer.headers.get("content-encoding") in (None, "identity"):
        return None
    try:
        gzip.decompress(answer.body)
    except OSError:
        return "content-encoding is of another body"
    return None


def _stream(want: dict[str, Json], answer: Answer) -> Problem:
    if answer.status != 200:
        return f"status {answer.status}, no stream"
    got = ChatStream(body(answer))
    problems = [f"{key}: {problem}" for key, value in want.items() if (problem := STREAM_CHECKS[key](value, got))]
    if got.after_done:
        problems.append("something follows [DONE]")
    return f"{'; '.join(problems)} in {got.raw[-600:]}" if problems else None


def _tool_calls(want: list[Json], got: ChatStream) -> Problem:
    ids = [tool["id"] for tool in got.tools.values()]
    if [call["index"] for call in want] != sorted(got.tools) or not all(ids) or len(set(ids)) < len(ids):
        return f"{got.tools}"
    for call in want:
        tool = got.tools[call["index"]]
        if any(call[key] != tool[key] for key in ("id", "name", "arguments") if key in call):
            return f"{tool} instead of {call}"
        if "arguments_json" in call and json.loads(tool["arguments"] or "null") != call["arguments_json"]:
            return f"arguments {tool['arguments']}"
    return None


def _usage_chunk(want: Json, got: ChatStream) -> Problem:
    if not want:
        return f"unasked: {got.usage_chunks[0]}" if got.usage_chunks else None
    right = len(got.usage_chunks) == 1 and contains(got.usage_chunks[0], want)
    return None if right else f"{got.usage_chunks}"


def _logprob_tokens(want: list[str], got: ChatStream) -> Problem:
    if any(entry.get("top_logprobs") != [] for entry in got.logprobs):
        return "top_logprobs [] was lost"
    return differs([entry.get("token") for entry in got.logprobs], want)


def _in_order(by_choice: dict[int, Json]) -> list[Json]:
    return [by_choice[index] for index in sorted(by_choice)]


STREAM_CHECKS: dict[str, Callable[[Json, ChatStream], Problem]] = {
    "text": lambda want, got: differs(got.texts.get(0, ""), want),
    "texts": lambda want, got: differs(_in_order(got.texts), want),
    "done": lambda want, got: differs(got.done, want),
    "error_event": lambda want, got: differs(bool(got.errors), want),
    "error_code": lambda want, got: differs(walk(got.errors, "0.code"), want),
    "finish_reason": lambda want, got: differs(got.finish_reasons.get(0, [None])[-1], want),
    "finish_reasons": lambda want, got: differs([last for *_, last in _in_order(got.finish_reasons)], want),
    "finish_reason_count": lambda want, got: differs(len(got.finish_reasons.get(0, [])), want),
    "tool_calls": _tool_calls,
    "usage_chunk": _usage_chunk,
    "logprob_tokens": _logprob_tokens,
    "all_data_json": lambda want, got: differs(got.undecodable, []),
    "raw_contains": lambda want, got: next((f"no {part}" for part in want if part not in got.raw), None),
}
ANSWER_CHECKS: dict[str, Callable[[Json, Answer], Problem]] = {
    "status": _status,
    "served_by": lambda want, answer: differs(answer.served_by, want),
    "body_contains": lambda want, answer: None if want in body(answer) else f"no {want!r} in {body(answer)[:300]}",
    "body_not_contains": lambda want, answer: f"{want!r} in {body(answer)[:300]}" if want in body(answer) else None,
    "json": _json,
    "json_error": _json_error,
    "error_code": _error_code,
    "headers": _headers,
    "headers_present": lambda want, answer: next((f"no {name}" for name in want if name not in answer.headers), None),
    "headers_absent": lambda want, answer: next((f"{name} is there" for name in want if name in answer.headers), None),
    "headers_consistent": _headers_consistent,
    "stream": _stream,
}


def check_answers(expect: dict[str, Json], answers: list[Answer]) -> Iterator[tuple[str, str]]:
    """What is wrong with the answers: the expectation, and why it does not hold."""
    for number, answer in enumerate(answers, 1):
        if not answer.complete:
            yield "http", f"answer {number} has no end"
        for key, check in ANSWER_CHECKS.items():
            if key in expect and (problem := check(expect[key], answer)):
                yield key, f"answer {number}: {problem}"
    for slug, count in expect.get("served_by_counts", {}).items():
        if problem := differs([answer.served_by for answer in answers].count(slug), count):
            yield "served_by_counts", problem
