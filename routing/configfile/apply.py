"""File → rows, in one transaction. A dry run does the same and takes it back, so that its plan is what would happen."""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F

from routing import crypto
from routing.configfile.document import read_document
from routing.configfile.entries import plan_entries
from routing.configfile.plan import Plan
from routing.configfile.problems import ConfigFileError
from routing.configfile.references import check_references, integrity_problem, literal_key
from routing.configfile.rows import RowWriter, is_new
from routing.configfile.rules import replace_rules, stored_rules
from routing.configfile.schema import (
    ChainFile,
    ConfigFile,
    ConnectionFile,
    KeyFile,
    ModelFile,
    ProviderFile,
    check_schema,
)
from routing.configfile.secrets import connection_columns
from routing.models import (
    ClientKey,
    Connection,
    FallbackChain,
    GatewaySettings,
    Provider,
    UpstreamModel,
)


def apply_file(raw: bytes, *, dry_run: bool = False, prune: bool = False) -> Plan:
    """Apply a configuration file and return what changed.

    An object the file names becomes what the file says, with defaults for what it leaves out; others stay as they
    are, or go with `prune`. Raises ConfigFileError with every mistake; then nothing was changed.
    """
    document = read_document(raw)
    file = check_schema(document)
    try:
        with transaction.atomic():
            check_references(document, file, prune=prune)
            plan = _Application(file, prune=prune).run()
            transaction.set_rollback(dry_run)
    except IntegrityError as error:
        raise ConfigFileError([integrity_problem(error)]) from error
    return plan


class _Application:
    """One run over one file, in the order that the rows depend on each other."""

    def __init__(self, file: ConfigFile, *, prune: bool) -> None:
        self.file = file
        self.prune = prune
        self.plan = Plan()
        self.rows = RowWriter(self.plan)
        self._connection_rows: dict[tuple[str, str], Connection] | None = None

    def run(self) -> Plan:
        if self.prune:  # what points at others goes first
            self._prune_chains_and_keys()
        providers = {row.slug: row for row in Provider.objects.all()}
        for said in self.file.providers:
            providers[said.slug] = self._provider(said, providers.get(said.slug) or Provider(slug=said.slug))
        for model in self.file.models:
            self._model(model, providers[model.provider])
        for chain in self.file.chains:
            self._chain(chain, providers)
        for key in self.file.keys:
            self._key(key)
        self._settings()
        if self.prune:
            self._prune_providers()
        return self.plan

    def _provider(self, said: ProviderFile, row: Provider) -> Provider:
        rules = [rule.model_dump() for rule in said.error_rules]
        replaced = rules != stored_rules(row)
        also = ["error_rules changed"] if replaced else []
        row = self.rows.put(f"provider {said.slug}", row, said.columns(), also=also)
        if replaced:
            replace_rules(row, rules)
        connections = {connection.slug: connection for connection in row.connections.all()}
        for connection in said.connections:
            self._connection(
                connection, connections.get(connection.slug) or Connection(provider=row, slug=connection.slug)
            )
        return row

    def _connection(self, said: ConnectionFile, row: Connection) -> None:
        self.rows.put(f"connection {row.provider.slug}/{said.slug}", row, connection_columns(said, row))

    def _model(self, said: ModelFile, provider: Provider) -> None:
        row = UpstreamModel.objects.filter(provider=provider, model=said.model).first()
        columns = said.model_dump(exclude={"provider", "model"})
        what = f"model {provider.slug}/{said.model}"
        self.rows.put(what, row or UpstreamModel(provider=provider, model=said.model), columns)

    def _chain(self, said: ChainFile, providers: dict[str, Provider]) -> None:
        row = FallbackChain.objects.filter(model=said.model).first() or FallbackChain(model=said.model)
        stored = [] if is_new(row) else list(row.entries.select_related("provider", "connection"))
        entries = plan_entries(said, stored, providers, self._connections())
        columns: dict[str, Any] = {"strategy": said.strategy, "enabled": said.enabled}
        changes_before = len(self.plan.changes)
        row = self.rows.put(f"chain {said.model}", row, columns, also=entries.details)
        entries.write(row)
        if len(self.plan.changes) > changes_before:  # a page that shows the chain must notice
            FallbackChain.objects.filter(pk=row.pk).update(version=F("version") + 1)

    def _connections(self) -> dict[tuple[str, str], Connection]:
        if self._connection_rows is None:
            rows = Connection.objects.select_related("provider")
            self._connection_rows = {(row.provider.slug, row.slug): row for row in rows}
        return self._connection_rows

    def _key(self, said: KeyFile) -> None:
        row = ClientKey.objects.filter(name=said.name).first() or ClientKey(name=said.name)
        columns = said.model_dump(exclude={"name", "key"})
        if said.key is not None or is_new(row):
            secret = literal_key(said.key) if said.key is not None else crypto.generate_client_key()
            columns |= {"key_hash": crypto.hash_client_key(secret), "key_hint": crypto.hint(secret)}
            if said.key is None:
                self.plan.generated_keys[said.name] = secret
        self.rows.put(f"key {said.name}", row, columns)

    def _settings(self) -> None:
        said = self.file.settings
        columns = said.model_dump(exclude_unset=True, exclude={"emergency"})
        if "emergency" in said.model_fields_set:
            columns |= {
                f"emergency_{name}": value for name, value in said.emergency.model_dump(exclude_unset=True).items()
            }
        if columns:
            self.rows.put("settings", GatewaySettings.objects.filter(pk=1).first() or GatewaySettings(), columns)

    def _prune_chains_and_keys(self) -> None:
        for chain in FallbackChain.objects.exclude(model__in=[chain.model for chain in self.file.chains]):
            self.rows.drop(f"chain {chain.model}", chain)
        for key in ClientKey.objects.exclude(name__in=[key.name for key in self.file.keys]):
            self.rows.drop(f"key {key.name}", key)

    def _prune_providers(self) -> None:
        models = {(model.provider, model.model) for model in self.file.models}
        for model in UpstreamModel.objects.select_related("provider"):
            if (model.provider.slug, model.model) not in models:
                self.rows.drop(f"model {model.provider.slug}/{model.model}", model)
        named = {(said.slug, connection.slug) for said in self.file.providers for connection in said.connections}
        for connection in Connection.objects.select_related("provider"):
            if (connection.provider.slug, connection.slug) not in named:
                self.rows.drop(f"connection {connection.provider.slug}/{connection.slug}", connection)
        for provider in Provider.objects.exclude(slug__in=[said.slug for said in self.file.providers]):
            self.rows.drop(f"provider {provider.slug}", provider)
