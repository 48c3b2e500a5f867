"""Decompressing answers piece by piece, as rough as front ends compress them.

We ask for no compression; some compress all the same, above all errors. What they call gzip may be several members one
after another (a piece of a stream each), or nothing compressed at all, where a proxy on the way decompressed and kept
the header; what they call deflate is zlib's format (RFC 9110 section 8.4.1.2) or, from old servers, the bare algorithm.
"""

import zlib
from typing import Self

GZIP = b"\x1f\x8b"
ANY_HEADER = zlib.MAX_WBITS | 32  # gzip or zlib, told by the header
NO_HEADER = -zlib.MAX_WBITS
HEADER_BYTES = 2  # as many tell what follows


class Inflater:
    """One body. `feed` raises zlib.error for what cannot be decompressed."""

    __slots__ = ("_bare", "_begun", "_decoder", "_held", "_or_plain", "_plain")

    def __init__(self, *, bare: bool, or_plain: bool) -> None:
        """bare: without a header it is deflate all the same. or_plain: else it passes as it is."""
        self._bare = bare
        self._or_plain = or_plain
        self._plain = False
        self._begun = False
        self._decoder: zlib._Decompress | None = None
        self._held = b""

    @classmethod
    def of(cls, encoding: str, *, or_plain: bool) -> Self | None:
        """For a Content-Encoding; None if there is nothing to decompress, or nothing that we could."""
        encoding = encoding.strip().lower()
        bare = encoding == "deflate"
        return cls(bare=bare, or_plain=or_plain) if bare or encoding in ("gzip", "x-gzip") else None

    def feed(self, data: bytes, limit: int) -> bytes:
        """What `data` holds, at most `limit` bytes; maybe nothing yet."""
        if self._plain:
            return data
        output, data = b"", self._held + data
        self._held = b""
        while data and len(output) < limit:
            if self._decoder is None:
                if len(data) < HEADER_BYTES:
                    self._held = data
                    break
                if not self._begin(data):
                    return data if self._plain else output
            assert self._decoder is not None  # noqa: S101 (begun)
            output += self._decoder.decompress(data, limit - len(output))
            if not self._decoder.eof:
                break
            data, self._decoder = self._decoder.unused_data, None
        return output

    def _begin(self, data: bytes) -> bool:
        """Begin a member; false if there is none: not compressed, or padding after the last."""
        headed = data.startswith(GZIP) or (data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2]) % 31 == 0)
        if not headed and self._begun:
            return False
        if not (headed or self._bare) and self._or_plain:
            self._plain = True
            return False
        self._begun = True
        self._decoder = zlib.decompressobj(ANY_HEADER if headed or not self._bare else NO_HEADER)
        return True
