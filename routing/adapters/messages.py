"""Anthropic Messages over chat completions, for targets of every other format."""

from collections.abc import Mapping
from typing import Any, ClassVar

from resilience.core.outcome import Failure
from routing.adapters.base import Usage
from routing.adapters.composed import ChatBody, ComposedExchange
from routing.adapters.messages_answer import MessageStream, message_of
from routing.adapters.messages_request import MessagesAsChat


class MessagesExchange(ComposedExchange):
    """Messages in, chat completions out."""

    params: ClassVar[Mapping[str, str]] = {
        "messages": "messages",
        "max_completion_tokens": "max_tokens",
        "stop": "stop_sequences",
        "reasoning_effort": "thinking",
        "response_format": "output_config",
        "parallel_tool_calls": "tool_choice",
        "user": "metadata",
    }

    def to_chat(self) -> ChatBody:
        """See MessagesAsChat."""
        return MessagesAsChat(self.client.body, self.target)

    def shows_thoughts(self) -> bool:
        """If it asked for them."""
        return self.client.wants_reasoning

    def read(self, completion: dict[str, Any], usage: Usage) -> dict[str, Any] | Failure:
        """See message_of."""
        stops = self.client.body.get("stop_sequences") or ()
        return message_of(completion, self.target.model, usage, thoughts=self.shows_thoughts(), stops=stops)

    def stream(self) -> MessageStream:
        """See MessageStream."""
        stops = self.client.body.get("stop_sequences") or ()
        return MessageStream(self.target.model, thoughts=self.shows_thoughts(), stops=stops)
