"""What errors say in words. Patterns for `error_tables.py`; each alternative was seen in a provider's answer.

They are the last resort and run over a bounded text, so every repetition in them is bounded, too. A word like "billing"
alone decides nothing: it stands in the links that rate limits give.
"""

import re


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_CREDITS_GONE = r"\bcredits? (?:(?:are|is|have been|has been) )?(?:exhausted|depleted|used up)"

CREDITS = _any_of(_CREDITS_GONE)
"""An empty account, where the words of a minute's limit may also speak of plan and billing."""

QUOTA = _any_of(
    r"exceeded your (?:current|monthly|daily) (?:usage )?quota",
    r"credit balance is too low",
    r"\b(?:insufficient|not enough|no|negative)[ _](?:account )?(?:balance|credits?|funds|quota)\b",
    r"\b(?:out of|more|exhausted your|used (?:all|up) (?:of )?your|no remaining) (?:\w{1,20} )?credits?\b",
    _CREDITS_GONE,
    r"\b(?:billing|spend|spending|budget|cost|credit|key|plan) (?:hard )?limit (?:(?:has been|was) )?(?:reached|exceeded)",
    r"\b(?:reached|exceeded|hit) (?:your|the|its) (?:\w{1,20} ){0,4}(?:usage|spend|spending|billing|budget|plan) (?:hard )?limit",
    r"\busage limits? (?:(?:has been|have been|was) )?(?:reached|exceeded)",
    r"\bbudget (?:has been )?exceeded",
    r"n[o']t have any credits|\bexceeded your (?:\w{1,20} ){0,2}credits\b|\bbalance is (?:insufficient|too low)",
    r"\bfree tier\b.{0,40}\bexhausted|\bcalls? ?/ ?(?:day|week|month)\b|out of call volume quota",
    r"\b(?:daily|weekly|monthly)[ _](?:\w{1,20}[ _])?(?:quota|limit|allocation|allowance)",
    r"\b(?:requests|tokens|quota|limit|calls|messages)[ _-]per[ _-](?:day|week|month)\b",
    r"free-models-per-day",
    r"\bquota (?:(?:has been|is|was) )?(?:exhausted|used up|depleted)",
    r"payment required",
    r"\b(?:check|update|suspended)\b.{0,60}\bbilling\b",
    r"enable billing|billing (?:is not active|is disabled|not enabled)",
    r"余额不足|额度不足|额度已用尽|使用上限|欠费",
)
"""An empty account, a spent budget or quota."""

PER_DAY = _any_of(r"per[ _]?(?:day|month)", r"\bdaily\b", r"\bmonthly\b")
"""A quota's long period, in Google's messages."""

METRIC = _any_of(r"quota exceeded for (?:quota )?metric")
"""Google's words when the structured part is missing."""

METRIC_PER_DAY = _any_of(r"quota exceeded for (?:quota )?metric.{0,200}per[ _]?day")

SHORT_RATE = _any_of(r"free-models-per-min")
"""A rate limit that advertises a daily quota in the same breath."""

_KEY = r"\b(?:api[ _-]?key|api[ _-]?token|access token|credentials?)\b"

KEY = _any_of(
    _KEY
    + r".{0,40}\b(?:not valid|invalid|incorrect|expired|revoked|disabled|missing|required|malformed|rejected|leaked)",
    r"\b(?:invalid|incorrect|wrong|bad|expired|revoked|missing|unknown|no|malformed)\b.{0,20}" + _KEY,
    r"\b(?:organization|account|workspace|project|key) (?:has been|is|was) (?:\w{1,20} )?(?:disabled|deactivated|suspended|restricted|banned)",
    r"user location is not supported|\b(?:country|region|territory)\b.{0,30}\bnot supported",
    r"\bunauthori[sz]ed\b|authentication (?:failed|required)|\bcredential is only authori[sz]ed\b",
)
"""Our key, our account, or the place we call from is rejected."""

