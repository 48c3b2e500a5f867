"""What answers say, as a person reads it, and the version that their forms carry along."""

import html
import re
from typing import Any

from django.test import Client


def said_by(answer: Any) -> str:
    return html.unescape(answer.content.decode())


def text(client: Client, path: str) -> str:
    return said_by(client.get(path))


def stamp(client: Client, path: str) -> str:
    """What a form was made from, to be sent with it."""
    found = re.search(r'name="seen" value="(\w*)"', client.get(path).content.decode())
    assert found
    return found[1]
