"""Environment, log lines, headers and checks."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.test import Client, override_settings

from omniroute_site import checks as our_checks
from omniroute_site.environment import Environment
from omniroute_site.logs import JsonFormatter, TextFormatter
from routing.models import Connection, ErrorRule, Provider
from tests.site.processes import ROOT, environment

READERS: dict[str, Callable[[Environment], Any]] = {
    "flag": lambda env: env.flag("VALUE"),
    "number": lambda env: env.number("VALUE", default=1),
    "whole": lambda env: env.whole("VALUE", default=1, minimum=1),
    "choice": lambda env: env.choice("VALUE", ["text", "json"], default="text"),
    "fernet_keys": lambda env: env.fernet_keys("VALUE"),
}


@pytest.mark.parametrize(
    ("reader", "text", "value"),
    [
        ("flag", "TRUE", True),
        ("flag", "off", False),
        ("flag", "", False),
        ("number", "1.5", 1.5),
        ("number", "", 1),
        ("whole", "3", 3),
        ("choice", "JSON", "json"),
        ("fernet_keys", "", []),
        (
            "fernet_keys",
            " MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE= ,",
            ["MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="],
        ),
    ],
)
def test_variables_are_read(reader: str, text: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALUE", text)

    assert READERS[reader](Environment()) == value


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        ("flag", "flase"),
        ("number", "30s"),
        ("number", "nan"),
        ("number", "-1"),
        ("whole", "1.5"),
        ("whole", "0"),
        ("choice", "xml"),
        ("fernet_keys", "short"),
        ("fernet_keys", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=,junk"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_by_name(
    reader: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALUE", text)

    with pytest.raises(ImproperlyConfigured, match="VALUE"):
        READERS[reader](Environment())


def record() -> logging.LogRecord:
    line = logging.getLogger("routing").makeRecord(
        "routing", logging.WARNING, "x.py", 1, "attempt.failed", (), None, extra={"provider": "openai", "wait": 1.5}
    )
    error = ValueError("why")
    line.exc_info = (ValueError, error, None)
    return line


def test_json_log_lines_carry_the_fields() -> None:
    line = json.loads(JsonFormatter().format(record()))

    assert (line["event"], line["level"], line["logger"]) == ("attempt.failed", "WARNING", "routing")
    assert (line["provider"], line["wait"]) == ("openai", 1.5)
    assert "ValueError: why" in line["exception"]


def test_text_log_lines_carry_the_fields() -> None:
    text = TextFormatter().format(record())

    assert "WARNING routing attempt.failed provider=openai wait=1.5" in text
    assert "ValueError: why" in text


def test_every_page_forbids_what_comes_from_elsewhere(client: Client, db: None) -> None:
    headers = client.get("/admin/login/").headers

    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_stored_keys_without_an_encryption_key_are_an_error(db: None) -> None:
    provider = Provider.objects.create(slug="openai", format="openai", base_url="http://127.0.0.1:1/v1")
    Connection.objects.create(provider=provider, slug="main", api_key_encrypted="gAAAA")

    with override_settings(ENCRYPTION_KEYS=[]):
        found = our_checks.stored_keys_can_be_read(None, databases=["default"])

    assert [problem.id for problem in found] == ["omniroute.E001"]
    assert our_checks.stored_keys_can_be_read(None, databases=["default"]) == []


def test_a_rule_that_never_fires_is_warned_about(db: None) -> None:
    provider = Provider.objects.create(slug="openai", format="openai", base_url="http://127.0.0.1:1/v1")
    ErrorRule.objects.create(provider=provider, name="fine", pattern="per day", kind="auth")
    assert our_checks.error_rules_can_fire(None, databases=["default"]) == []

    ErrorRule.objects.create(provider=provider, name="left", pattern="quota(?! left)", kind="auth")
    (found,) = our_checks.error_rules_can_fire(None, databases=["default"])

    assert found.id == "omniroute.W004"
    assert "openai (left)" in found.msg
    assert "There is no lookaround" in str(found.hint)


def test_debug_is_warned_about() -> None:
    with override_settings(DEBUG=True):
        assert [problem.id for problem in our_checks.debug_is_off(None)] == ["omniroute.W001"]


def test_the_project_itself_has_nothing_to_complain_about() -> None:
    assert checks.run_checks() == []


def test_a_database_host_that_vanishes_is_given_up_soon_unless_the_url_says_otherwise(tmp_path: Path) -> None:
    show = (
        "import json; from omniroute_site import settings; print(json.dumps(settings.DATABASES['default']['OPTIONS']))"
    )
    url = "postgres://omniroute@db.example/omniroute?connect_timeout=9"
    done = subprocess.run(
        [sys.executable, "-c", show],
        cwd=ROOT,
        env=environment(tmp_path, DATABASE_URL=url),
        capture_output=True,
        text=True,
        check=True,
    )

    options = json.loads(done.stdout)
    assert options["connect_timeout"] == 9
    assert options["keepalives_idle"] + options["keepalives_interval"] * options["keepalives_count"] <= 20
    assert options["tcp_user_timeout"] <= 20_000


def test_several_processes_without_redis_and_people_on_plain_http_are_warned_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.postgresql")
    with override_settings(REDIS_URL=""):
        assert [problem.id for problem in our_checks.workers_can_talk(None)] == ["omniroute.W003"]
    with override_settings(ALLOWED_HOSTS=["gateway.example.org"], SERVED_OVER_HTTPS=False):
        assert [problem.id for problem in our_checks.people_come_by_https(None)] == ["omniroute.W002"]
    with override_settings(ALLOWED_HOSTS=["gateway.example.org"], SERVED_OVER_HTTPS=True):
        assert our_checks.people_come_by_https(None) == []
