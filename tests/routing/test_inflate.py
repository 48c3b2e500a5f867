"""Compressed answers of providers' front ends, however they cut and name them."""

import gzip
import zlib

import pytest

from routing.upstream.inflate import Inflater

TEXT = b'{"error": {"message": "Your credit balance is too low"}}' * 20


def bare(data: bytes) -> bytes:
    encoder = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return encoder.compress(data) + encoder.flush()


def inflated(body: bytes, encoding: str, *, size: int, or_plain: bool = False) -> bytes:
    inflater = Inflater.of(encoding, or_plain=or_plain)
    assert inflater is not None
    return b"".join(inflater.feed(body[at : at + size], 10_000) for at in range(0, len(body), size))


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(TEXT)),
        (" X-GZIP ", gzip.compress(TEXT)),
        ("gzip", gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:])),
        ("gzip", gzip.compress(TEXT) + b"\0" * 9),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", bare(TEXT)),
        ("deflate", gzip.compress(TEXT)),
    ],
    ids=["gzip", "its old name", "several members", "padded", "zlib", "without a header", "gzip by another name"],
)
def test_what_is_called_compressed_is_read_in_pieces_of_any_size(encoding: str, body: bytes, size: int) -> None:
    assert inflated(body, encoding, size=size) == TEXT


@pytest.mark.parametrize("size", [1, 10_000])
def test_a_plain_body_passes_where_it_may(size: int) -> None:
    assert inflated(TEXT, "gzip", size=size, or_plain=True) == TEXT
    with pytest.raises(zlib.error):
        inflated(TEXT, "gzip", size=size)


def test_what_we_cannot_decompress_is_left_alone() -> None:
    assert [Inflater.of(name, or_plain=True) for name in ("", "identity", "br", "zstd", "gzip, br")] == [None] * 5


def test_no_more_than_the_limit_comes_of_many_members() -> None:
    inflater = Inflater.of("gzip", or_plain=False)
    assert inflater is not None
    assert len(inflater.feed(gzip.compress(b"\0" * 1000) * 50, 2500)) == 2500
