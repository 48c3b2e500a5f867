"""What becomes of each member of a chat completions request at a target of another format. docs/formats.md shows it.

The rule: what the target cannot express and what would change what the answer means to the client is refused with
400 `invalid_request`; what only changes how it is made is left out, and named in the exchange's `dropped_params`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from resilience.core.error_rules import ErrorFormat
from routing.errors import invalid_request


class Fate(StrEnum):
    """What a target of another format does with a member."""

    TRANSLATED = "translated"
    NARROWED = "narrowed"
    """Translated as far as the target goes; named in `dropped_params` where that is not all the way."""
    DROPPED = "dropped"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A row of the table. A value in `neutral` (or null) asks for nothing, so it is neither refused nor recorded."""

    name: str
    anthropic: Fate
    gemini: Fate
    note: str = ""
    neutral: tuple[Any, ...] = ()


T, N, D, R = Fate.TRANSLATED, Fate.NARROWED, Fate.DROPPED, Fate.REFUSED

TABLE = (
    Parameter("model", T, T, "the target's model"),
    Parameter("messages", T, T, "see below"),
    Parameter("stream", T, T),
    Parameter("stream_options", T, T, "usage is always counted; the client gets it if it asked"),
    Parameter("max_completion_tokens", T, T, "wins over `max_tokens`; at most the model's `max_output_tokens`"),
    Parameter(
        "max_tokens", T, T, "Anthropic needs one: the model's `max_output_tokens`, else 4096, from Claude 4.6 16384"
    ),
    Parameter("stop", T, T, "Anthropic: not of white space only; Gemini: at most 5"),
    Parameter("temperature", N, T, "Anthropic: at most 1; dropped where the model takes none and beside thinking"),
    Parameter("top_p", N, T, "Anthropic: dropped beside `temperature` from Claude 4.1, and like it"),
    Parameter("top_k", N, T, "not OpenAI's, but common"),
    Parameter("n", R, T, "Gemini: `candidateCount`", neutral=(1,)),
    Parameter("tools", T, T, "functions only; a function's `strict` is dropped"),
    Parameter("tool_choice", T, T, "auto, none, required, one function, allowed tools"),
    Parameter("parallel_tool_calls", T, D, "Anthropic: `disable_parallel_tool_use`", neutral=(True,)),
    Parameter("response_format", N, T, "Anthropic: a schema natively; `json_object` only as an instruction"),
    Parameter("reasoning_effort", N, N, "thinking budget, level or effort, as the model's generation has it"),
    Parameter("reasoning", N, N, "its `effort`, as `reasoning_effort`", neutral=({},)),
    Parameter("user", T, D, "Anthropic: `metadata.user_id`"),
    Parameter("seed", D, T),
    Parameter("frequency_penalty", D, T, neutral=(0,)),
    Parameter("presence_penalty", D, T, neutral=(0,)),
    Parameter("logit_bias", R, R, "it can forbid and force tokens", neutral=({},)),
    Parameter("logprobs", R, R, "the answer would lack what was asked for", neutral=(False,)),
    Parameter("top_logprobs", R, R, neutral=(0,)),
    Parameter("modalities", R, R, "text only", neutral=(["text"], [])),
    Parameter("audio", R, R),
    Parameter("moderation", R, R, "the answer would lack it"),
    Parameter("web_search_options", R, R),
    Parameter("functions", R, R, "the old form: send `tools`", neutral=([],)),
    Parameter("function_call", R, R, "the old form: send `tool_choice`", neutral=("auto", "none")),
    Parameter("prediction", D, D, "only makes it faster"),
    Parameter("verbosity", D, D),
    Parameter("service_tier", D, D, neutral=("auto", "default")),
    Parameter("store", D, D, neutral=(False,)),
    Parameter("metadata", D, D, neutral=({},)),
    Parameter("prompt_cache_key", D, D),
    Parameter("prompt_cache_options", D, D),
    Parameter("prompt_cache_retention", D, D),
    Parameter("safety_identifier", D, D),
)

REST = Parameter("anything else", D, D, "members this page does not know")

_FATES: Mapping[ErrorFormat, Mapping[str, Fate]] = MappingProxyType(
    {
        ErrorFormat.ANTHROPIC: {row.name: row.anthropic for row in TABLE},
        ErrorFormat.GEMINI: {row.name: row.gemini for row in TABLE},
    }
)
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {row.name: row.neutral for row in TABLE}


class Sifted:
    """A request being written anew for one target. `dropped` names the client's members that are not in it."""

    dropped: list[str]

    def drop(self, name: str) -> None:
        """Write down that a member is left out, or weakened."""
        if name not in self.dropped:
            self.dropped.append(name)


def sift(body: Mapping[str, Any], target: ErrorFormat) -> list[str]:
    """Names of what is dropped for this target. Raises GatewayError 400 for what is refused."""
    return sift_by(_FATES[target], _NEUTRAL, body, f"a target of format {target}")


def sift_by(
    fates: Mapping[str, Fate], neutral: Mapping[str, tuple[Any, ...]], body: Mapping[str, Any], target: str
) -> list[str]:
    """The same by any table. target: in words."""
    dropped = []
    for name, value in body.items():
        fate = fates.get(name, Fate.DROPPED)
        if fate is Fate.TRANSLATED or fate is Fate.NARROWED or value is None or value in neutral.get(name, ()):
            continue
        if fate is Fate.REFUSED:
            raise invalid_request(f"`{name}` cannot be expressed for {target}.", name)
        dropped.append(name)
    return dropped


def object_member(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A member that must be an object, empty if it is not there. Raises GatewayError 400."""
    value = body.get(name)
    if not isinstance(value, dict | None):
        raise invalid_request(f"`{name}` must be an object.", name)
    return value or {}
