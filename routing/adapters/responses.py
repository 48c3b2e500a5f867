"""OpenAI's Responses over chat completions, for targets that have none of their own."""

from collections.abc import Mapping
from typing import Any, ClassVar

from routing.adapters.base import Usage
from routing.adapters.composed import ChatBody, ComposedExchange
from routing.adapters.responses_answer import ResponseStream, response_of
from routing.adapters.responses_request import ResponsesAsChat


class ResponsesExchange(ComposedExchange):
    """Responses in, chat completions out."""

    params: ClassVar[Mapping[str, str]] = {
        "messages": "input",
        "max_tokens": "max_output_tokens",
        "max_completion_tokens": "max_output_tokens",
        "reasoning_effort": "reasoning",
        "response_format": "text",
    }

    def to_chat(self) -> ChatBody:
        """See ResponsesAsChat."""
        return ResponsesAsChat(self.client.body, self.target)

    def read(self, completion: dict[str, Any], usage: Usage) -> dict[str, Any]:
        """See response_of."""
        return response_of(completion, self.client.body, self.target.model, usage)

    def stream(self) -> ResponseStream:
        """See ResponseStream."""
        return ResponseStream(self.client.body, self.target.model)

    @property
    def events(self) -> int:
        """As they were numbered."""
        return self._stream.events.written if isinstance(self._stream, ResponseStream) else 0
