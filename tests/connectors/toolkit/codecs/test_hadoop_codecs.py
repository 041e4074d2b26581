"""Hadoop's codecs: what other encoders made comes back, and damaged or endless data ends in an error."""

from __future__ import annotations

import bz2
import gzip
import io
import random
import zlib
from contextlib import suppress

import pyarrow as pa
import pytest

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.toolkit.codecs.hadoop_codecs import codec_of_class, codec_of_path, decompress_block, decompress_stream

RAW = b"".join(b"%d: a line of text, %d\n" % (number, number * 7919) for number in range(40000))


def hadoop_frames(raw: bytes, codec: str, block: int = 300_000, chunk: int = 130_000) -> bytes:
    """As ``BlockCompressorStream`` writes: blocks of chunks behind their lengths."""
    library = pa.Codec("lz4_raw" if codec == "lz4" else codec)
    out = []
    for start in range(0, len(raw), block):
        part = raw[start : start + block]
        out.append(len(part).to_bytes(4, "big"))
        for at in range(0, len(part), chunk):
            packed = library.compress(part[at : at + chunk], asbytes=True)
            out += [len(packed).to_bytes(4, "big"), packed]
    return b"".join(out)


def snappy_file_frames(raw: bytes) -> bytes:
    """Snappy's own frame format; the second frame is not compressed."""
    packed = pa.Codec("snappy").compress(raw[:60000], asbytes=True)
    frames = [(0xFF, b"sNaPpY"), (0x00, bytes(4) + packed), (0xFE, b"padding"), (0x01, bytes(4) + raw[60000:100000])]
    return b"".join(bytes([kind]) + len(body).to_bytes(3, "little") + body for kind, body in frames)


PACKED = {
    "zlib": (RAW + b"more", zlib.compress(RAW) + zlib.compress(b"more"), "zlib"),
    "gzip": (RAW + b"more", gzip.compress(RAW) + gzip.compress(b"more"), "gzip"),
    "bzip2": (RAW + b"more", bz2.compress(RAW) + bz2.compress(b"more"), "bzip2"),
    "zstd": (RAW + RAW, pa.Codec("zstd").compress(RAW, asbytes=True) * 2, "zstd"),
    "snappy": (RAW, hadoop_frames(RAW, "snappy"), "snappy"),
    "lz4": (RAW, hadoop_frames(RAW, "lz4"), "lz4"),
    "raw snappy": (RAW, pa.Codec("snappy").compress(RAW, asbytes=True), "snappy"),
    "framed snappy": (RAW[:100000], snappy_file_frames(RAW), "snappy"),
    "framed lz4": (RAW, pa.Codec("lz4").compress(RAW, asbytes=True), "lz4"),
}


@pytest.mark.parametrize("kind", PACKED)
def test_what_was_compressed_comes_back(kind: str) -> None:
    raw, packed, codec = PACKED[kind]
    assert decompress_stream(io.BytesIO(packed), codec, "it").read() == raw
    assert decompress_block(packed, codec, "it") == raw
    assert decompress_block(packed, codec, "it", size=len(raw)) == raw


@pytest.mark.parametrize("kind", PACKED)
def test_a_stream_is_read_line_by_line(kind: str) -> None:
    raw, packed, codec = PACKED[kind]
    lines = list(decompress_stream(io.BytesIO(packed), codec, "it"))
    assert b"".join(lines) == raw
    assert len(lines) == len(raw.splitlines())


@pytest.mark.parametrize("kind", PACKED)
def test_another_size_is_an_error(kind: str) -> None:
    raw, packed, codec = PACKED[kind]
    for size in (len(raw) - 1, len(raw) + 1, 10):
        with pytest.raises(CorruptFileError):
            decompress_block(packed, codec, "it", size=size)
    with pytest.raises(CorruptFileError):
        decompress_block(packed, codec, "it", limit=1000)


@pytest.mark.parametrize("kind", PACKED)
def test_damaged_data_ends_in_an_error_or_in_other_bytes(kind: str) -> None:
    raw, packed, codec = PACKED[kind]
    chance = random.Random(kind)
    for _ in range(40):
        cut = chance.randrange(1, len(packed))
        bad = bytearray(packed[:cut]) if chance.random() < 0.5 else bytearray(packed)
        bad[chance.randrange(min(len(bad), 40))] ^= 1 << chance.randrange(8)
        with suppress(CorruptFileError):
            assert len(decompress_block(bytes(bad), codec, "it", limit=4 * len(raw))) <= 4 * len(raw)


@pytest.mark.parametrize("kind", ["zlib", "gzip", "bzip2", "zstd", "snappy", "lz4"])
def test_a_file_that_ends_too_early_is_an_error(kind: str) -> None:
    _, packed, codec = PACKED[kind]
    for cut in (len(packed) - 1, len(packed) // 3):
        with pytest.raises(CorruptFileError):
            decompress_stream(io.BytesIO(packed[:cut]), codec, "it").read()


def test_a_bomb_is_stopped_at_the_limit() -> None:
    bomb = zlib.compress(bytes(1 << 26), 9)
    with pytest.raises(CorruptFileError, match="more than 1000 bytes"):
        decompress_block(bomb, "zlib", "it", limit=1000)
    assert decompress_stream(io.BytesIO(bomb), "zlib", "it").read(10) == bytes(10)


def test_names_of_codecs() -> None:
    package = "org.apache.hadoop.io.compress."
    assert codec_of_class(package + "DefaultCodec", "it") == "zlib"
    assert codec_of_class(package + "ZStandardCodec", "it") == "zstd"
    assert codec_of_path("/a.b/part-0.deflate") == "zlib"
    assert codec_of_path("s3://a/b/000000_0.BZ2") == "bzip2"
    assert codec_of_path("/a.gz/000000_0") is None
    assert codec_of_path("/a/part-0.txt") is None
    assert codec_of_class("com.hadoop.compression.lzo.LzoCodec", "it") == "lzo"
    assert codec_of_class("com.hadoop.compression.lzo.LzopCodec", "it") == "lzop"
    assert codec_of_class("org.apache.hadoop.io.compress.LzoCodec", "it") == "lzo"
    assert codec_of_path("/a/part-0.lzo") == "lzop"
    assert codec_of_path("/a/000000_0.lzo_deflate") == "lzo"
    for name in ("com.hadoop.compression.lzo.GzipCodec", "com.mine.compress.SnappyCodec", "com.mine.lzo.LzoCodec"):
        with pytest.raises(NotSupportedError, match=name.rpartition(".")[2]):
            codec_of_class(name, "it")
    for name in ("part-0.lzo.index", "part-0.br"):
        with pytest.raises(NotSupportedError, match=name):
            codec_of_path(f"/a/{name}")
