"""How the file's `api_key` and the columns of a connection correspond."""

from typing import Any

from routing import crypto
from routing.configfile.schema import ConnectionFile
from routing.models import Connection
from routing.secrets import ENV_PREFIX


def connection_columns(said: ConnectionFile, row: Connection) -> dict[str, Any]:
    """Return the columns for a connection. A key that is not mentioned stays: an export has none."""
    columns = said.columns()
    return columns | stored_api_key(said.api_key, row) if "api_key" in said.model_fields_set else columns


def stored_api_key(api_key: str, row: Connection) -> dict[str, str]:
    """Return the columns for a key: nothing, `env:NAME`, or a literal to encrypt.

    A literal that is stored already keeps its cipher text, which differs from one encryption to the next.
    """
    if not api_key:
        return {"api_key_env": "", "api_key_encrypted": "", "key_hint": ""}
    if api_key.startswith(ENV_PREFIX):
        return {"api_key_env": api_key.removeprefix(ENV_PREFIX), "api_key_encrypted": "", "key_hint": ""}
    encrypted = row.api_key_encrypted if _decrypted(row) == api_key else crypto.encrypt(api_key)
    return {"api_key_env": "", "api_key_encrypted": encrypted, "key_hint": crypto.hint(api_key)}


def exported_api_key(row: Connection) -> dict[str, str]:
    """Return the file's member for a stored key: none for a literal, which stays where it is."""
    return {"api_key": ENV_PREFIX + row.api_key_env} if row.api_key_env else {}


def _decrypted(row: Connection) -> str | None:
    try:
        return crypto.decrypt(row.api_key_encrypted) if row.api_key_encrypted else None
    except crypto.EncryptionUnavailableError:
        return None  # the key it was encrypted with is gone: encrypt anew
