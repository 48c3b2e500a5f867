"""What differs between generations of Gemini, told by the version in the model's name.

Source: https://ai.google.dev/gemini-api/docs/thinking and …/thought-signatures. A name without a version may be an
alias of the newest (`gemini-flash-latest`): it thinks by budgets, which the newest still take, and wants signatures.
"""

import re
from typing import NamedTuple

from routing.table import ModelFacts

_VERSION = re.compile(r"gemini-(\d{1,2})(?:\.(\d{1,2}))?(?!\d)")
_THINKING = (2, 5)
_LEVELS = (3, 0)  # from here `thinkingLevel` in place of `thinkingBudget`, and calls come with signatures


class Generation(NamedTuple):
    """What a model can be told."""

    thinks: bool
    levels: bool
    wants_signatures: bool
    is_pro: bool  # cannot stop thinking altogether


def generation(model: str, facts: ModelFacts) -> Generation:
    """Of a model's name and what the operator says about it."""
    match = _VERSION.search(model)
    version = (int(match[1]), int(match[2] or 0)) if match else None
    return Generation(
        thinks=facts.reasoning is not False and (version is None or version >= _THINKING),
        levels=version is not None and version >= _LEVELS,
        wants_signatures=version is None or version >= _LEVELS,
        is_pro="pro" in model,
    )
