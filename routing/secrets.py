"""A connection's secrets in clear, for the routing table alone. Stored encrypted, or as `env:NAME`."""

import os

from routing import crypto, models

ENV_PREFIX = "env:"


class UnusableSecretError(Exception):
    """A secret cannot be had; the message tells the operator why, without the secret."""


def resolve_api_key(row: models.Connection) -> str | None:
    """Return a connection's key in clear, None if it has none. Raises UnusableSecretError."""
    if row.api_key_env:
        return from_environment(ENV_PREFIX + row.api_key_env)
    if not row.api_key_encrypted:
        return None
    try:
        return crypto.decrypt(row.api_key_encrypted)
    except crypto.EncryptionUnavailableError as error:
        raise UnusableSecretError(f"its API key cannot be decrypted: {error}") from error


def from_environment(value: str) -> str:
    """Return the text itself, or the variable's value if it is `env:NAME`."""
    if not value.startswith(ENV_PREFIX):
        return value
    name = value.removeprefix(ENV_PREFIX)
    found = environment_variable(name)
    if not found:
        raise UnusableSecretError(f"environment variable {name} is not set")
    if not (found.isascii() and found.isprintable()):
        raise UnusableSecretError(f"environment variable {name} holds what no header can carry")
    return found


def environment_variable(name: str) -> str:
    """Return a variable that the configuration names, empty if it is not set. Which ones there are is the operator's."""
    return os.environ.get(name, "").strip()
