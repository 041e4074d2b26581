"""Blocks of bzip2 files: what the standard library decompresses comes back whole, from any place of a file on."""

from __future__ import annotations

import bz2
import io
import itertools
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector_spi.errors import CorruptFileError
from connectors.toolkit.codecs import bzip2_blocks
from connectors.toolkit.codecs.bzip2_blocks import Bzip2Block, read_blocks
from connectors.toolkit.codecs.streams import STEP
from tests.sampling import examples

_MARK = (0x314159265359).to_bytes(6, "big")


class File:
    """Bytes as a file; counts what is asked."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.asked = 0

    def read_at(self, nbytes: int, offset: int) -> bytes:
        self.asked += nbytes
        return self.data[offset : offset + nbytes]


def _blocks(data: bytes, start: int = 0) -> list[Bzip2Block]:
    return list(read_blocks(File(data), "f", start, len(data)))


def _text(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size // 2).hex().encode()[:size]


@pytest.mark.parametrize("level", range(1, 10))
def test_blocks_of_every_level(level: int) -> None:
    text = _text(250_000) + bytes(3_000_000)
    blocks = _blocks(bz2.compress(text, level))
    assert b"".join(block.data for block in blocks) == text
    # A block has at most so many bytes, in which runs of zeros count for 5 of 255.
    assert len(blocks) == -(-(250_000 + 3_000_000 * 5 // 255) // (level * 100_000))


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3000), st.integers(1, 9)), min_size=1, max_size=6),
    st.lists(st.integers(0, 4000), max_size=6),
    st.integers(1, 64),
)
def test_ranges_that_cover_a_file_partition_its_blocks(
    streams: list[tuple[int, int]], cuts: list[int], step: int
) -> None:
    texts = [_text(size, size) for size, _ in streams]
    data = b"".join(bz2.compress(text, level) for text, (_, level) in zip(texts, streams, strict=True))
    bounds = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    found: list[Bzip2Block] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bzip2_blocks, "STEP", step)
        for start, end in itertools.pairwise(bounds):
            blocks = list(read_blocks(File(data), "f", start, end))
            found += [block for block in blocks if block.bit < 8 * end]
    assert [block.data for block in found] == [text for text in texts if text]


@pytest.mark.slow
def test_a_range_reads_no_more_than_it_needs() -> None:
    data = b"".join(bz2.compress(_text(400_000, seed)) for seed in range(40))
    file, middle = File(data), len(data) // 2 + 50_000
    assert next(read_blocks(file, "f", middle, middle + 1000), None) is None
    assert file.asked <= 2 * STEP
    first = next(read_blocks(file, "f", middle, len(data)))
    assert middle <= first.bit // 8 < middle + 400_000
    assert file.asked <= 6 * STEP


@pytest.mark.parametrize("cut", [1, 3, 4, 9, 13, 14, 15, 30, 1000, -1, -5, -9, -200])
def test_a_file_that_ends_too_early_is_an_error(cut: int) -> None:
    data = bz2.compress(b"") + bz2.compress(_text(150_000), 1)
    # Behind a whole stream nothing is missing.
    if cut == 14:
        assert _blocks(data[:cut]) == []
        return
    with pytest.raises(CorruptFileError, match=r"f has|f ends"):
        _blocks(data[:cut])


@pytest.mark.parametrize("data", [b"", b"x", b"BZh0", b"BZh9", b"PK\3\4" * 100, bz2.compress(b"a") + b"trailing"])
def test_what_is_no_bzip2_is_an_error(data: bytes) -> None:
    with pytest.raises(CorruptFileError, match=r"f has|f ends"):
        _blocks(data)


@pytest.mark.slow
def test_every_damaged_byte_is_noticed_by_one_of_the_ranges() -> None:
    text = _text(250_000)
    data = bz2.compress(text[:120_000], 1) + bz2.compress(text[120_000:], 1)
    chance = random.Random(7)
    bounds = [0, *sorted(chance.sample(range(len(data)), 4)), len(data)]
    places = {*(place % len(data) for place in range(-20, 20)), *chance.sample(range(len(data)), 60)}
    for place in places:
        bad = bytearray(data)
        bad[place] ^= 1 << chance.randrange(8)
        file, found = File(bytes(bad)), b""
        try:
            for start, end in itertools.pairwise(bounds):
                for block in read_blocks(file, "f", start, end):
                    if block.bit >= 8 * end:
                        break
                    found += block.data
        except CorruptFileError:
            continue
        # The digit of a stream's header, the checksum of a stream of which a range has not read the beginning, and bits
        # behind its last one tell nothing of the data.
        assert found == text


@pytest.mark.parametrize("is_block", [True, False])
def test_a_mark_by_chance_inside_of_a_block_is_no_block(monkeypatch: pytest.MonkeyPatch, is_block: bool) -> None:
    """No data with such a mark can be found by trying, so places are taken for marks that are none."""
    text = _text(500_000)
    data = bz2.compress(text, 1)
    find, extra = bzip2_blocks._find_marks, [8 * 60_003 + 5]

    def find_more(data: bytes, first: int) -> Iterator[bzip2_blocks._Mark]:
        yield from find(data, first)
        found = (bzip2_blocks._Mark(bit, is_block) for bit in extra)
        yield from (mark for mark in found if first <= mark.bit // 8 <= first + len(data) - 7)

    monkeypatch.setattr(bzip2_blocks, "_find_marks", find_more)
    monkeypatch.setattr(bzip2_blocks, "STEP", 10_000)
    assert b"".join(block.data for block in _blocks(data)) == text
    if is_block:
        # Of a block that is there and of one that is damaged a range that begins with it knows nothing.
        with pytest.raises(CorruptFileError, match="no block of bzip2 that decodes at bit 5 of byte 60003"):
            _blocks(data, 60_000)
    extra += [8 * 61_000, 8 * 62_000]
    with pytest.raises(CorruptFileError, match="it is damaged"):
        _blocks(data)


def test_marks_in_a_damaged_file_are_an_error() -> None:
    data = bytearray(bz2.compress(_text(90_000), 1))
    with pytest.raises(CorruptFileError, match="expected BZh"):
        _blocks(bytes(data) + _MARK + bz2.compress(b"x"))
    data[5000:5006] = _MARK
    for start in (0, 4000):
        with pytest.raises(CorruptFileError, match="it is damaged"):
            _blocks(bytes(data), start)


def test_streams_are_read_like_files_of_the_library() -> None:
    data = b"".join(bz2.compress(bytes([65 + at]) * (at * 50_000), 1 + at % 9) for at in range(12))
    assert b"".join(block.data for block in _blocks(data)) == bz2.BZ2File(io.BytesIO(data)).read()
