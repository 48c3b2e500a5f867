"""What a client has of a stream, kept so that another target can go on with it."""

from collections.abc import Container, Mapping, Sequence
from io import StringIO
from typing import Any

MOST_KEPT = 256 * 1024  # characters; an answer longer than that is not continued


class Sent:
    """The text of one choice. `only_text` is false once there was more to it than text, or more text than is kept."""

    __slots__ = ("_text", "only_text", "unseen")

    def __init__(self) -> None:
        self._text = StringIO()
        self.only_text = True
        self.unseen: Container[str] = ()  # members of a delta that the client does not get

    @property
    def text(self) -> str:
        """All of it, as long as `only_text` holds."""
        return self._text.getvalue()

    def take(self, delta: Mapping[str, Any]) -> None:
        """A delta of a chat completion. Whatever it has but text cannot be compared, thoughts included."""
        for name, value in delta.items():
            if not value or name == "role" or name in self.unseen:
                continue
            if name == "content" and type(value) is str:
                self.say(value)
            else:
                self.only_text = False

    def say(self, text: str) -> None:
        """The next piece of text."""
        if not self.only_text:
            return
        self._text.write(text)
        if self._text.tell() > MOST_KEPT:
            self.only_text = False
            self._text = StringIO()


def with_prefill(messages: Sequence[Mapping[str, Any]], text: str) -> list[Mapping[str, Any]]:
    """The conversation with its answer begun; an answer that the client began itself goes on."""
    *earlier, last = messages
    if last.get("role") != "assistant":
        return [*messages, {"role": "assistant", "content": text}]
    content = last.get("content")
    begun = content + text if isinstance(content, str) else [*(content or ()), {"type": "text", "text": text}]
    return [*earlier, {**last, "content": begun}]
