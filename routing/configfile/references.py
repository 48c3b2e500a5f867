"""What a file says that only the rest of it, the rows or the environment can tell to be wrong."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from routing import crypto
from routing.configfile.document import Document
from routing.configfile.problems import ConfigFileError, Path, Problem
from routing.configfile.schema import ChainFile, ConfigFile, ConnectionFile, ProviderFile
from routing.models import ClientKey, Connection, GatewaySettings, Provider
from routing.secrets import ENV_PREFIX, environment_variable

Mistakes = Iterator[tuple[Path, str]]


@dataclass(frozen=True, slots=True)
class Known:
    """What will be there once the file is applied: connections by provider."""

    connections: dict[str, set[str]]

    @property
    def providers(self) -> str:
        """The names, to be shown."""
        return ", ".join(sorted(self.connections)) or "none"


def check_references(document: Document, file: ConfigFile, *, prune: bool) -> None:
    """Raise ConfigFileError with every mistake. Reads rows."""
    known = _known(file, prune=prune)
    mistakes = [
        *_repeated(file),
        *_providers(file),
        *(mistake for number, chain in enumerate(file.chains) for mistake in _chain(number, chain, known)),
        *_models(file, known),
        *_emergency(file, known),
        *_keys(file, prune=prune),
    ]
    if mistakes:
        raise ConfigFileError([document.problem(path, message) for path, message in mistakes])


def _known(file: ConfigFile, *, prune: bool) -> Known:
    connections: dict[str, set[str]] = {}
    if not prune:
        connections = {slug: set() for slug in Provider.objects.values_list("slug", flat=True)}
        for provider, slug in Connection.objects.values_list("provider__slug", "slug"):
            connections[provider].add(slug)
    for named in file.providers:
        connections.setdefault(named.slug, set()).update(connection.slug for connection in named.connections)
    return Known(connections)


def _repeated(file: ConfigFile) -> Mistakes:
    yield from _twice(("providers",), "slug", [provider.slug for provider in file.providers])
    for number, provider in enumerate(file.providers):
        slugs = [connection.slug for connection in provider.connections]
        yield from _twice(("providers", number, "connections"), "slug", slugs)
    yield from _twice(("models",), "model", [(model.provider, model.model) for model in file.models])
    yield from _twice(("chains",), "model", [chain.model for chain in file.chains])
    yield from _twice(("keys",), "name", [key.name for key in file.keys])


def _twice(path: Path, member: str, identities: Iterable[Hashable]) -> Mistakes:
    first: dict[Hashable, int] = {}
    for number, identity in enumerate(identities):
        if identity in first:
            shown = "/".join(identity) if isinstance(identity, tuple) else identity
            yield (*path, number, member), f"{shown} stands here already, as number {first[identity]}"
        first.setdefault(identity, number)


def _providers(file: ConfigFile) -> Mistakes:
    for number, provider in enumerate(file.providers):
        path: Path = ("providers", number)
        for place, message in contradictions(provider):
            yield (*path, *place), message
        for index, connection in enumerate(provider.connections):
            for place, message in unstorable(connection):
                yield (*path, "connections", index, *place), message


def contradictions(provider: ProviderFile) -> Mistakes:
    """Yield what one setting of a provider makes wrong about another, with its path in the provider."""
    threshold = provider.tuned("breaker_failure_threshold")
    degraded = provider.tuned("breaker_degradation_threshold")
    if threshold is not None and degraded is not None and degraded > threshold:
        yield ("breaker", "degradation_threshold"), f"must not be above failure_threshold, which is {threshold}"
    shortest, longest = provider.tuned("lockout_lockout_duration"), provider.tuned("lockout_max_lockout_duration")
    if shortest is not None and longest is not None and shortest > longest:
        yield ("lockout", "max_lockout_duration"), f"must not be below lockout_duration, which is {shortest:g}"


def unstorable(connection: ConnectionFile) -> Mistakes:
    """Yield why the connection's key cannot be kept, with its path in the connection."""
    if connection.api_key and not connection.api_key.startswith(ENV_PREFIX):
        try:
            crypto.encrypt("")
        except crypto.EncryptionUnavailableError as error:
            yield ("api_key",), f"cannot be stored: {error}; or use env:NAME"


def _chain(number: int, chain: ChainFile, known: Known) -> Mistakes:
    seen: dict[tuple[str, str, str | None], int] = {}
    for index, entry in enumerate(chain.entries):
        path: Path = ("chains", number, "entries", index)
        if entry.provider not in known.connections:
            yield (*path, "provider"), f"there is no provider {entry.provider}; known are {known.providers}"
        elif entry.connection is not None and entry.connection not in known.connections[entry.provider]:
            names = ", ".join(sorted(known.connections[entry.provider])) or "none"
            yield (*path, "connection"), f"{entry.provider} has no connection {entry.connection}; it has {names}"
        identity = (entry.provider, entry.model or chain.model, entry.connection)
        if identity in seen:
            yield path, f"is the same target as entry {seen[identity]}: provider, model and connection"
        seen.setdefault(identity, index)


def _models(file: ConfigFile, known: Known) -> Mistakes:
    for number, model in enumerate(file.models):
        if model.provider not in known.connections:
            message = f"there is no provider {model.provider}; known are {known.providers}"
            yield ("models", number, "provider"), message


def _emergency(file: ConfigFile, known: Known) -> Mistakes:
    row = GatewaySettings.objects.filter(pk=1).first() or GatewaySettings()
    said = file.settings.emergency
    named = said.model_fields_set if "emergency" in file.settings.model_fields_set else set()
    enabled = said.enabled if "enabled" in named else row.emergency_enabled
    provider = said.provider if "provider" in named else row.emergency_provider
    model = said.model if "model" in named else row.emergency_model
    path: Path = ("settings", "emergency")
    if not enabled:
        return
    if not provider or not model:
        yield path, "needs a provider and a model to be enabled"
    elif provider not in known.connections:
        yield (*path, "provider"), f"there is no provider {provider}; known are {known.providers}"


def _keys(file: ConfigFile, *, prune: bool) -> Mistakes:
    names = {key.name for key in file.keys}
    stored = {} if prune else {row.key_hash: row.name for row in ClientKey.objects.all() if row.name not in names}
    for number, key in enumerate(file.keys):
        path: Path = ("keys", number, "key")
        if key.key is None:
            continue
        literal = literal_key(key.key)
        if not literal:
            yield path, f"environment variable {key.key.removeprefix('env:')} is not set"
            continue
        owner = stored.setdefault(crypto.hash_client_key(literal), key.name)
        if owner != key.name:
            yield path, f"is the same as the key of {owner}"


def literal_key(key: str) -> str:
    """Return a client key in clear: `env:NAME` is looked up, empty if there is none."""
    return environment_variable(key.removeprefix(ENV_PREFIX)) if key.startswith(ENV_PREFIX) else key


def integrity_problem(error: Exception) -> Problem:
    """Return what to say when the database refuses what looked right, as when someone else writes meanwhile."""
    return Problem(f"the database refused it: {error}")
