"""What becomes of each member of a Responses request at a target without them. docs/formats.md shows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from routing.adapters.parameters import Fate, sift_by


@dataclass(frozen=True, slots=True)
class Member:
    """A row of the table. A value in `neutral` (or null) asks for nothing, so it is neither refused nor recorded."""

    name: str
    fate: Fate
    note: str = ""
    neutral: tuple[Any, ...] = ()


T, N, D, R = Fate.TRANSLATED, Fate.NARROWED, Fate.DROPPED, Fate.REFUSED

TABLE = (
    Member("model", T, "the target's model"),
    Member("input", T, "see below"),
    Member("instructions", T, "the first system message"),
    Member("stream", T),
    Member("max_output_tokens", T, "at most the model's `max_output_tokens`"),
    Member("temperature", T),
    Member("top_p", T),
    Member("tools", T, "functions; any other is refused"),
    Member("tool_choice", T, "auto, none, required, a function, allowed functions"),
    Member("parallel_tool_calls", T),
    Member("text", N, "`format`; `verbosity` is dropped"),
    Member("reasoning", N, "`effort`, where the model takes one; thoughts come as summaries, asked for or not"),
    Member("user", T),
    Member("store", D, "nothing is kept: named unless it is false", neutral=(False,)),
    Member("metadata", D, "only mirrored in the answer", neutral=({},)),
    Member("stream_options", D, neutral=({},)),
    Member("include", D, "`message.output_text.logprobs` is refused", neutral=([],)),
    Member("truncation", D, neutral=("disabled",)),
    Member("context_management", D, neutral=([],)),
    Member("max_tool_calls", D, "counts built-in tools only"),
    Member("service_tier", D, neutral=("auto", "default")),
    Member("prompt_cache_key", D),
    Member("prompt_cache_options", D),
    Member("prompt_cache_retention", D),
    Member("safety_identifier", D),
    Member("moderation", R, "the answer would lack it"),
    Member("top_logprobs", R, "the answer would lack them", neutral=(0,)),
    Member("previous_response_id", R, "only its provider has it: send the whole conversation as `input`"),
    Member("conversation", R, "likewise"),
    Member("prompt", R, "likewise"),
    Member("background", R, "there is nobody to ask later", neutral=(False,)),
)

REST = Member("anything else", D, "members this page does not know")

_FATES: Mapping[str, Fate] = {row.name: row.fate for row in TABLE}
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {row.name: row.neutral for row in TABLE}


def sift(body: Mapping[str, Any]) -> list[str]:
    """Names of what is dropped. Raises GatewayError 400 for what is refused."""
    return sift_by(_FATES, _NEUTRAL, body, "a target that has no Responses of its own")
