"""How errors are classified: one table per format, read from the top; the first row that matches decides.

The order is that of RESILIENCE section 2: codes of the provider's format, then HTTP statuses, then text. A code outranks
the status. Text decides only where codes and status leave open what happened (400, 401, 403, 404, 422, 429, no status).
What no row matches is decided by its status alone, in the last rows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from . import error_texts as texts
from .envelope import PER_DAY_QUOTA, PER_MINUTE_QUOTA, Envelope
from .error_rules import ErrorFormat
from .kinds import Kind
from .outcome import DecidedBy


@dataclass(frozen=True, slots=True)
class Row:
    """A row matches if everything that it names matches; `page` means an answer that is not JSON."""

    name: str
    kind: Kind
    codes: frozenset[str] | None = None
    statuses: frozenset[int] | None = None
    text: re.Pattern[str] | None = None
    page: bool = False

    @property
    def decides_by(self) -> DecidedBy:
        """What it looks at; of a code and a text beside it, the code."""
        if self.codes is not None:
            return DecidedBy.CODE
        return DecidedBy.STATUS if self.text is None else DecidedBy.TEXT

    def matches(self, envelope: Envelope, status: int | None) -> bool:
        """Whether this row decides. An error that has no status passes for any status of a text row."""
        if self.page and not envelope.page:
            return False
        if self.codes is not None and self.codes.isdisjoint(envelope.codes):
            return False
        if self.statuses is not None and status not in self.statuses and (status is not None or self.text is None):
            return False
        return self.text is None or self.text.search(envelope.text) is not None


def _code(name: str, kind: Kind, words: str, text: re.Pattern[str] | None = None) -> Row:
    return Row(name, kind, codes=frozenset(words.lower().split()), text=text)


def _text(name: str, kind: Kind, statuses: set[int], text: re.Pattern[str]) -> Row:
    return Row(name, kind, statuses=frozenset(statuses), text=text)


def _status(kind: Kind, *statuses: int) -> Row:
    return Row("status", kind, statuses=frozenset(statuses))


GOOGLE_CODES = (
    _code(
        "key reason",
        Kind.AUTH,
        """API_KEY_INVALID API_KEY_SERVICE_BLOCKED API_KEY_HTTP_REFERRER_BLOCKED API_KEY_IP_ADDRESS_BLOCKED
        API_KEY_ANDROID_APP_BLOCKED API_KEY_IOS_APP_BLOCKED ACCESS_TOKEN_EXPIRED ACCESS_TOKEN_TYPE_UNSUPPORTED
        ACCESS_TOKEN_SCOPE_INSUFFICIENT CREDENTIALS_MISSING ACCOUNT_STATE_INVALID SERVICE_DISABLED CONSUMER_SUSPENDED
        CONSUMER_INVALID USER_PROJECT_DENIED UNAUTHENTICATED""",
    ),
    _code("billing reason", Kind.QUOTA_EXHAUSTED, "BILLING_DISABLED"),
    _code("quota per day", Kind.QUOTA_EXHAUSTED, PER_DAY_QUOTA),
    _code("quota per minute", Kind.RATE_LIMIT, PER_MINUTE_QUOTA),
    _code("capacity reason", Kind.OVERLOADED, "MODEL_CAPACITY_EXHAUSTED"),
    _code("quota reason", Kind.QUOTA_EXHAUSTED, "QUOTA_EXHAUSTED"),
    # RESOURCE_EXHAUSTED speaks of plan and billing even when a minute's quota is spent.
    _code("quota per day, in words", Kind.QUOTA_EXHAUSTED, "RESOURCE_EXHAUSTED", texts.PER_DAY),
    _code("credits, in words", Kind.QUOTA_EXHAUSTED, "RESOURCE_EXHAUSTED", texts.CREDITS),
    _code("resource exhausted", Kind.RATE_LIMIT, "RESOURCE_EXHAUSTED"),
    _code("deadline exceeded", Kind.TIMEOUT, "DEADLINE_EXCEEDED"),
    _code("unavailable", Kind.OVERLOADED, "UNAVAILABLE"),
    _code("not found", Kind.MODEL_UNAVAILABLE, "NOT_FOUND"),
)

ANTHROPIC_CODES = (
    _code("overloaded", Kind.OVERLOADED, "overloaded_error"),
    _code("billing", Kind.QUOTA_EXHAUSTED, "billing_error"),
    _code("authentication", Kind.AUTH, "authentication_error"),
    _code("request too large", Kind.CONTEXT_LENGTH, "request_too_large"),
    _code("rate limit", Kind.RATE_LIMIT, "rate_limit_error"),
    _code("timeout", Kind.TIMEOUT, "timeout_error"),
)

OPENAI_CODES = (
    _code(
        "content filter",
        Kind.CONTENT_FILTER,
        """content_filter content_filter_error content_policy_violation ContentPolicyViolationError
        ResponsibleAIPolicyViolation moderation_blocked data_inspection_failed image_content_policy_violation""",
    ),
    _code(
        "context length",
        Kind.CONTEXT_LENGTH,
        """context_length_exceeded context_window_exceeded ContextWindowExceededError exceed_context_size_error
        string_above_max_length tokens_limit_reached prompt_too_long input_too_long request_too_large
        model_max_prompt_tokens_exceeded""",
    ),
    _code(
        "quota",
        Kind.QUOTA_EXHAUSTED,
        """insufficient_quota billing_hard_limit_reached billing_not_active billing_error usage_limit_reached
        usage_limit_exceeded usage_not_included insufficient_balance insufficient_credits insufficient_funds
        credits_exhausted out_of_credits payment_required quota_exceeded QuotaExceeded budget_exceeded
        exceeded_current_quota_error insufficient_user_quota spend_limit_reached ServiceQuotaExceededException
        Arrearage pre_consume_token_quota_failed CreditsError""",
    ),
    _code(
        "key",
        Kind.AUTH,
        """invalid_api_key incorrect_api_key missing_api_key expired_api_key invalid_authentication unauthorized
        authentication_error invalid_authentication_error AuthenticationError authentication_failed account_deactivated
        account_suspended access_terminated_error invalid_organization token_expired invalid_token ip_not_authorized
        unsupported_country_region_territory UnrecognizedClientException expired_key token_not_found_in_db""",
    ),
    _code(
        "model",
        Kind.MODEL_UNAVAILABLE,
        """model_not_found model_not_available model_unavailable unavailable_model model_not_supported
        unsupported_model unknown_model invalid_model model_deprecated model_decommissioned model_terms_required model_permission_blocked_org
        model_permission_blocked_project DeploymentNotFound deployment_not_found ModelNotFound
        resource_not_found_error OperationNotSupported Model.AccessDenied AccessDenied.Unpurchased
        key_model_access_denied team_model_access_denied user_model_access_denied org_model_access_denied""",
    ),
    _code(
        "overloaded",
        Kind.OVERLOADED,
        """overloaded overloaded_error engine_overloaded engine_overloaded_error server_overloaded model_overloaded
        slow_down server_is_overloaded queue_exceeded NoCapacity no_capacity ModelNotReadyException""",
    ),
    # A request that exceeds a minute's tokens by itself never fits: 413, whatever its code says; OpenAI says it with 429.
    _status(Kind.CONTEXT_LENGTH, 413),
    _code("request too large, in words", Kind.CONTEXT_LENGTH, "rate_limit_exceeded", texts.REQUEST_TOO_LARGE),
    _code(
        "rate limit",
        Kind.RATE_LIMIT,
        """rate_limit_exceeded rate_limit_error rate_limited RateLimitError RateLimitReached rate_limit_reached_error
        too_many_requests too_many_requests_error ThrottlingException""",
    ),
    _code("timeout", Kind.TIMEOUT, "timeout_error request_timeout"),
    _code(
        "parameter",
        Kind.INVALID_REQUEST,
        """unsupported_parameter unsupported_value invalid_value missing_required_parameter unknown_parameter
        invalid_type invalid_base64 invalid_image invalid_image_format integer_above_max_value
        integer_below_min_value previous_response_not_found invalid_base64_image invalid_image_url invalid_image_mode
        image_too_large image_too_small image_parse_error image_file_too_large unsupported_image_media_type
        empty_image_file failed_to_download_image image_file_not_found""",
    ),
)

TEXTS = (
    _text("rate text", Kind.RATE_LIMIT, {429}, texts.SHORT_RATE),
    _text("metric per day", Kind.QUOTA_EXHAUSTED, {429}, texts.METRIC_PER_DAY),
    _text("metric", Kind.RATE_LIMIT, {429}, texts.METRIC),
    _text("quota text", Kind.QUOTA_EXHAUSTED, {400, 401, 403, 412, 422, 429}, texts.QUOTA),
    _text("key text", Kind.AUTH, {400}, texts.KEY),
    _text("context text", Kind.CONTEXT_LENGTH, {400, 422}, texts.CONTEXT),
    _text("filter text", Kind.CONTENT_FILTER, {400, 403, 422}, texts.FILTER),
    _text("crash text", Kind.TRANSIENT, {400}, texts.CRASH),
    _text("capability text", Kind.INVALID_REQUEST, {400, 404, 422}, texts.CAPABILITY),
    _text("stored text", Kind.INVALID_REQUEST, {400, 404}, texts.STORED),
    _text("model text", Kind.MODEL_UNAVAILABLE, {400, 403, 404, 422}, texts.MODEL),
    _text("rate text", Kind.RATE_LIMIT, {400, 403}, texts.RATE),
)

STATUSES = (
    # A page comes from a front proxy or a wrong address: it speaks neither of the model nor, unless it says so, of our key.
    Row("key text", Kind.AUTH, statuses=frozenset({403}), text=texts.KEY, page=True),
    Row("page", Kind.TRANSIENT, statuses=frozenset({403, 404, 410}), page=True),
    _status(Kind.INVALID_REQUEST, 400, 409, 415, 422),
    _status(Kind.AUTH, 401, 403),
    _status(Kind.QUOTA_EXHAUSTED, 402),
    _status(Kind.MODEL_UNAVAILABLE, 404, 410),
    _status(Kind.TIMEOUT, 408, 504, 524),
    _status(Kind.CONTEXT_LENGTH, 413),
    _status(Kind.RATE_LIMIT, 429),
    _status(Kind.OVERLOADED, 529),
)

UNEXPECTED = Row("unexpected", Kind.TRANSIENT)

TABLES: Mapping[ErrorFormat, tuple[Row, ...]] = MappingProxyType(
    {
        # Google's and Anthropic's own OpenAI-compatible endpoints answer with their own codes.
        ErrorFormat.OPENAI: (*GOOGLE_CODES, *OPENAI_CODES, *TEXTS, *STATUSES, UNEXPECTED),
        ErrorFormat.ANTHROPIC: (*ANTHROPIC_CODES, *TEXTS, *STATUSES, UNEXPECTED),
        ErrorFormat.GEMINI: (*GOOGLE_CODES, *TEXTS, *STATUSES, UNEXPECTED),
    }
)

STATUS_OF_CODE: Mapping[str, int] = MappingProxyType(
    {
        "invalid_request_error": 400,
        "badrequesterror": 400,
        "invalid_argument": 400,
        "failed_precondition": 400,
        "authentication_error": 401,
        "permission_error": 403,
        "permission_denied": 403,
        "not_found_error": 404,
        "request_too_large": 413,
        "rate_limit_error": 429,
        "api_error": 500,
        "server_error": 500,
        "internal": 500,
        "internal_error": 500,
        "internal_server_error": 500,
        "timeout_error": 504,
        "overloaded_error": 529,
    }
)
"""What a code stands for where no status is named: in a stream, in a 200."""
