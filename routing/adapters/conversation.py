"""Chat messages as turns: what every other format is built from.

system, developer (also late ones) ──► system
user · tool                        ──► user turns       neighbours of one role become one turn,
assistant with its tool calls      ──► assistant turns  and what is empty is left out
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson

from routing.adapters.parts import Media, Text, read_parts
from routing.errors import GatewayError, invalid_request


@dataclass(slots=True)
class Call:
    """The assistant calls a tool. `signature` is Gemini's, kept by clients in the call's `extra_content`."""

    id: str
    name: str
    arguments: dict[str, Any]
    signature: str = ""


@dataclass(slots=True)
class Result:
    """What a tool gave. `name` is empty if no call with this id came before and the message does not say."""

    call_id: str
    name: str
    parts: list[Text | Media]
    message: int  # its number in the request, for complaints


OPENING = "(The conversation begins with the assistant.)"  # elsewhere the first turn is the user's, and not empty

Part: TypeAlias = Text | Media | Call | Result


@dataclass(slots=True)
class Turn:
    """What one side said. Role user or assistant; never empty."""

    role: str
    parts: list[Part]


@dataclass(slots=True)
class Conversation:
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
    for message in messages:
        reader.take(message)
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
    """Takes one message after the other. Places in the request are written out for complaints only."""

    def __init__(self) -> None:
        self.system: list[Text] = []
        self.turns: list[Turn] = []
        self._number = -1  # of the message
        self._role = ""  # of the last turn
        self._calls: dict[str, Call] = {}  # by the id the client uses; some providers use an id again in a later turn
        self._ids: set[str] = set()

    def take(self, message: Mapping[str, Any]) -> None:
        """Add a message."""
        self._number += 1
        role = message["role"]
        if role == "user":
            self._add(role, self._said(message))
        elif role == "assistant":
            self._add(role, self._assistant(message))
        elif role == "tool":
            self._add("user", [self._result(message)])
        elif role in ("system", "developer"):
            self._add_system(message)
        else:
            where = self._at("role")
            raise invalid_request(f"`{where}` {role!r} is not known to this target.", where)

    def _at(self, member: str) -> str:
        return f"messages[{self._number}].{member}"

    def _add(self, role: str, parts: Sequence[Part]) -> None:
        if not parts:
            return
        if role == self._role:
            self.turns[-1].parts += parts
        else:
            self._role = role
            self.turns.append(Turn(role, [*parts]))

    def _said(self, message: Mapping[str, Any]) -> list[Text | Media]:
        content = message.get("content")
        if type(content) is str:  # nearly every one
            return [Text(content)] if content and not content.isspace() else []
        return read_parts(content, self._at("content"))

    def _add_system(self, message: Mapping[str, Any]) -> None:
        parts = self._said(message)
        texts = [part for part in parts if isinstance(part, Text)]
        if len(texts) < len(parts):
            where = self._at("content")
            raise invalid_request(f"`{where}` must be text.", where)
        self.system += texts

    def _assistant(self, message: Mapping[str, Any]) -> list[Part]:
        parts: list[Part] = [*self._said(message)]
        refusal = message.get("refusal")
        if not parts and isinstance(refusal, str) and refusal.strip():
            parts.append(Text(refusal))
        if message.get("function_call"):
            raise invalid_request("The old form: send `tool_calls`.", self._at("function_call"))
        calls = message.get("tool_calls")
        if calls is None:
            return parts
        if not isinstance(calls, list):
            where = self._at("tool_calls")
            raise invalid_request(f"`{where}` must be a list.", where)
        for number, call in enumerate(calls):
            parts.append(self._call(call, number))
        return parts

    def _call(self, call: Any, number: int) -> Call:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(name := function.get("name"), str) or not name:
            raise _missing(self._at(f"tool_calls[{number}].function.name"))
        given = call.get("id")
        if not isinstance(given, str) or not given:
            raise _missing(self._at(f"tool_calls[{number}].id"))
        unique, again = given, 1
        while unique in self._ids:
            again += 1
            unique = f"{given}_{again}"
        self._ids.add(unique)
        arguments = function.get("arguments")
        if not isinstance(arguments, dict):
            arguments = read_arguments(arguments, self._at(f"tool_calls[{number}].function.arguments"))
        signature = _signature(call) if "extra_content" in call else ""
        taken = self._calls[given] = Call(unique, name, arguments, signature)
        return taken

    def _result(self, message: Mapping[str, Any]) -> Result:
        given = message.get("tool_call_id")
        if not isinstance(given, str) or not given:
            raise _missing(self._at("tool_call_id"))
        parts = self._said(message)
        call = self._calls.get(given)
        if call is None:
            name = message.get("name")
            return Result(given, name if isinstance(name, str) else "", parts, self._number)
        return Result(call.id, call.name, parts, self._number)


def _missing(where: str) -> GatewayError:
    return invalid_request(f"`{where}` is missing.", where)


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
