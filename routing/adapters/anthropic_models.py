"""What differs between generations of Claude, told by the version in the model's name.

Source: https://platform.claude.com/docs/en/build-with-claude/thinking, …/adaptive-thinking and
https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5. A name without a
version (another maker's model behind Anthropic's format) is treated as a Claude 4.5: budgets, free sampling.
"""

import re
from typing import NamedTuple

from routing.table import ModelFacts

_VERSION = re.compile(r"claude\D*?(?<!\d)(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_NO_THINKING = (3, 7)  # the first Claude that thinks
_ONE_SAMPLER = (4, 1)  # from here `temperature` and `top_p` exclude each other
_ADAPTIVE = (4, 6)  # from here the model decides how long to think, and is told only how hard
_NO_SAMPLING = (4, 7)  # from here `temperature`, `top_p` and `top_k` are answered with 400; `effort: xhigh` is known,
# and thoughts come without words unless `display` asks for them
_UNASKED = (5, 0)  # from here the model thinks unless it is told not to
_ALWAYS = (5, 5)  # from here it cannot be told; nor can Fable and Mythos of any version
_ALWAYS_BY_NAME = ("fable", "mythos")


class Generation(NamedTuple):
    """What a model can be told."""

    thinks: bool
    adaptive: bool
    samples: bool
    one_sampler: bool
    effort_xhigh: bool
    hides_thoughts: bool
    thinks_unasked: bool
    always_thinks: bool


def generation(model: str, facts: ModelFacts) -> Generation:
    """Of a model's name and what the operator says about it."""
    match = _VERSION.search(model)
    version = (int(match[1]), int(match[2] or 0)) if match else None
    if version is None and "mythos" in model:
        version = _NO_SAMPLING
    known = version or (4, 5)
    thinks = facts.reasoning is not False and known >= _NO_THINKING
    return Generation(
        thinks=thinks,
        adaptive=known >= _ADAPTIVE,
        samples=known < _NO_SAMPLING,
        one_sampler=version is not None and known >= _ONE_SAMPLER,
        effort_xhigh=known >= _NO_SAMPLING,
        hides_thoughts=known >= _NO_SAMPLING,
        thinks_unasked=thinks and known >= _UNASKED,
        always_thinks=thinks and (known >= _ALWAYS or any(name in model for name in _ALWAYS_BY_NAME)),
    )
