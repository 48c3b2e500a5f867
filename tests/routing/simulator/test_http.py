import pytest

from routing.simulator.http import MAX_BODY_BYTES, MAX_HEAD_BYTES, ProtocolError, Request, RequestParser, response_head


def parse(data: bytes) -> Request | None:
    parser = RequestParser()
    parser.feed(data)
    return parser.take()


def parsed(data: bytes) -> Request:
    request = parse(data)
    assert request is not None
    return request


def test_a_request_with_a_body_is_read():
    request = parsed(b"POST /a%20b?x=1&y= HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
    assert (request.method, request.path, request.query, request.body) == ("POST", "/a b", {"x": "1", "y": ""}, b"abc")
    assert request.headers["host"] == "h"
    assert request.keep_alive


@pytest.mark.parametrize(
    "data",
    [
        b"POST /p HTTP/1.1\r\nContent-Length: 11\r\n\r\nhello world",
        b"POST /p HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n",
        b"POST /p HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\nTrailer: t\r\n\r\n",
    ],
)
def test_a_request_arriving_byte_by_byte_is_read_once_and_whole(data):
    parser, taken = RequestParser(), []
    for byte in data + b"GET /next HTTP/1.1\r\n\r\n":
        parser.feed(bytes([byte]))
        if request := parser.take():
            taken.append((request.path, request.body))
    assert taken == [("/p", b"hello world"), ("/next", b"")]


def test_two_requests_in_one_packet_are_read_in_order():
    parser = RequestParser()
    parser.feed(b"GET /1 HTTP/1.1\r\n\r\n\r\nGET /2 HTTP/1.1\r\n\r\n")
    first, second, third = parser.take(), parser.take(), parser.take()
    assert first
    assert second
    assert [first.path, second.path] == ["/1", "/2"]
    assert third is None


def test_the_last_and_the_next_request_share_no_body():
    parser = RequestParser()
    parser.feed(b"POST /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nGET /2 HTTP/1.1\r\n\r\n")
    parser.take()
    second = parser.take()
    assert second
    assert second.body == b""


@pytest.mark.parametrize(
    ("version", "connection", "kept"),
    [(b"1.1", b"", True), (b"1.1", b"close", False), (b"1.0", b"", False), (b"1.0", b"Keep-Alive", True)],
)
def test_the_connection_is_kept_as_the_version_and_header_say(version, connection, kept):
    assert kept == parsed(b"GET / HTTP/%b\r\nConnection: %b\r\n\r\n" % (version, connection)).keep_alive


def test_repeated_headers_are_joined():
    assert parsed(b"GET / HTTP/1.1\r\nX: a\r\nx: b\r\n\r\n").headers["x"] == "a, b"


def test_a_client_that_waits_for_100_continue_is_seen():
    parser = RequestParser()
    parser.feed(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
    assert parser.take() is None
    assert parser.wants_continue
    parser.feed(b"x")
    assert parser.take()
    assert not parser.wants_continue


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET http://elsewhere/ HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/2\r\n\r\n", 505),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n folded: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nContent-Length: ²\r\n\r\n".encode("latin-1"), 400),
        (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (b"GET / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (MAX_BODY_BYTES + 1), 413),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 300, 400),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % (MAX_BODY_BYTES + 1), 413),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * MAX_HEAD_BYTES, 431),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 101 + b"\r\n", 431),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n", 400),
    ],
)
def test_what_is_no_request_is_refused_with_a_status(data, status):
    with pytest.raises(ProtocolError) as refused:
        parse(data)
    assert status == refused.value.status


def test_a_status_without_a_name_can_be_sent():
    assert response_head(999, {"a": "b"}) == b"HTTP/1.1 999 Unknown\r\na: b\r\n\r\n"
