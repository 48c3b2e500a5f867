"""What a provider of format openai or azure can do beyond chat completions, told by its host and the model's name."""

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from urllib.parse import urlsplit

from routing.chains import Target

OPENAIS_OWN = ("api.openai.com", "*.api.openai.com")

# where the beginning of an answer must be marked as such:
# https://docs.mistral.ai/api (AssistantMessage.prefix), https://api-docs.deepseek.com/guides/chat_prefix_completion
MARKED_PREFIX = ("api.mistral.ai", "api.deepseek.com")

_ONLY_REASONS = re.compile(r"(?:^|/)(?:o[1-9]|gpt-[5-9](?!.*chat))")
_REASONING_MODEL = re.compile(r"(?:^|/)(?:o[1-9]|gpt-(?:[5-9]|oss))")


def length_member(target: Target) -> str:
    """The chat completions member that limits the output: OpenAI itself has one name for every model, Azure two."""
    is_renamed = _is_one_of(OPENAIS_OWN, target.connection.base_url) or only_reasons(target)
    return "max_completion_tokens" if is_renamed else "max_tokens"


def only_reasons(target: Target) -> bool:
    """Whether the model answers 400 to `max_tokens` and to being told how to sample, as OpenAI's reasoning models do.

    Told by the name only where OpenAI or Azure serves it: others take what their model does not know.
    """
    if target.facts.reasoning is not None:
        return target.facts.reasoning
    is_served = target.provider.format == "azure" or _is_one_of(OPENAIS_OWN, target.connection.base_url)
    return is_served and _ONLY_REASONS.search(target.model) is not None


def has_responses(target: Target) -> bool:
    """Whether the target speaks OpenAI's Responses itself: at OpenAI's own hosts, and wherever Azure's format is spoken.

    Other servers of OpenAI's format have them seldom or in part, and all have chat completions.
    """
    provider_format, base_url = target.provider.format, target.connection.base_url
    return provider_format == "azure" or (provider_format == "openai" and _is_one_of(OPENAIS_OWN, base_url))


def marks_prefix(target: Target) -> bool:
    """Whether an assistant message to go on from wants `prefix: true`."""
    return _is_one_of(MARKED_PREFIX, target.connection.base_url)


def takes_effort(target: Target) -> bool:
    """Whether the model takes `reasoning_effort`; those of OpenAI's format that do not, answer 400 to it."""
    if target.facts.reasoning is not None:
        return target.facts.reasoning
    return _REASONING_MODEL.search(target.model) is not None


@lru_cache(maxsize=1024)
def _is_one_of(hosts: tuple[str, ...], base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    return any(fnmatchcase(host, pattern) for pattern in hosts)