CONTEXT = _any_of(
    r"maximum (?:context|prompt|input|sequence) (?:length|size)",
    r"context[ _](?:length|window|size|limit)",
    r"\b(?:prompt|input|request|messages?|conversation|payload|string) (?:(?:is|are|was) )?too (?:long|large)",
    r"\b(?:prompt|input) (?:token count|length|tokens?)\b.{0,80}\b(?:exceed(?:s|ed)?|larger|longer|maximum|must be|should be)",
    r"\bexceeds? the (?:maximum|limit|max)\b[^.]{0,40}\btokens?\b",
    r"\btokens?\b.{0,60}\bexceeds?\b.{0,40}\b(?:limit|maximum|max)",
    r"too many (?:input |prompt )?tokens|too large for model",
    r"exceed(?:s|ed)? (?:the )?model token limit|payload size exceeds",
    r"reduce (?:the length|your prompt|your message|the number of (?:input )?tokens)",
    r"context ?window ?exceeded|max_seq_len|max_model_len|max_new_tokens.{0,20}must be|range of input length",
)
"""The prompt does not fit this target."""

REQUEST_TOO_LARGE = _any_of(r"\brequest too large for\b")
"""A minute's limit on tokens that one request exceeds by itself."""

FILTER = _any_of(
    r"content[ _-](?:management|filter(?:ing|ed)?|polic(?:y|ies)|moderation|safety)",
    r"\b(?:flagged|blocked|rejected|refused)\b.{0,60}\b(?:moderation|safety|polic(?:y|ies)|filter|violat|inappropriate|harm)",
    r"safety (?:system|filter|setting|polic)|usage polic(?:y|ies)|responsible ai",
    r"prohibited content|inappropriate content|content exists risk|requires moderation|不安全或敏感内容",
)
"""The provider's safety system."""

CAPABILITY = _any_of(
    r"no endpoints found that support",
    r"\bmodel\b.{0,60}\bdoes not support (?:image|vision|audio|video|file|tool|function|system|stream|json|the )",
    r"\bnot supported (?:with|by|for|in) this model",
)
"""The model is there, but not for this kind of request: no reason to lock it."""

STORED = _any_of(r"\b(?:item|response|conversation) with id\b.{0,120}\bnot found")
"""The request refers to something that was stored, with another account or not at all: no reason to lock the model."""

_MODEL_GONE = (
    r"not found|(?:does|do|did) ?n[o']t exist|not exist",
    r"is not (?:available|supported|accessible|enabled|active|found|a valid|included|a chat model)",
    r"no longer|end[ -]of[ -]life",
    r"(?:is|was|are|been) (?:deprecated|decommissioned|retired|removed|discontinued|disabled|unavailable|shut ?down|gated)",
    r"requires? (?:a |an |terms )?(?:subscription|paid|plan|upgrade|access|acceptance|pro\b)",
)

MODEL = _any_of(
    r"\bmodels?\b[^.;!]{0,120}?\b(?:" + "|".join(_MODEL_GONE) + ")",
    r"\bmodels?\b.{0,60}\bnot exist|not a valid model|try pulling it first",
    r"\b(?:unknown|invalid|unsupported|unavailable|unrecogni[sz]ed|no such|inexistent) model\b",
    r"\bmodel (?:disabled|not supported)\b|\bnot available (?:on|in|for|with) your (?:\w{1,20} )?(?:plan|subscription|tier)\b",
    r"\b(?:no|not have|without|lacks?|denied) (?:access|permissions?) (?:to|for) (?:(?:access|use|call) )?(?:(?:the|this|that) )?(?:\w{1,20} )?model",
    r"\bmodel\b.{0,100}\bis not allowed for (?:this|the|your) (?:\w{1,20} )?key\b",
    r"\bnot (?:authori[sz]ed|allowed|permitted|entitled) to (?:access|use|call) (?:(?:the|this|that) )?(?:\w{1,20} )?model",
    r"no endpoints found|no allowed providers|no (?:available )?(?:channel|deployment)s? (?:available )?(?:for|found)",
    r"\bdeployment\b.{0,60}\b(?:does not exist|not found)",
)
"""This model is not there, or not in the plan."""

CRASH = _any_of(r"\bmodel (?:has )?(?:crashed|unloaded)\b")
"""A local server's model is gone for the moment."""

RATE = _any_of(r"\brate[ _-]?limit", r"too many requests", r"\bthrottl", r"requests? per (?:minute|second|min|hour)\b")
