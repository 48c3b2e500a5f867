"""`manage.py simulate` as a process."""

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from routing.management.commands.simulate import is_loopback

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_is_ready_and_stops_when_told(number):
    command = [sys.executable, "manage.py", "simulate", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        ready = process.stdout.readline().strip()
        assert ready.startswith("simulator ready http://127.0.0.1:")
        answer = httpx.get(
            f"{ready.split()[-1]}/openai/v1/models", headers={"Authorization": "Bearer k"}, trust_env=False
        )
        assert answer.status_code == 200
        process.send_signal(number)
        assert process.wait(10) == 0


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("example.com", False),
    ],
)
def test_loopback_is_told_from_the_open_net(host, expected):
    assert is_loopback(host) == expected
