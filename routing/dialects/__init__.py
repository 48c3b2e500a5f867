"""The formats that clients speak, by path."""

from collections.abc import Mapping

from routing.dialects.base import Dialect
from routing.dialects.chat import ChatCompletions
from routing.dialects.embeddings import Embeddings
from routing.dialects.messages import CountTokens, Messages

DIALECTS: Mapping[str, Dialect] = {
    dialect.path: dialect for dialect in (ChatCompletions(), Messages(), CountTokens(), Embeddings())
}

__all__ = ["DIALECTS", "Dialect"]
