"""The project's settings as tests need them: nothing from this machine's `.env`, quick password hashes.

pytest-django imports the settings before any conftest, so what they read is set here.
"""

import os
from pathlib import Path

VAR = Path(__file__).resolve().parent.parent / "var"

os.environ |= {
    "SECRET_KEY": "test-secret-key-of-no-value-0123456789abcdef",
    "ENCRYPTION_KEY": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
    "DEBUG": "false",
    "ALLOWED_HOSTS": "127.0.0.1,localhost,testserver",
    "CSRF_TRUSTED_ORIGINS": "",
    # `make services` runs the same tests on PostgreSQL
    "DATABASE_URL": os.environ.get("TEST_DATABASE_URL") or f"sqlite:///{VAR / 'tests.sqlite3'}",
    "REDIS_URL": os.environ.get("TEST_REDIS_URL", ""),
    "LOG_LEVEL": "INFO",
    "LOG_FORMAT": "text",
}

from omniroute_site.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    DATABASES["default"]["OPTIONS"]["init_command"] += "; PRAGMA synchronous=OFF"  # noqa: F405 (no test loses its power)
