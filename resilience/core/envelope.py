"""Read an error envelope of any make: its codes, its message, the status it names. Only the envelope, never an answer.

Providers disagree on everything: `code` is a string, an int or a status; `error` is an object, a string or a list;
aggregators put the upstream's body as a string into a member of their own. So the members that usually say something
are collected from the few levels that an envelope has, and the tables of `error_tables.py` judge what was found.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

PARSED_BYTES = 1_048_576
"""A larger body is not parsed; nobody writes an error of a megabyte."""
TEXT_LENGTH = 4_096
NODES = 40
CODE_LENGTH = 100
ERROR_STATUSES = range(400, 600)

CODE_MEMBERS = ("code", "error_code", "errorCode", "type", "status", "status_code", "statusCode", "reason", "__type")
MESSAGE_MEMBERS = (
    *("message", "msg", "detail", "error", "error_description", "error_msg", "status_msg"),
    *("title", "raw", "description", "reasons"),
)
NESTED_MEMBERS = (
    *("error", "errors", "detail", "details", "message", "innererror", "inner_error"),
    *("metadata", "raw", "violations", "base_resp", "response"),
)
SAYS_NOTHING = frozenset({"error", "errors", "none", "null", ""})

HALF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
"""Escapes that may stand for half a character, which no other text can hold; half ones become question marks."""

_TITLE = re.compile(r"<title[^>]{0,100}>([^<]{1,200})", re.IGNORECASE)
_PER_DAY = ("perday", "permonth", "per_day", "per_month")
_PER_MINUTE = ("perminute", "perhour", "persecond", "per_minute")
PER_DAY_QUOTA = "quota:per_day"
PER_MINUTE_QUOTA = "quota:per_minute"
"""Codes of ours for what Google hides in a quota's name."""


@dataclass(slots=True)
class Envelope:
    """What an error says of itself. Codes are in lower case."""

    codes: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    status: int | None = None
    param: str | None = None
    """The member of the request that it is about, as OpenAI's format names it."""
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of the upstream behind an aggregator, lower-case names."""
    model_scope: bool = False
    page: bool = False
    """Not JSON: a page of a front proxy, or plain text."""

    @property
    def text(self) -> str:
        """All that is said, for the patterns; bounded."""
        return " \n".join(self.messages)[:TEXT_LENGTH]


def decode(body: bytes) -> object | None:
    """The JSON value of a body, also of an event stream's first event; None if there is none."""
    if len(body) > PARSED_BYTES:
        return None
    text = body.decode("utf-8-sig", errors="replace").strip()
    if text.startswith(("data:", "event:")):
        text = next((line[5:] for line in text.split("\n") if line.startswith("data:")), "")
    return parsed(text)


def read(document: object, body: bytes = b"") -> Envelope:
    """What the error says. `document` is the decoded body, None if it could not be decoded (then `body` is read)."""
    envelope = Envelope()
    if document is None:
        if page := _page_text(body):
            envelope.page = True
            envelope.messages.append(page)
        return envelope
    level, seen = [document], 0
    while level:
        deeper: list[object] = []
        for node in level[: NODES - seen]:
            seen += 1
            if isinstance(node, dict):
                _read_members(envelope, node)
                deeper.extend(_nested(node))
            elif isinstance(node, list):
                deeper.extend(node[:NODES])
            elif isinstance(node, str) and len(level) <= NODES and node.strip():
                _add_message(envelope, node)
        level = deeper if seen < NODES else []
    return envelope


def parsed(text: str) -> object | None:
    """The JSON value of a text, None if it is none. Every text in it can be written down."""
    try:
        document: object = json.loads(text)
        if HALF_A_PAIR.search(text):
            document = json.loads(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):  # not JSON, ints beyond Python's limit, nested beyond the stack
        return None
    return document


def _page_text(body: bytes) -> str:
    """The title of an HTML page, or the beginning of a text."""
    text = body[: TEXT_LENGTH * 2].decode("utf-8", errors="replace")
    if "<" in text and (found := _TITLE.search(text)):
        return " ".join(found[1].split())
    if text.lstrip()[:1] == "<":
        return "a page instead of an answer"
    return " ".join(text.split())[:TEXT_LENGTH]


def _read_members(envelope: Envelope, node: Mapping[str, object]) -> None:
    for name in CODE_MEMBERS:
        if (value := node.get(name)) is not None:
            _add_code(envelope, value)
    for name in MESSAGE_MEMBERS:
        value = node.get(name)
        for text in value[:NODES] if isinstance(value, list) else (value,):
            if isinstance(text, str):
                _add_message(envelope, text)
    _read_quota(envelope, node)
    _read_param(envelope, node.get("param"))
    headers = node.get("headers")
    if isinstance(headers, dict):
        for name, value in list(headers.items())[:NODES]:
            envelope.headers.setdefault(str(name).lower(), str(value)[:CODE_LENGTH])


def _add_code(envelope: Envelope, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return
    if isinstance(value, int) and abs(value) > 10**9:
        return  # no code; and an int of 5,000 digits cannot even be printed
    code = str(value).strip().rpartition("#")[2].lower()
    if code in SAYS_NOTHING or len(code) > CODE_LENGTH:
        return
    if code.isascii() and code.isdigit() and len(code) == len("429") and int(code) in ERROR_STATUSES:
        envelope.status = envelope.status or int(code)
    if code not in envelope.codes:
        envelope.codes.append(code)


def _read_param(envelope: Envelope, value: object) -> None:
    if envelope.param is None and isinstance(value, str) and 0 < len(value) <= CODE_LENGTH:
        envelope.param = value


def _add_message(envelope: Envelope, value: str) -> None:
    text = value[:TEXT_LENGTH].strip()
    if text and text not in envelope.messages:
        envelope.messages.append(text)


def _read_quota(envelope: Envelope, node: Mapping[str, object]) -> None:
    """Google: a quota is named after its period, `GenerateRequestsPerDayPerProjectPerModel-FreeTier`."""
    names = [node[name] for name in ("quotaId", "quota_limit", "quotaMetric", "quota_metric") if name in node]
    name = " ".join(value for value in names if isinstance(value, str)).lower()
    if any(period in name for period in _PER_DAY):
        envelope.codes.append(PER_DAY_QUOTA)
    elif any(period in name for period in _PER_MINUTE):
        envelope.codes.append(PER_MINUTE_QUOTA)
    dimensions = node.get("quotaDimensions")
    named = isinstance(dimensions, dict) and "model" in dimensions
    if named or "permodel" in name or "per_model" in name or ("quotaResetDelay" in node and "model" in node):
        envelope.model_scope = True


def _nested(node: Mapping[str, object]) -> Iterator[object]:
    """The members that may hold more of the envelope, a body in a string included."""
    for name in NESTED_MEMBERS:
        value = node.get(name)
        if isinstance(value, dict | list):
            yield value
        elif isinstance(value, str) and value.lstrip()[:1] in {"{", "["} and len(value) <= PARSED_BYTES:
            inner = parsed(value)
            if isinstance(inner, dict | list):
                yield inner
