"""Chat completions to Gemini's generateContent and streamGenerateContent, and back.

Every event of a stream is a whole answer with the next pieces of its candidates; the last has the finish reasons,
and no event says that the stream is over.
"""

from typing import Any
from urllib.parse import quote
from uuid import uuid4

from resilience.core.classify import ErrorFormat
from resilience.core.outcome import Failure
from routing.adapters.base import Answer
from routing.adapters.gemini_answer import (
    BROKEN,
    UNSPECIFIED,
    Piece,
    blocked,
    broken,
    empty,
    finish_reason,
    pieces,
    read_candidates,
    read_usage,
    with_id,
)
from routing.adapters.gemini_request import GenerateRequest
from routing.adapters.translation import TranslatedExchange


class GeminiExchange(TranslatedExchange):
    """Chat completions in, generateContent out."""

    error_format = ErrorFormat.GEMINI

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._answer_id = ""
        self._calls: dict[int, int] = {}  # so far, by candidate
        self._reasons: dict[int, str] = {}  # why a candidate finished

    def url(self) -> str:
        """`{base}/models/{model}:generateContent`, or the streaming method; the base names the version."""
        return self.method_url("streamGenerateContent?alt=sse" if self.client.stream else "generateContent")

    def method_url(self, method: str) -> str:
        """Where the target's model does something."""
        base = self.target.connection.base_url.rstrip("/")
        return f"{base}/{quote(self.resource(), safe='/-._~@')}:{method}"

    def resource(self) -> str:
        """The model as Google names it."""
        model = self.target.model
        return model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"

    def own_headers(self) -> list[tuple[bytes, bytes]]:
        """Google's header; a key in the URL would end up in logs."""
        key = self.target.connection.api_key
        return [(b"x-goog-api-key", key.encode())] if key else []

    def build(self) -> tuple[dict[str, Any], list[str]]:
        """See GenerateRequest."""
        built = GenerateRequest(self.client, self.target, self.output_cap)
        return built.document, built.dropped

    def read(self, document: Any) -> Answer | Failure:
        """See read_candidates."""
        return read_candidates(document, self._name(document.get("responseId")), self.target.model)

    def take(self, event: dict[str, Any]) -> bytes:
        """The next pieces of every candidate, then its end."""
        if isinstance(usage := event.get("usageMetadata"), dict):
            self.usage = read_usage(usage)
        candidates = event.get("candidates")
        if not candidates:
            self.error = blocked(event)
            return b""
        self.begin(self._name(event.get("responseId")), event.get("modelVersion"))
        return b"".join([self._candidate(candidate) for candidate in candidates])

    def _candidate(self, candidate: dict[str, Any]) -> bytes:
        index = candidate.get("index", 0)
        reason = candidate.get("finishReason")
        undecided = self.tentative or not self.has_content
        output = b"".join([self._delta(piece, index) for piece in pieces(candidate)])
        if output and undecided:
            self.tentative = reason not in UNSPECIFIED
        if reason in UNSPECIFIED or index in self._reasons:
            return output
        if reason in BROKEN:
            self.error = broken(reason)
            return output
        return output + self._finish(index, reason)

    def _delta(self, piece: Piece, index: int) -> bytes:
        writer = self.begin(None, None)
        if piece.member != "tool_calls":
            self.has_content = True
            return writer.delta({piece.member: piece.text}, index)
        number = self._calls.get(index, 0)
        call = with_id(piece.call, self._answer_id, index, number)
        self._calls[index] = number + 1
        self._reasons.pop(index, None)  # a call after what looked like the end: the reason is another then
        self.has_content = True
        return writer.delta({"tool_calls": [{"index": number, **call}]}, index)

    def _finish(self, index: int, reason: object) -> bytes:
        translated = self._reasons[index] = finish_reason(reason, called=index in self._calls)
        if len(self._reasons) >= self.client.choices:
            if not (self.has_content or self.continues) and (failure := empty(list(self._reasons.values()))):
                self.error = failure
                return b""
            self.finished = True
        return self.begin(None, None).finish(translated, index)

    def _name(self, response_id: object) -> str:
        """The first id the answer gives itself, else one of ours: what ids of its calls are made from."""
        if not self._answer_id:
            given = response_id if isinstance(response_id, str) else ""
            self._answer_id = given or f"chatcmpl-{uuid4().hex}"
        return self._answer_id
