"""Secrets at rest: connection keys encrypted, client keys hashed. Nothing here logs or shows what it handles."""

import hashlib
import secrets
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

CLIENT_KEY_PREFIX = "sk-or-"
HINT_LENGTH = 4
"""How much of a key's end people are shown, to tell keys apart."""


class EncryptionUnavailableError(Exception):
    """A secret cannot be encrypted or decrypted; the message says what to set, and never holds the secret."""


def encrypt(secret: str) -> str:
    """Encrypt with the first key of ENCRYPTION_KEY. Raises EncryptionUnavailableError without a usable one."""
    return _fernet(tuple(settings.ENCRYPTION_KEYS)).encrypt(secret.encode()).decode()


def decrypt(token: str) -> str:
    """Decrypt with whichever key of ENCRYPTION_KEY fits. Raises EncryptionUnavailableError if none does."""
    try:
        return _fernet(tuple(settings.ENCRYPTION_KEYS)).decrypt(token.encode()).decode()
    except InvalidToken as error:
        raise EncryptionUnavailableError("no key in ENCRYPTION_KEY decrypts it") from error


def rotate(token: str) -> str:
    """Encrypt again with the first key what any of the keys decrypts."""
    return encrypt(decrypt(token))


@lru_cache(maxsize=8)
def _fernet(keys: tuple[str, ...]) -> MultiFernet:
    if not keys:
        raise EncryptionUnavailableError("ENCRYPTION_KEY is not set: put a Fernet key in the environment or in .env")
    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError as error:
        raise EncryptionUnavailableError("ENCRYPTION_KEY is not made of 32-byte urlsafe base64 keys") from error


def generate_client_key() -> str:
    """Return a new client key: the prefix and 40 random urlsafe characters (240 bits)."""
    return CLIENT_KEY_PREFIX + secrets.token_urlsafe(30)


def hash_client_key(key: str) -> str:
    """Return what is stored of a client key. Keys are long and random: a plain SHA-256 is as good as a slow hash."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def hint(secret: str) -> str:
    """Return the end of a secret that people may see; nothing of a short one."""
    return secret[-HINT_LENGTH:] if len(secret) >= HINT_LENGTH * 4 else ""
