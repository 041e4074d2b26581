"""What stands at many places of Avro data, found at once with numpy. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Positions", "UnusualError", "WireBytes", "unzigzag_all"]

Positions = npt.NDArray[np.int64]
"""Offsets of bytes."""
Words = npt.NDArray[np.uint64]

# More than is read behind a position: two words.
_PADDING = 24
_CONTINUES = np.uint64(0x8080_8080_8080_8080)
_BITS = np.uint64(0x7F7F_7F7F_7F7F_7F7F)
# Times the one bit at the end of its byte number k, from 0, has k + 1 in its highest byte.
_BYTE_NUMBERS = np.uint64(0x0102_0304_0506_0708)
# To put the seven bits of each byte together: those of pairs, of fours, of all eight.
_JOINS = tuple(
    (np.uint64(stays), np.uint64(moves), np.uint64(by))
    for stays, moves, by in (
        (0x007F_007F_007F_007F, 0x7F00_7F00_7F00_7F00, 1),
        (0x0000_3FFF_0000_3FFF, 0x3FFF_0000_3FFF_0000, 2),
        (0x0000_0000_0FFF_FFFF, 0x0FFF_FFFF_0000_0000, 4),
    )
)
_ONE, _SEVEN, _TOP = np.uint64(1), np.uint64(7), np.uint64(56)


class UnusualError(Exception):
    """Data that is not as these modules expect: other readers read it, or say what is wrong."""


class WireBytes:
    """Bytes to be read at many positions.

    Args:
        pieces: The bytes, which are put behind each other.

    Attributes:
        size: How many they are.
        buffer: The bytes, and some more.
    """

    def __init__(self, pieces: Sequence[bytes | pa.Buffer]) -> None:
        self.data = b"".join([*pieces, bytes(_PADDING)])
        self.size = len(self.data) - _PADDING
        self.buffer = pa.py_buffer(self.data)
        self._bytes = np.frombuffer(self.data, dtype=np.uint8)
        self._halves = self._view("<u4")
        self._lengths = self._view(">u4")
        self._words = self._view("<u8")

    def bytes_at(self, at: Positions) -> npt.NDArray[np.uint8]:
        """One byte each."""
        return self._bytes[at]

    def halves_at(self, at: Positions) -> npt.NDArray[np.uint32]:
        """Four bytes each, the least one first."""
        return self._halves[at]

    def lengths_at(self, at: Positions) -> Positions:
        """Four bytes each as a number, the greatest one first."""
        return self._lengths[at].astype(np.int64)

    def words_at(self, at: Positions) -> Words:
        """Eight bytes each, the least one first."""
        return self._words[at]

    def stretches_at(self, at: Positions, size: int) -> npt.NDArray[np.uint8]:
        """So many bytes each, in a row."""
        found: npt.NDArray[np.uint8] = self._bytes[at[:, None] + np.arange(size)]
        return found

    def check(self, at: Positions) -> None:
        """Raises:
        UnusualError: A position lies behind the bytes.
        """
        if len(at) and int(at.max()) > self.size:
            raise UnusualError

    def behind_varints(self, at: Positions) -> Positions:
        """The positions behind the numbers of variable length that stand there."""
        return at + self._varint_bytes(self.words_at(at), at)[0]

    def varints(self, at: Positions) -> tuple[Words, Positions]:
        """Numbers of variable length, without their signs, and the positions behind them."""
        words = self.words_at(at)
        lengths, last = self._varint_bytes(words, at)
        numbers = words & (last | (last - _ONE)) & _BITS
        for stays, moves, by in _JOINS:
            numbers = (numbers & stays) | ((numbers & moves) >> by)
        long = np.flatnonzero(lengths > 8)
        if len(long):
            ninth, tenth = (self.bytes_at(at[long] + more).astype(np.uint64) for more in (8, 9))
            numbers[long] |= ((ninth & np.uint64(0x7F)) << _TOP) | np.where(
                lengths[long] > 9, tenth << np.uint64(63), np.uint64(0)
            )
        return numbers, at + lengths

    def _varint_bytes(self, words: Words, at: Positions) -> tuple[Positions, Words]:
        """How many bytes the numbers have, and the highest bit of the last byte of each, as far as a word has it."""
        ends = ~words & _CONTINUES
        last = ends & (np.uint64(0) - ends)
        lengths = (((last >> _SEVEN) * _BYTE_NUMBERS) >> _TOP).astype(np.int64)
        long = np.flatnonzero(ends == 0)
        if len(long):
            ninth, tenth = (self.bytes_at(at[long] + more) for more in (8, 9))
            if (tenth[ninth >= 0x80] > 1).any():
                raise UnusualError
            lengths[long] = np.where(ninth < 0x80, 9, 10)
        return lengths, last

    def _view(self, kind: str) -> np.ndarray:
        """A number at every position."""
        width = np.dtype(kind).itemsize
        return np.ndarray((len(self.data) - width + 1,), kind, buffer=self.data, strides=(1,))


def unzigzag_all(numbers: Words) -> Positions:
    """The numbers with a sign that stand as these."""
    return ((numbers >> _ONE) ^ (np.uint64(0) - (numbers & _ONE))).view(np.int64)
