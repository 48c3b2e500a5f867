"""What the simulated model says: the same words for the same question, whichever format asks.

That the text depends on nothing but the question and its length is what makes a broken stream continuable: a second
provider repeats the first one's words, and one that is given the beginning says the rest.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

import orjson

from routing.simulator.sample import sample

_FILLER = (
    "This answer was made by a simulated provider, which knows nothing and says so at any length you like. "
    "Its words depend on your question alone, so that two providers asked the same say the same. "
    "It exists to be slow, wrong, silent or gone whenever somebody wants to see what happens then."
)
_FILLER_WORDS = tuple(_FILLER.split())
_ECHOED_WORDS = 12
_JSON_PIECE = 8

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call; `schema` is the JSON schema of its arguments."""

    name: str
    schema: object = None


@dataclass(frozen=True, slots=True)
class Call:
    """A chat request of any format, reduced to what decides the answer."""

    model: str
    prompt: str = ""  # the last user message
    prefill: str = ""  # the beginning of the answer, put there by the client
    input_tokens: int = 0
    max_tokens: int | None = None
    choices: int = 1
    tools: tuple[Tool, ...] = ()
    forced: str | None = None  # name of the tool that must be called, "" for any
    called: tuple[str, ...] = ()  # tools called since the user last spoke
    answers_user: bool = True  # the last message is the user's, not a tool's result
    schema: object = None  # JSON schema the text must follow
    json_wanted: bool = False


@dataclass(frozen=True, slots=True)
class Invocation:
    """One tool call in an answer."""

    id: str
    name: str
    arguments: dict[str, Any]

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text."""
        return orjson.dumps(self.arguments).decode()


@dataclass(frozen=True, slots=True)
class Completion:
    """What is said: pieces of text, or tool calls."""

    pieces: tuple[str, ...]
    invocations: tuple[Invocation, ...]
    truncated: bool
    input_tokens: int
    output_tokens: int

    @property
    def text(self) -> str:
        """The pieces in one."""
        return "".join(self.pieces)


def next_number() -> str:
    """A number for the next id; unique in this process."""
    return f"{next(_numbers):08d}"


def complete(call: Call, words: int, text: str | None) -> Completion:
    """Answer a call in `words` words, or with `text`."""
    called = called_tools(call)
    if called:
        invocations = tuple(
            Invocation(f"call_{next_number()}", tool.name, sample_object(tool.schema)) for tool in called
        )
        return Completion(
            (), invocations, truncated=False, input_tokens=call.input_tokens, output_tokens=12 * len(called)
        )
    pieces = pieces_for(call, words, text)
    truncated = call.max_tokens is not None and len(pieces) > call.max_tokens
    if truncated:
        pieces = pieces[: max(0, call.max_tokens or 0)]
    return Completion(pieces, (), truncated=truncated, input_tokens=call.input_tokens, output_tokens=len(pieces))


def called_tools(call: Call) -> tuple[Tool, ...]:
    """The tools the answer calls: the forced one, else one or two if the user's last words ask for them.

    One that may be any is one that was not called yet, so that an agent that forces each turn comes to its end.
    """
    if not call.tools:
        return ()
    if call.forced is not None:
        left = [tool for tool in call.tools if tool.name not in call.called]
        return (next((tool for tool in call.tools if tool.name == call.forced), (left or call.tools)[0]),)
    asked = call.prompt.lower()
    if not call.answers_user or "tool" not in asked:
        return ()
    return (call.tools * 2)[:2] if "two tools" in asked else call.tools[:1]


def pieces_for(call: Call, words: int, text: str | None) -> tuple[str, ...]:
    """The answer's text in the pieces it is streamed in; one piece counts as one token."""
    if text is None and (call.json_wanted or call.schema is not None):
        document = sample(call.schema) if call.schema is not None else {"answer": call.prompt[:200], "simulated": True}
        json_text = orjson.dumps(document).decode()
        return tuple(json_text[start : start + _JSON_PIECE] for start in range(0, len(json_text), _JSON_PIECE))
    if not call.prefill:
        return made_up(call.prompt, words) if text is None else split(text)
    whole = "".join(made_up(call.prompt, words)) if text is None else text
    beginning = call.prefill.rstrip()
    return split(whole.removeprefix(beginning))


@lru_cache(maxsize=512)
def made_up(prompt: str, words: int) -> tuple[str, ...]:
    """A text of `words` words that begins with an echo of the question, one word a piece."""
    asked = prompt.split()[:_ECHOED_WORDS]
    said = ["You", "asked:", *(word[:40] for word in asked)] if asked else ["Hello."]
    said += [_FILLER_WORDS[index % len(_FILLER_WORDS)] for index in range(words - len(said))]
    return tuple(word if index == 0 else " " + word for index, word in enumerate(said[:words]))


def split(text: str) -> tuple[str, ...]:
    """A text in pieces of one word with the blank before it; joined they are the text again."""
    pieces, start = [], 0
    for index in range(1, len(text)):
        if text[index] == " " and text[index - 1] != " ":
            pieces.append(text[start:index])
            start = index
    return (*pieces, text[start:]) if text else ()


def sample_object(schema: object) -> dict[str, Any]:
    """Arguments that fit a tool's schema."""
    arguments = sample(schema)
    return arguments if isinstance(arguments, dict) else {}


def count_tokens(*texts: str) -> int:
    """Tokens of a prompt: its words, at least one."""
    return max(1, sum(len(text.split()) for text in texts))


def text_of(content: object) -> str:
    """The text in a message's content, which is a string or a list of parts, in any of the formats."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return " ".join(text for text in texts if isinstance(text, str))
