"""Why an attempt failed, and what each kind does to the layers: one table, also shown to operators.

Nothing else decides: settlement, routing and the dashboard read `RULES`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Kind(StrEnum):
    """Why an attempt failed."""

    RATE_LIMIT = "rate_limit"
    QUOTA_EXHAUSTED = "quota_exhausted"
    OVERLOADED = "overloaded"
    TRANSIENT = "transient"
    TIMEOUT = "timeout"
    AUTH = "auth"
    MODEL_UNAVAILABLE = "model_unavailable"
    CONTEXT_LENGTH = "context_length"
    CONTENT_FILTER = "content_filter"
    INVALID_REQUEST = "invalid_request"
    CANCELLED = "cancelled"
    LOCAL = "local"


class NextTarget(StrEnum):
    """Whether the request goes on to its next target."""

    YES = "yes"
    NO = "no"
    BY_SETTING = "by_setting"
    STOP = "stop"


class BreakerEffect(StrEnum):
    """What a kind does to the provider's breaker."""

    COUNTS = "counts"
    COUNTS_IF_ALONE = "counts_if_alone"
    """Counts only while no other connection of the provider is usable."""
    ALIVE = "alive"
    """A well-formed answer: the provider lives; a half-open probe gives its lease back."""
    NONE = "none"
    """Recorded, but it neither counts nor says that the provider is well."""
    RELEASE = "release"
    """Not the provider's doing: recorded nowhere."""


class CooldownEffect(StrEnum):
    """What a kind does to the connection's cooldown."""

    ALWAYS = "always"
    HINT_ONLY = "hint_only"
    """Only for as long as the provider stated."""
    NEVER = "never"


class LockoutEffect(StrEnum):
    """What a kind does to the lockout of the (connection, model) pair."""

    COUNTS = "counts"
    AT_ONCE = "at_once"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class KindRule:
    """A row of the table."""

    kind: Kind
    label: str
    cause: str
    next_target: NextTarget
    retry_same_target: bool
    breaker: BreakerEffect
    cooldown: CooldownEffect
    lockout: LockoutEffect


_TABLE = (
    KindRule(
        Kind.RATE_LIMIT,
        "rate limited",
        "429",
        NextTarget.YES,
        retry_same_target=False,  # but for one short wait: the `wait_for_retry_after` setting
        breaker=BreakerEffect.COUNTS_IF_ALONE,
        cooldown=CooldownEffect.ALWAYS,
        lockout=LockoutEffect.COUNTS,
    ),
    KindRule(
        Kind.QUOTA_EXHAUSTED,
        "quota exhausted",
        "402, empty credit, billing limit, spent daily or monthly quota",
        NextTarget.YES,
        retry_same_target=False,
        breaker=BreakerEffect.COUNTS_IF_ALONE,
        cooldown=CooldownEffect.ALWAYS,  # or the pair's lock, if the provider says that the quota is the model's
        lockout=LockoutEffect.COUNTS,
    ),
    KindRule(
        Kind.OVERLOADED,
        "overloaded",
        "529, 503 with an overload code",
        NextTarget.YES,
        retry_same_target=True,
        breaker=BreakerEffect.COUNTS,
        cooldown=CooldownEffect.HINT_ONLY,
        lockout=LockoutEffect.COUNTS,
    ),
    KindRule(
        Kind.TRANSIENT,
        "transient failure",
        "other 5xx, unexpected status, refused, reset, TLS, DNS, unusable 200, truncated stream",
        NextTarget.YES,
        retry_same_target=True,
        breaker=BreakerEffect.COUNTS,
        cooldown=CooldownEffect.HINT_ONLY,
        lockout=LockoutEffect.COUNTS,
    ),
    KindRule(
        Kind.TIMEOUT,
        "timed out",
        "our connect, first-token, response, idle or total deadline; upstream 408, 504, 524",
        NextTarget.YES,
        retry_same_target=False,
        breaker=BreakerEffect.COUNTS,
        cooldown=CooldownEffect.NEVER,
        lockout=LockoutEffect.COUNTS,
    ),
    KindRule(
        Kind.AUTH,
        "credentials rejected",
        "401, 403 about the key, an invalid key said with 400",
        NextTarget.YES,
        retry_same_target=False,
        breaker=BreakerEffect.NONE,
        cooldown=CooldownEffect.ALWAYS,
        lockout=LockoutEffect.NEVER,
    ),
    KindRule(
        Kind.MODEL_UNAVAILABLE,
        "model unavailable",
        "404, 400 or 403 about this model, retired model",
        NextTarget.YES,
        retry_same_target=False,
        breaker=BreakerEffect.ALIVE,
        cooldown=CooldownEffect.NEVER,
        lockout=LockoutEffect.AT_ONCE,
    ),
    KindRule(
        Kind.CONTEXT_LENGTH,
        "too long for this target",
        "prompt too long for this target, 413 for its size or its per-minute token limit",
        NextTarget.YES,
        retry_same_target=False,
        breaker=BreakerEffect.ALIVE,
        cooldown=CooldownEffect.NEVER,
        lockout=LockoutEffect.NEVER,
    ),
    KindRule(
        Kind.CONTENT_FILTER,
        "content filter",
        "the provider's safety system",
        NextTarget.BY_SETTING,
        retry_same_target=False,
        breaker=BreakerEffect.ALIVE,
        cooldown=CooldownEffect.NEVER,
        lockout=LockoutEffect.NEVER,
    ),
    KindRule(
        Kind.INVALID_REQUEST,
        "invalid request",
        "the caller's mistake: other 400, 409, 415, 422; a request that cannot be expressed for the target",
        NextTarget.NO,
        retry_same_target=False,
        breaker=BreakerEffect.ALIVE,
        cooldown=CooldownEffect.NEVER,
        lockout=LockoutEffect.NEVER,
    ),
    KindRule(
        Kind.CANCELLED,
        "cancelled",
        "the client left, or the gateway is shutting down",
        NextTarget.STOP,
        retry_same_target=False,
        breaker=BreakerEffect.RELEASE,
        cooldown=CooldownEffect.NEVER,
        lockout=LockoutEffect.NEVER,
    ),
    KindRule(
        Kind.LOCAL,
        "local refusal",
        "our refusal: no permit, pool or concurrency full, draining",
        NextTarget.YES,
        retry_same_target=False,
        breaker=BreakerEffect.RELEASE,
        cooldown=CooldownEffect.NEVER,
        lockout=LockoutEffect.NEVER,
    ),
)

RULES: Mapping[Kind, KindRule] = MappingProxyType({rule.kind: rule for rule in _TABLE})

if len(RULES) != len(Kind):  # checked at import, as a missing row would only show in production
    raise RuntimeError("every kind needs exactly one row in the table")
