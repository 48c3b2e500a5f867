"""Chat messages as turns: what every other format is built from.

system, developer (also late ones) ──► system
user · tool                        ──► user turns       neighbours of one role become one turn,
assistant with its tool calls      ──► assistant turns  and what is empty is left out
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import orjson

from routing.adapters.parts import Media, Text, read_parts
from routing.errors import invalid_request


class Call(NamedTuple):
    """The assistant calls a tool. `signature` is Gemini's, kept by clients in the call's `extra_content`."""

    id: str
    name: str
    arguments: dict[str, Any]
    signature: str = ""


class Result(NamedTuple):
    """What a tool gave. `name` is empty if no call with this id came before and the message does not say."""

    call_id: str
    name: str
    parts: list[Text | Media]
    where: str


OPENING = "(The conversation begins with the assistant.)"  # elsewhere the first turn is the user's, and not empty

Part: TypeAlias = Text | Media | Call | Result


class Turn(NamedTuple):
    """What one side said. Role user or assistant; never empty."""

    role: str
    parts: list[Part]


class Conversation(NamedTuple):
    """A request's messages. Turns alternate, and the first is the user's."""

    system: list[Text]
    turns: list[Turn]

    @property
    def in_tool_loop(self) -> bool:
        """The model is to go on from the results of its own calls."""
        return bool(self.turns) and any(isinstance(part, Result) for part in self.turns[-1].parts)


def read_conversation(messages: Sequence[Mapping[str, Any]]) -> Conversation:
    """Raises GatewayError 400 with the offending member as `param`."""
    reader = _Reader()
    for number, message in enumerate(messages):
        reader.take(message, f"messages[{number}]")
    conversation = Conversation(reader.system, reader.turns)
    if not conversation.turns:
        if not conversation.system:
            raise invalid_request("`messages` are all empty.", "messages")
        # Other formats want at least one turn, and a lone instruction means: act on it
        return Conversation([], [Turn("user", list(conversation.system))])
    if conversation.turns[0].role != "user":
        conversation.turns.insert(0, Turn("user", [Text(OPENING)]))
    return conversation


class _Reader:
    """Takes one message after the other."""

    def __init__(self) -> None:
        self.system: list[Text] = []
        self.turns: list[Turn] = []
        self._calls: dict[str, Call] = {}  # by the id the client uses; some providers use an id again in a later turn
        self._ids: set[str] = set()

    def take(self, message: Mapping[str, Any], where: str) -> None:
        """Add a message."""
        match message["role"]:
            case "user":
                self._add("user", read_parts(message.get("content"), f"{where}.content"))
            case "assistant":
                self._add("assistant", self._assistant(message, where))
            case "tool":
                self._add("user", [self._result(message, where)])
            case "system" | "developer":
                self.system += _system(message, where)
            case role:
                raise invalid_request(f"`{where}.role` {role!r} is not known to this target.", f"{where}.role")

    def _add(self, role: str, parts: Sequence[Part]) -> None:
        if not parts:
            return
        if self.turns and self.turns[-1].role == role:
            self.turns[-1].parts.extend(parts)
        else:
            self.turns.append(Turn(role, list(parts)))

    def _assistant(self, message: Mapping[str, Any], where: str) -> list[Part]:
        parts: list[Part] = [*read_parts(message.get("content"), f"{where}.content")]
        refusal = message.get("refusal")
        if not parts and isinstance(refusal, str) and refusal.strip():
            parts.append(Text(refusal))
        if message.get("function_call"):
            raise invalid_request("The old form: send `tool_calls`.", f"{where}.function_call")
        calls = message.get("tool_calls")
        if calls is None:
            return parts
        if not isinstance(calls, list):
            raise invalid_request(f"`{where}.tool_calls` must be a list.", f"{where}.tool_calls")
        return parts + [self._call(call, f"{where}.tool_calls[{number}]") for number, call in enumerate(calls)]

    def _call(self, call: Any, where: str) -> Call:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(name := function.get("name"), str) or not name:
            raise invalid_request(f"`{where}.function.name` is missing.", f"{where}.function.name")
        given = call.get("id")
        if not isinstance(given, str) or not given:
            raise invalid_request(f"`{where}.id` is missing.", f"{where}.id")
        unique, again = given, 1
        while unique in self._ids:
            again += 1
            unique = f"{given}_{again}"
        self._ids.add(unique)
        arguments = function.get("arguments")
        if not isinstance(arguments, dict):
            arguments = read_arguments(arguments, f"{where}.function.arguments")
        signature = _signature(call) if "extra_content" in call else ""
        taken = self._calls[given] = Call(unique, name, arguments, signature)
        return taken

    def _result(self, message: Mapping[str, Any], where: str) -> Result:
        given = message.get("tool_call_id")
        if not isinstance(given, str) or not given:
            raise invalid_request(f"`{where}.tool_call_id` is missing.", f"{where}.tool_call_id")
        parts = read_parts(message.get("content"), f"{where}.content")
        call = self._calls.get(given)
        if call is None:
            name = message.get("name")
            return Result(given, name if isinstance(name, str) else "", parts, where)
        return Result(call.id, call.name, parts, where)


def _system(message: Mapping[str, Any], where: str) -> list[Text]:
    parts = read_parts(message.get("content"), f"{where}.content")
    texts = [part for part in parts if isinstance(part, Text)]
    if len(texts) < len(parts):
        raise invalid_request(f"`{where}.content` must be text.", f"{where}.content")
    return texts


def read_arguments(given: Any, where: str) -> dict[str, Any]:
    """A call's arguments, which OpenAI writes as a JSON text, as the object that every other format has."""
    if given is None or (isinstance(given, str) and not given.strip()):
        return {}
    try:
        arguments = orjson.loads(given)
    except orjson.JSONDecodeError as error:
        raise invalid_request(f"`{where}` is not JSON: {error}.", where) from error
    if not isinstance(arguments, dict):
        raise invalid_request(f"`{where}` must be a JSON object.", where)
    return arguments


def _signature(call: Mapping[str, Any]) -> str:
    """Where Google's own OpenAI endpoint, and so ours, puts the signature of a thought before a call."""
    extra = call.get("extra_content")
    google = extra.get("google") if isinstance(extra, dict) else None
    signature = google.get("thought_signature") if isinstance(google, dict) else None
    return signature if isinstance(signature, str) else ""
