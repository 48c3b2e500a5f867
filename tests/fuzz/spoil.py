"""Sound inputs, spoiled: documents in a few places, texts and bytes in a few more.

All of it is plain `random`, since Hypothesis makes some hundred inputs a second and a million is wanted; what it would
offer beside that, shrinking, is worth little where each input is a template with a few scars.
"""

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

import orjson

T = TypeVar("T", str, bytes)

RAW = (
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-0.0",
    b"9" * 400,
    b"-" + b"9" * 5000,
    b'"\\ud800"',
    b'"\\u0000"',
    b'"a\\udfffb"',
    b"[" * 200 + b"]" * 200,
    b"[" * 500 + b"]" * 500,
    b'{"a":' * 1100 + b"1" + b"}" * 1100,
    b'"\xff\xfe"',
    b'"' + b"x" * 3000 + b'"',
)
"""What a JSON text can hold that no value of Python's stands for."""
_RAW_MARKS = {f'"@raw{number}@"'.encode(): raw for number, raw in enumerate(RAW)}

PLAIN = (
    *b"null true false 0 -1 1.5 429 500 1e308 1180591620717411303424 18446744073709551615".split(),
    *(b'""', b'"x"', b'" "', b'"model"', b'"429"', b'"3s"', b'"rate limit"', b'"\xc3\xa9"', b'"\xe2\x80\xa8"', b'"{"'),
    *(b"[]", b"[[]]", b"[1]", b"[null]", b"{}", b'{"type":"x"}', b'{"a":[{}]}', b'[{"type":"text"}]', b'{"":""}'),
    *(
        b'{"error":{"message":["a",1,null,{"x":[]}]}}',
        b'"data:text/plain;base64,!"',
        b'"https://"',
        b'"\\u0000\\u001b"',
    ),
)
JUNK = (*PLAIN * 10, *_RAW_MARKS)
"""As JSON: parsed anew each time, since what is put into a document may be spoiled again."""

BYTES = (
    b"\x00",
    b"\xff",
    b"\xf0\x9f",
    b"\n",
    b"\r\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"\\",
    b"\\u",
    b",",
    b":",
    b"e",
    b"9",
    b" ",
)
TEXTS = (
    "\x00",
    "\u2028",
    "é",
    "\n",
    "{",
    '"',
    "'",
    "`",
    "9",
    ".",
    "-",
    " ",
    "s",
    "m",
    "%",
    "٣",
    "²",
    "\ud800",
    "in ",
    "\U0001f600",
)


def spoiled(chance: Random, document: bytes, names: Sequence[str]) -> Any:
    """The document, which must be an object, with scars in one to three places. `names`: members to rename to."""
    value = orjson.loads(document)
    for _ in range(chance.choice((1, 1, 2, 3))):
        _scar(chance, value, names)
    return value


def written(document: Any) -> bytes:
    """The document as JSON, with what only JSON can say."""
    text = orjson.dumps(document)
    if b"@raw" in text:
        for mark, raw in _RAW_MARKS.items():
            text = text.replace(mark, raw)
    return text


def cut(chance: Random, text: T, pieces: Sequence[T]) -> T:
    """A text or bytes with one to four cuts, repetitions and strange pieces."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(text))
        stop = start + chance.choice((0, 0, 1, 2, 8, 40))
        middle = chance.choice(pieces)
        if chance.random() < 0.15:
            middle = (text[start:stop] or middle) * chance.choice((2, 3, 30, 300))
        text = text[:start] + middle + text[stop:]
    return text


def _scar(chance: Random, value: Any, names: Sequence[str]) -> None:
    """Walk down at random, and spoil what is there."""
    holder = value
    while True:
        if not holder:
            return
        key = chance.choice(list(holder)) if isinstance(holder, dict) else chance.randrange(len(holder))
        inside = holder[key]
        if not isinstance(inside, dict | list) or chance.random() < 0.3:
            break
        holder = inside
    deed = chance.random()
    if deed < 0.55:
        holder[key] = orjson.loads(chance.choice(JUNK))
    elif deed < 0.7:
        del holder[key]
    elif deed < 0.8 and isinstance(holder, dict):
        holder[chance.choice(names)] = holder.pop(key)
    elif deed < 0.9:
        holder[key] = [inside] if chance.random() < 0.5 else {chance.choice(names): inside}
    elif isinstance(inside, str):
        holder[key] = cut(chance, inside, TEXTS[:-3])
    elif isinstance(holder, list):
        holder.extend([inside] * chance.choice((1, 2, 50)))
