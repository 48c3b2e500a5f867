"""The formats that clients speak, by path."""

from collections.abc import Mapping

from routing.dialects.base import Dialect, Headers
from routing.dialects.chat import ChatCompletions
from routing.dialects.embeddings import Embeddings
from routing.dialects.messages import CountTokens, Messages
from routing.dialects.responses import Responses

DIALECTS: Mapping[str, Dialect] = {
    dialect.path: dialect for dialect in (ChatCompletions(), Messages(), CountTokens(), Responses(), Embeddings())
}
ANTHROPIC_CLIENT = b"anthropic-version"  # a header that its SDKs send with every request


def dialect_of(path: str, headers: Headers) -> Dialect:
    """The format to answer in; where the path does not tell, Anthropic's for the clients that name its version."""
    known = DIALECTS.get(path)
    if known is None:
        known = DIALECTS[Messages.path if ANTHROPIC_CLIENT in headers else ChatCompletions.path]
    return known


__all__ = ["DIALECTS", "Dialect", "dialect_of"]
