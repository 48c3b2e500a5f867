"""`/v1/messages/count_tokens`: the provider's count where it has one, else an estimate that says so."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from resilience.core.classify import ErrorFormat
from resilience.core.outcome import Failure
from routing.adapters.base import Answer, Exchange, encode
from routing.adapters.messages_native import NativeMessages
from routing.sse import Event
from routing.upstream import UpstreamRequest

BYTES_PER_TOKEN = 4  # of English prose and JSON alike, give or take a third

# Media are charged by what they show, not by their bytes: a screenshot of a megabyte would count as 350,000 tokens.
# A picture is scaled down to what costs this much: https://platform.claude.com/docs/en/build-with-claude/vision
TOKENS_PER_IMAGE = 1600
BYTES_PER_TOKEN_OF_FILE = 32  # in base64, of a PDF: some 2,000 tokens and 50 kB a page

COUNTED = ("system", "messages", "tools")
ESTIMATED = ((b"x-omniroute-estimate", b"true"),)


class NativeTokenCount(NativeMessages):
    """Asked of a target that speaks Messages."""

    path = "/messages/count_tokens"

    def is_answer(self, document: Any) -> bool:
        """Whether it counts."""
        return isinstance(document, dict) and type(document.get("input_tokens")) is int


class EstimatedTokenCount(Exchange):
    """Answered here, for a target whose format has no such call."""

    error_format = ErrorFormat.ANTHROPIC

    def request(self) -> UpstreamRequest | Answer:
        """The estimate; nobody is asked."""
        said = sum(len(encode(self.client.body[name])) for name in COUNTED if self.client.body.get(name))
        shown = 0
        for kind, size in _media(message["content"] for message in self.client.body["messages"]):
            said -= size
            shown += TOKENS_PER_IMAGE if kind == "image" else size // BYTES_PER_TOKEN_OF_FILE
        document = {"input_tokens": max(1, said // BYTES_PER_TOKEN + shown), "omniroute": {"estimate": True}}
        return Answer(orjson.dumps(document), headers=ESTIMATED)

    def unary(self, body: bytes, headers: Mapping[str, str]) -> Answer | Failure:  # noqa: ARG002
        """Never reached: nothing was sent."""
        raise AssertionError("an estimate has no upstream answer")

    def feed(self, event: Event) -> bytes:  # noqa: ARG002
        """Never reached: nothing was sent."""
        raise AssertionError("an estimate has no stream")

    def replay(self, answer: Answer) -> bytes:
        """A count is not streamed."""
        return answer.body

    def end(self) -> bytes:
        """A count is not streamed."""
        return b""


def _media(contents: Iterable[Any]) -> Iterator[tuple[Any, int]]:
    """Type and bytes of pictures and files, those in results of tools and in documents included; 0 of those by URL."""
    for content in contents:
        for block in content if isinstance(content, list) else ():
            if not isinstance(block, dict):
                continue
            source = block.get("source")
            if not isinstance(source, dict):
                yield from _media([block.get("content")])
            elif block.get("type") == "image" or source.get("type") == "base64":
                data = source.get("data")
                yield block.get("type"), len(data) if isinstance(data, str) else 0
            else:
                yield from _media([source.get("content")])
