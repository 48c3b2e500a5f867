"""What a configuration file may hold, with the defaults of everything it leaves out.

Unknown names are refused, every value says what is allowed, and all mistakes are reported at once. What needs a look
at other parts of the file, or at the database, is checked in `references`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model, model_validator
from pydantic_core import ErrorDetails

from routing.configfile.document import Document
from routing.configfile.problems import ConfigFileError, Path, Problem
from routing.configfile.values import (
    ApiKey,
    BaseUrl,
    Flag,
    Headers,
    Name,
    OptionalSlug,
    OptionalText,
    Pattern,
    PresentedKey,
    Price,
    Priority,
    RuleName,
    Slug,
    Tokens,
    Weight,
    number,
    one_of,
)
from routing.models import RULE_KINDS, Format, OnContentFilter, Scope, Strategy, StreamRescue
from routing.models.key import MAX_REQUESTS_PER_MINUTE, MOST_PATTERNS
from routing.tunables import LONGEST, TUNABLES, Tunable


class Section(BaseModel):
    """A mapping of the file."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


def _field(tunable: Tunable) -> tuple[Any, Any]:
    checked = Annotated[Any, BeforeValidator(number(tunable.low, tunable.high, whole=tunable.whole))]
    return (checked, tunable.default) if tunable.default is not None else (checked | None, None)


def _tuned(section: str) -> type[Section]:
    fields: dict[str, Any] = {t.name: _field(t) for t in TUNABLES.values() if t.section == section}
    return create_model(section or "tunables", __base__=Section, **fields)


Breaker, CooldownByKind, Lockout, Timeouts, _Tuned = map(
    _tuned, ("breaker", "cooldown_by_kind", "lockout", "timeouts", "")
)


class ConnectionFile(Section):
    """`providers[].connections[]`. Without `api_key` the stored one stays; null or "" takes it away."""

    slug: Slug
    api_key: ApiKey = ""
    base_url: BaseUrl | None = None
    enabled: Flag = True
    priority: Priority = 0
    weight: Weight = 1.0
    max_concurrency: Annotated[int, BeforeValidator(number(0, 100_000, whole=True))] = 0
    headers: Headers = Field(default_factory=dict)

    def columns(self) -> dict[str, Any]:
        """Return the columns of Connection, but for its slug and its key."""
        return {**self.model_dump(exclude={"slug", "api_key"}), "base_url": self.base_url or ""}


class ErrorRuleFile(Section):
    """`providers[].error_rules[]`."""

    name: RuleName = ""
    status: Annotated[int, BeforeValidator(number(100, 999, whole=True))] | None = None
    code: OptionalText = ""
    pattern: Pattern = ""
    kind: Annotated[str, BeforeValidator(one_of(RULE_KINDS))]
    cooldown: Annotated[float, BeforeValidator(number(0, LONGEST))] | None = None

    @model_validator(mode="after")
    def _says_when(self) -> "ErrorRuleFile":
        if self.status is None and not self.code and not self.pattern:
            raise ValueError("needs a status, a code or a pattern to look for")
        return self


class ProviderFile(_Tuned):  # type: ignore[misc, valid-type]  # built from TUNABLES: max_cooldown, retries, retry_backoff
    """`providers[]`."""

    slug: Slug
    name: OptionalText = ""
    format: Annotated[str, BeforeValidator(one_of(Format.values))]
    base_url: BaseUrl
    enabled: Flag = True
    breaker: Breaker = Field(default_factory=Breaker)  # type: ignore[valid-type]
    cooldown_by_kind: CooldownByKind = Field(default_factory=CooldownByKind)  # type: ignore[valid-type]
    lockout: Lockout = Field(default_factory=Lockout)  # type: ignore[valid-type]
    timeouts: Timeouts = Field(default_factory=Timeouts)  # type: ignore[valid-type]
    stream_rescue: Annotated[str, BeforeValidator(one_of(StreamRescue.values))] = StreamRescue.AUTO.value
    error_rules: list[ErrorRuleFile] = Field(default_factory=list)
    connections: list[ConnectionFile]

    def tuned(self, column: str) -> float | None:
        """Return the value of one column of TUNABLES."""
        tunable = TUNABLES[column]
        value: float | None = getattr(getattr(self, tunable.section) if tunable.section else self, tunable.name)
        return value

    def columns(self) -> dict[str, Any]:
        """Return the columns of Provider, but for its slug."""
        columns: dict[str, Any] = {column: self.tuned(column) for column in TUNABLES}
        columns |= self.model_dump(include={"name", "format", "base_url", "enabled", "stream_rescue"})
        return columns


