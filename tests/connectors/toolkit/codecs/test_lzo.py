"""LZO: files of lzop with every kind of header and checksum, damaged ones, and what happens without the library."""

from __future__ import annotations

import io
import random
import sys
import tracemalloc
import zlib

import pytest
from lzallright import LZOCompressor

from connector_spi.errors import ConnectorError, CorruptFileError, NotSupportedError
from connectors.toolkit.codecs.hadoop_codecs import decompress_block, decompress_stream
from connectors.toolkit.codecs.lzo import decompress_lzo

RAW = b"".join(b"%d: a line of text, %d\n" % (number, number * 7919) for number in range(4000))
_MAGIC = b"\x89LZO\0\r\n\x1a\n"
_PLAIN = 0x03000000


def _big(number: int, size: int = 4) -> bytes:
    return number.to_bytes(size, "big")


def lzop_file(
    raw: bytes, flags: int = 0x1, *, method: int = 1, needed: int = 0x0940, name: bytes = b"", block: int = 30_000
) -> bytes:
    """As lzop writes it; every third block is stored as it is."""
    head = _big(0x1040, 2) + _big(0x20A0, 2) + _big(needed, 2) + bytes([method, 5]) + _big(flags | _PLAIN)
    head += _big(0o100644) + _big(1_700_000_000) + _big(0) + bytes([len(name)]) + name
    out = [_MAGIC, head, _big(zlib.crc32(head) if flags & 0x1000 else zlib.adler32(head))]
    if flags & 0x40:
        out.append(_big(3) + b"abc" + _big(0))
    for at in range(0, len(raw), block):
        data = raw[at : at + block]
        packed = LZOCompressor().compress(data)
        if at // block % 3 == 2 or len(packed) >= len(data):
            packed = data
        out += [_big(len(data)), _big(len(packed))]
        out += [_big(check(data)) for flag, check in ((0x1, zlib.adler32), (0x100, zlib.crc32)) if flags & flag]
        if len(packed) < len(data):
            out += [_big(check(packed)) for flag, check in ((0x2, zlib.adler32), (0x200, zlib.crc32)) if flags & flag]
        out.append(packed)
    return b"".join([*out, bytes(4)])


def _read(data: bytes) -> bytes:
    return decompress_stream(io.BytesIO(data), "lzop", "it").read()


@pytest.mark.parametrize("flags", [0, 0x1, 0x3, 0x100, 0x300, 0x303, 0x1000, 0x1303, 0x40, 0x1341])
def test_headers_and_checksums(flags: int) -> None:
    data = lzop_file(RAW, flags, name=b"a file's name")
    assert _read(data) == RAW
    assert _read(data + lzop_file(RAW[:10]) + lzop_file(b"")) == RAW + RAW[:10]
    assert decompress_block(data, "lzop", "it", size=len(RAW)) == RAW


@pytest.mark.parametrize("flags", [0x1, 0x2, 0x100, 0x200])
def test_a_changed_byte_is_noticed_by_the_checksum(flags: int) -> None:
    data = lzop_file(RAW, flags)
    # Behind the header, the sizes and the checksum of the first block.
    for place in (60, 2000, 5000):
        bad = bytearray(data)
        bad[place] ^= 1
        with pytest.raises(CorruptFileError, match=r"checksum does not fit|not compressed by LZO|of lzop of"):
            _read(bytes(bad))


@pytest.mark.parametrize("place", range(9, 34))
def test_a_changed_header_is_an_error(place: int) -> None:
    bad = bytearray(lzop_file(RAW))
    bad[place] ^= 1
    with pytest.raises(ConnectorError, match="it "):
        _read(bytes(bad))


@pytest.mark.parametrize("cut", [0, 5, 9, 20, 36, 41, 44, 60, 500, -1, -4, -5])
def test_a_file_that_ends_too_early_is_an_error(cut: int) -> None:
    with pytest.raises(CorruptFileError, match="it "):
        _read(lzop_file(RAW)[:cut])


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (lzop_file(RAW, 0x801), "filter"),
        (lzop_file(RAW, method=0x80), "method 128"),
        (lzop_file(RAW, needed=0x2000), "0x2000"),
    ],
)
def test_what_lzop_may_do_one_day_is_refused(data: bytes, named: str) -> None:
    with pytest.raises(NotSupportedError, match=named):
        _read(data)


def test_what_follows_has_to_be_a_file_of_lzop() -> None:
    with pytest.raises(CorruptFileError, match="has to begin"):
        _read(lzop_file(RAW) + b"trailing")


def test_lengths_ask_for_no_memory() -> None:
    lzop, frames = lzop_file(RAW), _big(len(RAW)) + _big(100) + bytes(100)
    at = lzop.index(_big(30_000))
    most = (1 << 32) - 1
    sizes = [_big(one) + _big(other) for one, other in ((most, most), (most, 4096), (1 << 26, (1 << 26) - 1))]
    tracemalloc.start()
    try:
        for size in sizes:
            with pytest.raises(CorruptFileError):
                _read(lzop[:at] + size + lzop[at + 8 :])
            with pytest.raises(CorruptFileError):
                decompress_stream(io.BytesIO(size + frames[8:]), "lzo", "it").read()
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_a_bomb_is_stopped_at_the_size_of_its_block() -> None:
    bomb = LZOCompressor().compress(bytes(3_000_000))
    assert decompress_lzo(bomb, 3_000_000, "it") == bytes(3_000_000)
    with pytest.raises(CorruptFileError, match=r"where 10000 fit|where 10000 decompressed ones fit"):
        decompress_lzo(bomb, 10_000, "it")


def test_damaged_blocks_end_in_an_error_or_in_other_bytes() -> None:
    chance = random.Random(5)
    packed = LZOCompressor().compress(RAW)
    errors = []
    for _ in range(300):
        bad = bytearray(packed)
        for _ in range(chance.randrange(1, 4)):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
        try:
            assert len(decompress_lzo(bytes(bad), len(RAW), "it")) <= len(RAW)
        except CorruptFileError as error:
            errors.append(error.message)
    assert max(len(message) for message in errors) < 300


def test_without_the_library_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lzallright", None)
    with pytest.raises(NotSupportedError, match=r"pip install 'lakeport\[lzo\]'"):
        _read(lzop_file(RAW))
