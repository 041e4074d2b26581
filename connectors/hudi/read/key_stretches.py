"""Stretches of a base file with and without rows that logs say something of. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import ColumnReference
from connectors.hudi.read.slice_read import SliceRead
from connectors.hudi.schema.table_schema import RECORD_KEY
from connectors.toolkit.parquet.file import ParquetFile, open_parquet_read, parquet_errors
from connectors.toolkit.read.file_read import FileRange, FileRead
from connectors.toolkit.read.rows import FileRows

__all__ = ["LEAST_ROWS", "KeyStretch", "key_stretches"]

LEAST_ROWS = 50_000
"""A stretch of fewer rows is not read apart: each opens the file again."""
# Of fewer bytes for each of so many rows, a range is not worth a look at its row groups.
_BYTES_OF_ROW = 64
_KEY = ColumnHandle(RECORD_KEY, pa.string())
_IsMet: TypeAlias = Callable[[ParquetFile, FileRows], bool]


@dataclass(frozen=True, slots=True)
class KeyStretch:
    """Row groups that follow each other.

    Attributes:
        start: First byte of the range that has them.
        end: The byte behind it.
        rows: Their rows.
        is_met: Whether a key of the logs may be in them.
    """

    start: int
    end: int
    rows: int
    is_met: bool


def key_stretches(read: SliceRead, keys: pa.Array) -> list[KeyStretch]:
    """The row groups of a split's range by whether a key of the logs may be in them.

    Args:
        read: The split.
        keys: What the logs say something of: positions in the base file (int64), or record keys, which the statistics
            of the base file's column of them are asked for.

    Returns:
        In the order of the file; one for the whole range, where nothing is worth a read of its own.
    """
    split = read.split
    whole = [KeyStretch(split.start, split.start + split.length, 0, is_met=True)]
    if split.format != "parquet" or split.source is not None or read.table.history is not None:
        return whole
    if split.length < LEAST_ROWS * _BYTES_OF_ROW:
        return whole
    groups = list(_groups(read, keys))
    starts = [group.start for group in groups]
    if starts != sorted(starts) or not groups:
        return whole
    found = [_joined(list(one)) for _, one in groupby(groups, key=lambda group: group.is_met)]
    # What is too short for a read of its own is merged as the rest is, which is always right.
    kept = [one if one.rows >= LEAST_ROWS else KeyStretch(one.start, one.end, one.rows, is_met=True) for one in found]
    stretches = [_joined(list(one)) for _, one in groupby(kept, key=lambda group: group.is_met)]
    return whole if all(one.is_met for one in stretches) else stretches


def _groups(read: SliceRead, keys: pa.Array) -> Iterator[KeyStretch]:
    split = read.split
    asked = FileRead(FileRange(split.path, split.start, split.length), (_KEY,))
    is_met = _positions_met(keys) if pa.types.is_integer(keys.type) else _record_keys_met(keys)
    with parquet_errors(split.path), open_parquet_read(read.files, asked) as file:
        for rows in file.rows():
            middle = file.middle(rows.part)
            yield KeyStretch(middle, middle + 1, rows.count, is_met(file, rows))


def _positions_met(keys: pa.Array) -> _IsMet:
    positions = np.sort(keys.to_numpy(zero_copy_only=False))

    def is_met(_: ParquetFile, rows: FileRows) -> bool:
        first, end = np.searchsorted(positions, (rows.start, rows.start + rows.count))
        return bool(first < end)

    return is_met


def _record_keys_met(keys: pa.Array) -> _IsMet:
    def is_met(file: ParquetFile, rows: FileRows) -> bool:
        bounds = file.bounds(rows.part, ColumnReference(_KEY), _KEY.type)
        if not isinstance(bounds.low, str) or not isinstance(bounds.high, str):
            return True
        inside = pc.and_(pc.greater_equal(keys, bounds.low), pc.less_equal(keys, bounds.high))
        return bool(pc.any(inside).as_py())

    return is_met


def _joined(groups: list[KeyStretch]) -> KeyStretch:
    return KeyStretch(groups[0].start, groups[-1].end, sum(one.rows for one in groups), groups[0].is_met)
