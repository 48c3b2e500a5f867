"""Secrets at rest."""

from typing import Any

import pytest
from cryptography.fernet import Fernet

from routing import crypto
from routing.crypto import EncryptionUnavailableError


def test_a_secret_comes_back_and_is_not_in_its_cipher_text() -> None:
    token = crypto.encrypt("sk-secret-é")
    assert crypto.decrypt(token) == "sk-secret-é"
    assert "secret" not in token
    assert crypto.encrypt("sk-secret-é") != token


def test_the_first_key_encrypts_and_all_decrypt(settings: Any) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [old]
    token = crypto.encrypt("secret")
    settings.ENCRYPTION_KEYS = [new, old]
    assert crypto.decrypt(token) == "secret"
    rotated = crypto.rotate(token)
    settings.ENCRYPTION_KEYS = [new]
    assert crypto.decrypt(rotated) == "secret"
    with pytest.raises(EncryptionUnavailableError, match="ENCRYPTION_KEY"):
        crypto.decrypt(token)


@pytest.mark.parametrize("keys", [[], ["short"], ["é"], ["=" * 44]])
def test_without_a_usable_key_it_says_what_to_set(settings: Any, keys: list[str]) -> None:
    settings.ENCRYPTION_KEYS = keys
    with pytest.raises(EncryptionUnavailableError, match="ENCRYPTION_KEY"):
        crypto.encrypt("secret")


@pytest.mark.parametrize("token", ["", "x", "gAAAA", "é"])
def test_nonsense_is_not_decrypted(token: str) -> None:
    with pytest.raises(EncryptionUnavailableError):
        crypto.decrypt(token)


def test_client_keys_are_long_and_differ() -> None:
    keys = {crypto.generate_client_key() for _ in range(50)}
    assert len(keys) == 50
    assert {len(key) for key in keys} == {len("sk-or-") + 40}


def test_a_short_secret_has_no_hint() -> None:
    assert crypto.hint("sk-0123456789abcdef") == "cdef"
    assert crypto.hint("sk-0123") == ""
