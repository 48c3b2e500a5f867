"""Server-sent events from bytes: what ends a line, an event and a stream."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing import sse
from routing.sse import Event, EventReader, EventTooLargeError


def read(*chunks: bytes) -> list[bytes | None]:
    reader = EventReader()
    return [event.data for chunk in chunks for event in reader.feed(chunk)]


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data\n\n", [b""]),
        (b": comment\n\n", [None]),
        (b": comment\ndata: a\n\n", [b"a"]),
        (b"id: 1\nretry: 5\nevent: x\ndata: a\n\n", [b"a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: a\n\n\n\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: lost", []),
        (b"data: lost\n", []),
        ("data: a\u2028b\u2029c\u0085d\n\n".encode(), ["a\u2028b\u2029c\u0085d".encode()]),
    ],
)
def test_events_are_cut_by_the_rules_wherever_the_bytes_are_split(stream: bytes, data: list[bytes | None]) -> None:
    assert read(stream) == data
    for cut in range(len(stream)):
        assert read(stream[:cut], stream[cut:]) == data
    assert read(*(bytes([byte]) for byte in stream)) == data
    assert read(*(piece for byte in stream for piece in (bytes([byte]), b""))) == data


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b"", []),
        (b"\n\n", []),
        (b"data: a\n\n", []),
        (b"data: a\n\ndata: b", [b"b"]),
        (b"data: a\n", [b"a"]),
        (b"data: a\r", [b"a"]),
        (b"event: x\ndata: a\ndata: b", [b"a\nb"]),
    ],
)
def test_what_stands_at_the_end_without_a_blank_line_is_told_apart(stream: bytes, data: list[bytes]) -> None:
    reader = EventReader()
    reader.feed(stream)
    assert [event.data for event in reader.rest()] == data
    assert not reader.rest()


def test_the_name_of_an_event_is_read() -> None:
    [event] = EventReader().feed(b"event: message_start\ndata: {}\n\n")
    assert event == Event(b"event: message_start\ndata: {}", b"{}", b"message_start")


def test_an_event_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 100)
    reader = EventReader()
    reader.feed(b"data: " + b"x" * 90)
    with pytest.raises(EventTooLargeError):
        reader.feed(b"xxxxxxxxxx")


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_no_bytes_make_it_stumble(chunks: list[bytes]) -> None:
    assert read(*chunks) == read(b"".join(chunks))
