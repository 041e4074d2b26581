"""Streams of ORC files: chunks of at most a block."""

from __future__ import annotations

import zlib

import pyarrow as pa
import pytest

from connectors.toolkit.orc.wire import decompress

BLOCK = 1 << 16


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(data) + compressor.flush()


def chunk_of(data: bytes, codec: str) -> bytes:
    packed = raw_deflate(data) if codec == "zlib" else pa.Codec(codec).compress(data, asbytes=True)
    return (len(packed) << 1).to_bytes(3, "little") + packed


@pytest.mark.parametrize("codec", ["zlib", "snappy", "lz4_raw", "zstd"])
def test_chunks_hold_at_most_a_block(codec: str) -> None:
    full, short = bytes(range(256)) * (BLOCK // 256), b"the rest"
    plain = (len(short) << 1 | 1).to_bytes(3, "little") + short
    assert decompress(chunk_of(full, codec) + chunk_of(short, codec) + plain, codec, BLOCK) == full + short + short
    # A damaged file could have the reader fill all memory.
    with pytest.raises((ValueError, pa.ArrowException)):
        decompress(chunk_of(bytes(100 * BLOCK), codec), codec, BLOCK)
    with pytest.raises((ValueError, pa.ArrowException)):
        decompress(chunk_of(bytes(BLOCK + 1), codec), codec, BLOCK)
