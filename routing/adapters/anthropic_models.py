"""What differs between generations of Claude, told by the version in the model's name.

Source: https://platform.claude.com/docs/en/build-with-claude/thinking and …/adaptive-thinking. A name without a
version (another maker's model behind Anthropic's format) is treated as a Claude 4.5: budgets, free sampling.
"""

import re
from typing import NamedTuple

from routing.table import ModelFacts

_VERSION = re.compile(r"claude\D*?(?<!\d)(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_NO_THINKING = (3, 7)  # the first Claude that thinks
_ONE_SAMPLER = (4, 1)  # from here `temperature` and `top_p` exclude each other
_ADAPTIVE = (4, 6)  # from here the model decides how long to think, and is told only how hard
_NO_SAMPLING = (4, 7)  # from here `temperature`, `top_p` and `top_k` are answered with 400; `effort: xhigh` is known


class Generation(NamedTuple):
    """What a model can be told."""

    thinks: bool
    adaptive: bool
    samples: bool
    one_sampler: bool
    effort_xhigh: bool


def generation(model: str, facts: ModelFacts) -> Generation:
    """Of a model's name and what the operator says about it."""
    match = _VERSION.search(model)
    version = (int(match[1]), int(match[2] or 0)) if match else None
    if version is None and "mythos" in model:
        version = _NO_SAMPLING
    known = version or (4, 5)
    return Generation(
        thinks=facts.reasoning is not False and known >= _NO_THINKING,
        adaptive=known >= _ADAPTIVE,
        samples=known < _NO_SAMPLING,
        one_sampler=version is not None and known >= _ONE_SAMPLER,
        effort_xhigh=known >= _NO_SAMPLING,
    )
