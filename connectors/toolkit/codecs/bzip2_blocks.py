"""Blocks of bzip2 files, read one by one from any offset of a file on. Executor side.

A bzip2 file is streams one behind the other, each from a byte on: ``BZh``, a digit for the size of blocks, blocks, and
a trailer. Blocks and trailer follow each other bit by bit, with no length: each begins with 48 bits of its own, the
digits of pi and of its square root, and the 32 bits behind them are the checksum of the block, or that of all blocks of
the stream. (Seward's ``compress.c`` and ``decompress.c``.)

Such 48 bits can be in the middle of a block by chance. Each block is therefore decoded by its own checksum, has to be
followed by another mark at once, and is tried up to the marks behind where it does not decode.
"""

from __future__ import annotations

import bz2
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from connector_spi.errors import CorruptFileError
from connectors.toolkit.codecs.streams import STEP, codec_errors

__all__ = ["Bzip2Block", "RandomAccess", "read_blocks"]

_BLOCK, _END = 0x314159265359, 0x177245385090
_MARK_BITS, _CHECK_BITS = 48, 32
_HEADER = b"BZh"
_HEADER_BITS = 32
# 900,000 symbols of at most 20 bits, and the tables.
_MOST_BITS = 8 * (5 << 19)
# A mark by chance is one of 2^48; two of them in one block are none that was met.
_TRIES = 3
# Eight offsets of a mark within bytes: the bytes that it fills, how far they are behind its first one, all of its bits
# within seven bytes, and which of those they are.
_NEEDLES = tuple(
    (
        kind,
        shift,
        (mark << 8 - shift).to_bytes(7, "big")[1 if shift else 0 : 6],
        1 if shift else 0,
        mark << 8 - shift,
        (1 << _MARK_BITS) - 1 << 8 - shift,
    )
    for kind, mark in ((True, _BLOCK), (False, _END))
    for shift in range(8)
)


class RandomAccess(Protocol):
    """A file whose bytes can be read at any offset."""

    def read_at(self, nbytes: int, offset: int, /) -> bytes:
        """At most so many bytes from ``offset`` on; none behind the end."""


class Bzip2Block(NamedTuple):
    """A block.

    Attributes:
        bit: Where its mark begins, in bits from the start of the file.
        data: Its bytes, decompressed: up to 46 MB.
    """

    bit: int
    data: bytes


def read_blocks(file: RandomAccess, where: str, start: int, end: int) -> Iterator[Bzip2Block]:
    """The blocks from the first one on whose mark begins in a range; none where there is no such block.

    Args:
        file: The file.
        where: Names it for messages.
        start: First byte of the range. From 0 on the file's first block is given wherever it is.
        end: The byte behind the range. Blocks behind it are given, too, as long as they are asked for.

    Raises:
        CorruptFileError: Something else than a block is where one has to be, or a checksum does not fit.
        StorageError: Storage failed.
    """
    with codec_errors(where, "bzip2"):
        yield from _Blocks(file, where, start).read(end)


class _Mark(NamedTuple):
    bit: int
    is_block: bool


