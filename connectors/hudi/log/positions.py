"""Positions of a block's rows in the base file, as the block's header records them. Pure.

The header holds base64 of a 64-bit Roaring bitmap (LogReaderUtils.encodePositions): a little-endian long count, and
for each an int of high bits and a 32-bit Roaring bitmap, as https://github.com/RoaringBitmap/RoaringFormatSpec has it.
The rows are sorted by their position, so the smallest position is the first row's.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from connectors.hudi.log.block import BlockType, HeaderKey, LogBlock, damaged

__all__ = ["POSITION", "block_positions", "positions_column", "positions_of_base"]

POSITION = "$position"
"""Column of a row's position in the base file of ``LogBlock.positions_base_instant``."""

_COOKIE_WITH_RUNS = 12347
_COOKIE = 12346
_ARRAY_LIMIT = 4096
_BITMAP_BYTES = 8192
_OFFSETS_FROM = 4


def block_positions(block: LogBlock) -> np.ndarray | None:
    """Positions of the block's rows, int64, ascending; ``None`` where its header records none.

    Raises:
        CorruptFileError: The header cannot be decoded.
    """
    text = block.headers.get(HeaderKey.RECORD_POSITIONS)
    if text is None:
        return None
    try:
        return _Bitmap(base64.b64decode(text, validate=True)).positions()
    except (struct.error, ValueError, binascii.Error) as error:
        raise damaged(block.where, f"the record positions in the block's header are damaged ({error})") from error


def positions_of_base(blocks: Iterable[LogBlock], base_instant: str) -> bool:
    """Whether all blocks record the positions of their rows, and in the base file of this write.

    A compaction may have put another base file below the logs since (HoodieLogBlock's
    BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS); Hudi merges by keys then, as it does where a block records none.
    """
    return all(
        # The rows of an HFile are sorted by key, not by position.
        block.type is not BlockType.HFILE_DATA and block.positions_base_instant == base_instant
        for block in blocks
    )


def positions_column(block: LogBlock, rows: int) -> pa.Array:
    """The column ``POSITION`` of a block's rows, int64, all NULL where the block records no positions.

    Raises:
        CorruptFileError: There are more or fewer positions than rows.
    """
    found = block_positions(block)
    if found is None:
        return pa.nulls(rows, pa.int64())
    if len(found) != rows:
        raise damaged(block.where, f"{len(found)} record positions for {rows} rows")
    return pa.array(found)


class _Bitmap:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def positions(self) -> np.ndarray:
        (count,) = self._numbers("<Q")
        pieces = [np.empty(0, dtype=np.int64)]
        for _ in range(count):
            (high,) = self._numbers("<I")
            pieces.append(self._bitmap() + (high << 32))
        if self._at != len(self._data):
            raise ValueError(f"{len(self._data) - self._at} bytes too many")
        found = np.concatenate(pieces)
        if (np.diff(found) <= 0).any():
            raise ValueError("positions out of order")
        return found

    def _numbers(self, format_: str) -> tuple[int, ...]:
        values = struct.unpack_from(format_, self._data, self._at)
        self._at += struct.calcsize(format_)
        return values

    def _array(self, dtype: str, count: int) -> np.ndarray:
        values = np.frombuffer(self._data, dtype=dtype, count=count, offset=self._at)
        self._at += values.nbytes
        return values

    def _bitmap(self) -> np.ndarray:
        (cookie,) = self._numbers("<I")
        runs = np.zeros(1 << 16, dtype=bool)
        if cookie & 0xFFFF == _COOKIE_WITH_RUNS:
            count = (cookie >> 16) + 1
            flags = np.unpackbits(self._array("u1", (count + 7) // 8), bitorder="little")
            runs[: len(flags)] = flags
        elif cookie == _COOKIE:
            (count,) = self._numbers("<I")
        else:
            raise ValueError(f"no Roaring bitmap: it begins with {cookie}")
        if count > 1 << 16:
            raise ValueError(f"{count} containers")
        heads = self._array("<u2", 2 * count).reshape(count, 2).astype(np.int64)
        if cookie == _COOKIE or count >= _OFFSETS_FROM:
            self._array("<u4", count)
        pieces = [self._container(int(size) + 1, bool(runs[at])) + (key << 16) for at, (key, size) in enumerate(heads)]
        return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int64)

    def _container(self, size: int, is_run: bool) -> np.ndarray:
        if is_run:
            (count,) = self._numbers("<H")
            pairs = self._array("<u2", 2 * count).reshape(count, 2).astype(np.int64)
            lengths = pairs[:, 1] + 1
            before = np.cumsum(lengths) - lengths
            values = np.repeat(pairs[:, 0] - before, lengths) + np.arange(int(lengths.sum()))
        elif size > _ARRAY_LIMIT:
            values = np.flatnonzero(np.unpackbits(self._array("u1", _BITMAP_BYTES), bitorder="little"))
        else:
            values = self._array("<u2", size).astype(np.int64)
        if len(values) != size:
            raise ValueError(f"a container of {len(values)} positions, expected {size}")
        return values.astype(np.int64)
