"""Text can be read: every pair of ink and ground that the console uses has a contrast of 4.5 to 1, light and dark."""

import re
from pathlib import Path

import pytest

TOKENS = Path(__file__).resolve().parents[2] / "static" / "omniroute" / "css" / "tokens.css"
GROUNDS = ["bg", "surface", "sunken"]
INKS = ["ink", "ink-2", "ink-3"]
TONES = ["ok", "degraded", "open", "probe", "forced", "off"]


def colours(scheme: int) -> dict[str, str]:
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", TOKENS.read_text())
    return {name: found[scheme] for name, *found in pairs}


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(two)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read(scheme: int) -> None:
    colour = colours(scheme)
    pairs = [(ink, ground) for ink in INKS + TONES for ground in GROUNDS]
    pairs += [(tone, f"{tone}-soft") for tone in TONES]
    pairs += [(ink, f"{tone}-soft") for ink in ("ink", "ink-2") for tone in TONES]
    pairs += [("bg", "ink")]
    unreadable = {pair: round(c, 2) for pair in pairs if (c := contrast(colour[pair[0]], colour[pair[1]])) < 4.5}
    assert unreadable == {}


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_fields_have_an_edge(scheme: int) -> None:
    colour = colours(scheme)
    assert all(contrast(colour["edge"], colour[ground]) >= 3 for ground in GROUNDS)