class _Blocks:
    """Goes from mark to mark. Keeps the compressed bytes of one block, and what was read behind it."""

    def __init__(self, file: RandomAccess, where: str, start: int) -> None:
        self._file = file
        self._where = where
        self._start = start
        self._held = b""
        # The byte of the file at which those that are held begin.
        self._first = start
        self._marks: deque[_Mark] = deque()
        self._ended = False
        # Of the stream so far; not known where it was not read from its beginning.
        self._check: int | None = None

    def read(self, end: int) -> Iterator[Bzip2Block]:
        bit = self._stream(0) if self._start == 0 else self._first_block(8 * end)
        while bit is not None:
            block, behind = self._block(bit)
            yield block
            bit = behind.bit if behind.is_block else self._stream(self._trailer(behind.bit))

    def _first_block(self, limit: int) -> int | None:
        while self._marks or (not self._ended and self._bits_known() < limit + _MARK_BITS):
            if not self._marks:
                self._forget(self._bits_known() - _MARK_BITS)
                self._read_on()
            elif self._marks[0].is_block:
                return self._marks[0].bit if self._marks[0].bit < limit else None
            else:
                self._marks.popleft()
        return None

    def _stream(self, byte: int) -> int | None:
        """The first block of the streams from a byte on, of which some may be empty; ``None`` at the end."""
        while True:
            self._forget(8 * byte)
            self._more(8 * (byte + 11))
            head = self._held[byte - self._first :][:4]
            if not head and byte:
                return None
            if len(head) < 4 or head[:3] != _HEADER or not b"1" <= head[3:] <= b"9":
                raise CorruptFileError(
                    f"{self._where} has {head!r} at byte {byte}; expected BZh and a digit, a stream of bzip2"
                )
            bit = 8 * byte + _HEADER_BITS
            if not self._marks or self._marks[0].bit != bit:
                raise self._short() if self._bits_known() < bit + _MARK_BITS else self._broken(bit)
            self._check = 0
            if self._marks[0].is_block:
                return bit
            byte = self._trailer(bit)

    def _trailer(self, bit: int) -> int:
        """Checks the end of a stream, and gives the byte behind it."""
        if not self._more(bit + _MARK_BITS + _CHECK_BITS):
            raise self._short()
        check = self._number(bit + _MARK_BITS, _CHECK_BITS)
        if self._check not in (None, check):
            raise CorruptFileError(
                f"{self._where} has a stream whose checksum is {self._check:08x}, and {check:08x} is written"
            )
        return (bit + _MARK_BITS + _CHECK_BITS + 7) // 8

    def _block(self, bit: int) -> tuple[Bzip2Block, _Mark]:
        """Decodes a block up to the mark behind it."""
        self._forget(bit)
        for at in range(1, _TRIES + 1):
            behind = self._mark(at)
            if behind is None:
                break
            data = self._decoded(bit, behind.bit)
            if data is not None:
                if self._check is not None:
                    rotated = (self._check << 1 | self._check >> 31) & 0xFFFFFFFF
                    self._check = rotated ^ self._number(bit + _MARK_BITS, _CHECK_BITS)
                return Bzip2Block(bit, data), behind
        raise self._short() if self._ended and len(self._marks) == 1 else self._broken(bit)

    def _decoded(self, bit: int, end: int) -> bytes | None:
        """A block as a stream of its own, whose checksum is the block's; ``None`` where it is none."""
        if end - bit < _MARK_BITS + _CHECK_BITS:
            return None
        count, left = divmod(end - bit, 8)
        check = self._number(bit + _MARK_BITS, _CHECK_BITS)
        tail = (self._number(end - left, left) << 80 | _END << 32 | check) << (-left % 8)
        stream = b"".join((_HEADER, b"9", self._aligned(bit, count), tail.to_bytes((left + 87) // 8, "big")))
        decompressor = bz2.BZ2Decompressor()
        try:
            data = decompressor.decompress(stream)
        except OSError:
            return None
        return data if decompressor.eof and not decompressor.unused_data else None

    def _aligned(self, bit: int, count: int) -> bytes:
        """Whole bytes from a bit on."""
        byte, shift = divmod(bit - 8 * self._first, 8)
        if not shift:
            return self._held[byte : byte + count]
        data = np.frombuffer(self._held, np.uint8, count + 1, byte)
        return ((data[:-1] << shift) | (data[1:] >> 8 - shift)).tobytes()

    def _number(self, bit: int, count: int) -> int:
        at = bit - 8 * self._first
        data = self._held[at // 8 : (at + count + 7) // 8]
        return (int.from_bytes(data, "big") >> (-(at + count) % 8)) & ((1 << count) - 1)

    def _mark(self, at: int) -> _Mark | None:
        """The mark so many marks behind the one that is read; ``None`` where there is none that can belong to it."""
        limit = self._marks[0].bit + _MOST_BITS
        while len(self._marks) <= at and not self._ended and self._bits_known() < limit + _MARK_BITS:
            self._read_on()
        return self._marks[at] if at < len(self._marks) and self._marks[at].bit <= limit else None

    def _more(self, bits: int) -> bool:
        while self._bits_known() < bits and not self._ended:
            self._read_on()
        return self._bits_known() >= bits

    def _bits_known(self) -> int:
        return 8 * (self._first + len(self._held))

    def _read_on(self) -> None:
        data = self._file.read_at(STEP, self._first + len(self._held))
        if not data:
            self._ended = True
            return
        # A mark may have begun in what was there before, but for its last bit.
        seen = max(0, len(self._held) - 6)
        known = self._bits_known()
        self._held += data
        found = [
            mark
            for mark in _find_marks(self._held[seen:], self._first + seen)
            # It had been found before where all of it was there.
            if mark.bit + _MARK_BITS > known
        ]
        self._marks += sorted(found)

    def _forget(self, bit: int) -> None:
        """Drops what lies before a bit; its bytes when they are many, since the others are copied."""
        while self._marks and self._marks[0].bit < bit:
            self._marks.popleft()
        dropped = bit // 8 - self._first
        if dropped >= STEP // 2:
            self._held = self._held[dropped:]
            self._first += dropped

    def _short(self) -> CorruptFileError:
        return CorruptFileError(f"{self._where} ends in the middle of its compressed data")

    def _broken(self, bit: int) -> CorruptFileError:
        return CorruptFileError(
            f"{self._where} has no block of bzip2 that decodes at bit {bit % 8} of byte {bit // 8}: it is damaged"
        )


def _find_marks(data: bytes, first: int) -> Iterator[_Mark]:
    """Marks that lie in some bytes, of which the first is the byte ``first`` of the file."""
    for is_block, shift, needle, behind, bits, mask in _NEEDLES:
        at = data.find(needle)
        while at >= 0:
            byte = at - behind
            # A mark that begins with a byte does not use the seventh.
            if byte >= 0 and byte + (7 if shift else 6) <= len(data):
                window = int.from_bytes(data[byte : byte + 7].ljust(7, b"\0"), "big")
                if window & mask == bits:
                    yield _Mark(8 * (first + byte) + shift, is_block)
            at = data.find(needle, at + 1)