class ModelFile(Section):
    """`models[]`; null is unknown."""

    provider: Slug
    model: Name
    context_window: Tokens | None = None
    max_output_tokens: Tokens | None = None
    supports_tools: Flag | None = None
    supports_vision: Flag | None = None
    supports_prefill: Flag | None = None
    reasoning: Flag | None = None
    input_price: Price | None = None
    output_price: Price | None = None


class EntryFile(Section):
    """`chains[].entries[]`. Without `model`: the chain's own name."""

    provider: Slug
    model: Name | None = None
    connection: Slug | None = None
    priority: Priority = 0
    weight: Weight = 1.0
    enabled: Flag = True


class ChainFile(Section):
    """`chains[]`. The entries of the file are all its entries."""

    model: Name
    strategy: Annotated[str, BeforeValidator(one_of(Strategy.values))] = Strategy.PRIORITY.value
    enabled: Flag = True
    entries: list[EntryFile]


class KeyFile(Section):
    """`keys[]`. Without `key` the stored one stays; a new one is generated."""

    name: Name
    key: PresentedKey | None = None
    scopes: list[Annotated[str, BeforeValidator(one_of(Scope.values))]] = Field(default_factory=lambda: ["chat"])
    models: list[Name] = Field(default_factory=lambda: ["*"], max_length=MOST_PATTERNS)
    requests_per_minute: Annotated[int, BeforeValidator(number(0, MAX_REQUESTS_PER_MINUTE, whole=True))] = 0
    enabled: Flag = True


class EmergencyFile(Section):
    """`settings.emergency`."""

    enabled: Flag = False
    provider: OptionalSlug = ""
    model: OptionalText = ""
    max_output_tokens: Annotated[int, BeforeValidator(number(1, 10_000_000, whole=True))] = 1024
    skip_tool_requests: Flag = True


class SettingsFile(Section):
    """`settings`. What it leaves out stays as it is."""

    emergency: EmergencyFile = Field(default_factory=EmergencyFile)
    max_attempts: Annotated[int, BeforeValidator(number(1, 100, whole=True))] = 8
    wait_for_retry_after: Annotated[float, BeforeValidator(number(0, 3600))] = 3.0
    max_cooldown_wait: Annotated[float, BeforeValidator(number(0, 3600))] = 0.0
    on_content_filter: Annotated[str, BeforeValidator(one_of(OnContentFilter.values))] = OnContentFilter.ERROR.value


class ConfigFile(Section):
    """The whole file. A section that is not there says nothing."""

    settings: SettingsFile = Field(default_factory=SettingsFile)
    providers: list[ProviderFile] = Field(default_factory=list)
    models: list[ModelFile] = Field(default_factory=list)
    chains: list[ChainFile] = Field(default_factory=list)
    keys: list[KeyFile] = Field(default_factory=list)


S = TypeVar("S", bound=Section)


def check_schema(document: Document) -> ConfigFile:
    """Return the file's content. Raises ConfigFileError with every mistake."""
    try:
        return ConfigFile.model_validate(document.value)
    except ValidationError as error:
        problems = [_problem(document, detail) for detail in error.errors(include_url=False, include_input=False)]
        raise ConfigFileError(problems) from error


_EXPECTED = {
    "missing": "is missing",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
}


def check_section(section: type[S], said: Mapping[str, Any]) -> S:
    """Return one section that stands by itself, as a form has it. Raises ConfigFileError; paths begin at the section."""
    try:
        return section.model_validate(said)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        raise ConfigFileError([Problem(_message(one), _in_file(one["loc"], said)) for one in details]) from error


def _problem(document: Document, detail: ErrorDetails) -> Problem:
    path = _in_file(detail["loc"], document.value)
    if detail["type"] == "extra_forbidden":
        return document.problem(path, f"is not known here; known are {', '.join(_known(path))}")
    return document.problem(path, _message(detail))


def _message(detail: ErrorDetails) -> str:
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    if detail["type"] == "too_long":
        return f"must be at most {detail['ctx']['max_length']}"
    return _EXPECTED.get(detail["type"], detail["msg"])


def _in_file(location: tuple[int | str, ...], root: Mapping[str, Any]) -> Path:
    """Drop what pydantic adds to a path: the names of a union's branches. The last part may be missing in the file."""
    path: list[int | str] = []
    value: Any = root
    for part in location:
        if isinstance(value, dict | list):
            path.append(part)
            value = _at(value, part)
    return tuple(path)


def _at(value: Any, part: int | str) -> Any:
    try:
        return value[part]
    except (KeyError, IndexError, TypeError):
        return None


def _known(path: Path) -> list[str]:
    model: Any = ConfigFile
    for part in path[:-1]:
        if isinstance(part, str):
            annotation = model.model_fields[part].annotation
            model = annotation.__args__[0] if hasattr(annotation, "__args__") else annotation
    return list(model.model_fields)
