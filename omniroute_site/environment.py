"""Environment variables read strictly: a value that cannot be meant is refused by the variable's name.

django-environ reads `DEBUG=flase` as false and `DRAIN_SECONDS=30s` as a bare ValueError; an operator at 3 a.m.
deserves a sentence. Settings read everything through these.
"""

import base64
import binascii
import math
from collections.abc import Sequence

import environ
from django.core.exceptions import ImproperlyConfigured

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off", ""})


class Environment(environ.Env):  # type: ignore[misc]  # django-environ has no types
    """django-environ with readers that name the variable they refuse."""

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A boolean; anything but the usual words is refused."""
        value = self.str(name, default=str(default)).strip().lower()
        if value in TRUE:
            return True
        if value in FALSE:
            return False
        raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}")

    def number(self, name: str, *, default: float, minimum: float = 0) -> float:
        """A finite number of at least `minimum`."""
        text = self.str(name, default="").strip() or str(default)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < minimum:
            raise ImproperlyConfigured(f"{name} must be a number of at least {minimum:g}, not {text!r}")
        return value

    def whole(self, name: str, *, default: int, minimum: int = 0) -> int:
        """A whole number of at least `minimum`."""
        value = self.number(name, default=default, minimum=minimum)
        if value != int(value):
            raise ImproperlyConfigured(f"{name} must be a whole number, not {value}")
        return int(value)

    def choice(self, name: str, choices: Sequence[str], *, default: str) -> str:
        """One of `choices`, whatever its case."""
        text = self.str(name, default="").strip() or default
        for choice in choices:
            if text.lower() == choice.lower():
                return choice
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not {text!r}")

    def fernet_keys(self, name: str) -> list[str]:
        """Comma-separated Fernet keys, the newest first; empty if the variable is."""
        keys = [key.strip() for key in self.str(name, default="").split(",") if key.strip()]
        for position, key in enumerate(keys, 1):
            try:
                size = len(base64.urlsafe_b64decode(key))
            except (binascii.Error, ValueError):
                size = 0
            if size != 32:
                raise ImproperlyConfigured(
                    f"{name}: key {position} is not 32 bytes in URL-safe base64; "
                    "make one with `python -c 'import base64, os; print(base64.urlsafe_b64encode(os.urandom(32)).decode())'`"
                )
        return keys
