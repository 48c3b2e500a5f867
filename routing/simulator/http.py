"""HTTP/1.1 on the server's side, small: requests out of bytes, response heads into bytes.

Own code rather than a library's, since the simulator must also send what no server library agrees to send.
"""

import re
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, unquote

MAX_HEAD_BYTES = 64 * 1024
MAX_HEADERS = 100
MAX_BODY_BYTES = 64 * 1024 * 1024
MAX_CHUNK_LINE_BYTES = 256

_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    413: "Content Too Large", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    505: "HTTP Version Not Supported", 529: "Site is overloaded",
}  # fmt: skip

JSON = "application/json"
EVENT_STREAM = "text/event-stream; charset=utf-8"

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


class ProtocolError(Exception):
    """The bytes are not a request this server takes; the connection is answered with `status` and closed."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Request:
    """One request; header names are lower case, `path` is percent-decoded."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = b""
    keep_alive: bool = True
    chunked_allowed: bool = True  # False for HTTP/1.0, which knows no chunks


@dataclass(slots=True)
class RequestParser:
    """Turns a connection's bytes into requests: `feed` bytes, then call `take` until it returns None."""

    buffer: bytearray = field(default_factory=bytearray)
    wants_continue: bool = False  # the head asked for "100 Continue" and the body is not here yet
    _head: Request | None = None
    _length: int | None = None  # None: chunked
    _chunks: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> None:
        """Add received bytes."""
        self.buffer += data

    def take(self) -> Request | None:
        """The next complete request, or None while bytes are missing. Raises ProtocolError."""
        if self._head is None and not self._read_head():
            return None
        body = self._read_chunks() if self._length is None else self._read_length(self._length)
        if body is None or self._head is None:
            return None
        request, self._head, self.wants_continue = self._head, None, False
        return replace(request, body=body) if body else request

    def _read_head(self) -> bool:
        while self.buffer.startswith(b"\r\n"):  # RFC 9112 2.2: empty lines before a request line are ignored
            del self.buffer[:2]
        end = self.buffer.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES + 4)
        if end < 0:
            if len(self.buffer) > MAX_HEAD_BYTES:
                raise ProtocolError(431, "The request head is too large")
            return False
        head = parse_head(bytes(self.buffer[:end]))
        del self.buffer[: end + 4]
        self._length = body_length(head.headers)
        self._head, self._chunks = head, bytearray()
        self.wants_continue = head.headers.get("expect", "").lower() == "100-continue" and not self.buffer
        return True

    def _read_length(self, length: int) -> bytes | None:
        if len(self.buffer) < length:
            return None
        body = bytes(self.buffer[:length])
        del self.buffer[:length]
        return body

    def _read_chunks(self) -> bytes | None:
        while True:
            end = self.buffer.find(b"\r\n", 0, MAX_CHUNK_LINE_BYTES)
            if end < 0:
                if len(self.buffer) >= MAX_CHUNK_LINE_BYTES:
                    raise ProtocolError(400, "A chunk size line is too long")
                return None
            size = chunk_size(bytes(self.buffer[:end]))
            if len(self._chunks) + size > MAX_BODY_BYTES:
                raise ProtocolError(413, "The request body is too large")
            if size == 0:
                return self._read_trailers(end)
            if len(self.buffer) < end + 2 + size + 2:
                return None
            if self.buffer[end + 2 + size : end + 4 + size] != b"\r\n":
                raise ProtocolError(400, "A chunk does not end where its size says")
            self._chunks += self.buffer[end + 2 : end + 2 + size]
            del self.buffer[: end + 4 + size]

    def _read_trailers(self, size_line_end: int) -> bytes | None:
        if self.buffer[size_line_end + 2 : size_line_end + 4] == b"\r\n":
            del self.buffer[: size_line_end + 4]
            return bytes(self._chunks)
        end = self.buffer.find(b"\r\n\r\n", size_line_end)
        if end < 0:
            if len(self.buffer) > MAX_HEAD_BYTES:
                raise ProtocolError(431, "The trailers are too large")
            return None
        del self.buffer[: end + 4]
        return bytes(self._chunks)


def parse_head(head: bytes) -> Request:
    """A request without its body from the bytes before the empty line. Raises ProtocolError."""
    line, *header_lines = head.split(b"\r\n")
    parts = line.split(b" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or not parts[1].startswith(b"/"):
        raise ProtocolError(400, "The request line is not HTTP")
    if parts[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
        raise ProtocolError(505, "Only HTTP/1.1 and HTTP/1.0 are spoken here")
    if len(header_lines) > MAX_HEADERS:
        raise ProtocolError(431, "Too many header fields")
    headers: dict[str, str] = {}
    for header_line in header_lines:
        raw_name, colon, raw_value = header_line.partition(b":")
        if not colon or not _TOKEN.fullmatch(raw_name):
            raise ProtocolError(400, "A header line is not a header")
        name, value = raw_name.decode("ascii").lower(), raw_value.strip(b" \t").decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    path, _, query = parts[1].decode("latin-1").partition("?")
    old = parts[2] == b"HTTP/1.0"
    connection = headers.get("connection", "").lower()
    return Request(
        method=parts[0].decode("ascii"),
        path=unquote(path) if "%" in path else path,
        query=dict(parse_qsl(query, keep_blank_values=True)) if query else {},
        headers=headers,
        keep_alive="keep-alive" in connection if old else "close" not in connection,
        chunked_allowed=not old,
    )


def body_length(headers: dict[str, str]) -> int | None:
    """How many body bytes follow; None when they come in chunks. Raises ProtocolError."""
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    if coding is not None:
        if length is not None:  # RFC 9112 6.3: the smell of request smuggling
            raise ProtocolError(400, "Both Content-Length and Transfer-Encoding")
        if coding.lower() != "chunked":
            raise ProtocolError(501, "Only the chunked transfer coding is spoken here")
        return None
    if length is None:
        return 0
    if not (length.isascii() and length.isdigit()) or len(length) > 18:
        raise ProtocolError(400, "Content-Length is not a number")
    if int(length) > MAX_BODY_BYTES:
        raise ProtocolError(413, "The request body is too large")
    return int(length)


def chunk_size(line: bytes) -> int:
    """The size in a chunk's first line; extensions are ignored. Raises ProtocolError."""
    digits = line.partition(b";")[0].strip()
    if not re.fullmatch(rb"[0-9A-Fa-f]{1,15}", digits):
        raise ProtocolError(400, "A chunk size is not a number")
    return int(digits, 16)


def response_head(status: int, headers: dict[str, str]) -> bytes:
    """Status line and headers with the empty line after them; any status from 100 to 999."""
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Unknown')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "\r\n"]).encode("latin-1", "replace")


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)
