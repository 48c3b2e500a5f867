"""The formats that clients speak, by path."""

from collections.abc import Mapping

from routing.dialects.base import Dialect
from routing.dialects.chat import ChatCompletions

DIALECTS: Mapping[str, Dialect] = {dialect.path: dialect for dialect in (ChatCompletions(),)}

__all__ = ["DIALECTS", "Dialect"]
