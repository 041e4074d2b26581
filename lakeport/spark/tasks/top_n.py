"""The first rows in an order, kept while a task reads. Executor side: no Spark session, no metastore."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.serializable import Serializable

__all__ = ["SortKey", "TopN", "first_rows"]

_WAITING_ROWS = 1 << 16
_WAITING_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class SortKey(Serializable):
    """A column that rows are ordered by, as in Spark: NaN is above all numbers, and 0.0 equals -0.0.

    Attributes:
        column: Its name.
        ascending: The least value comes first.
        nulls_first: NULLs come before all values, whatever the direction.
    """

    column: str
    ascending: bool
    nulls_first: bool

    def __str__(self) -> str:
        return f"{self.column} {'ASC' if self.ascending else 'DESC'} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


@dataclass(frozen=True, slots=True)
class TopN(Serializable):
    """``ORDER BY order LIMIT count``."""

    count: int
    order: tuple[SortKey, ...]

    def __str__(self) -> str:
        return f"{self.count} by {', '.join(map(str, self.order))}"


def first_rows(batches: Iterator[pa.RecordBatch], top_n: TopN) -> Iterator[pa.RecordBatch]:
    """The first rows of all batches, in any order; of equal rows any. Keeps little more than these in memory."""
    if not top_n.count:
        return
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    most = max(_WAITING_ROWS, 2 * top_n.count)
    last: pa.Scalar | None = None
    for batch in batches:
        if last is not None:
            batch = _not_after(batch, top_n.order[0], last)
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= most or (size >= _WAITING_BYTES and rows >= 2 * top_n.count):
            waiting = [_first(pa.concat_batches(waiting), top_n)]
            rows, size = waiting[0].num_rows, waiting[0].nbytes
            last = waiting[0].column(top_n.order[0].column)[-1]
    if waiting:
        yield _first(pa.concat_batches(waiting), top_n)


def _not_after(batch: pa.RecordBatch, key: SortKey, last: pa.Scalar) -> pa.RecordBatch:
    """The rows that may come before ``last``, the first key of the last row of those that are first so far.

    A comparison costs little, and after the first batches few rows of most tables pass it. NULLs and NaN, whose place
    is not that of a comparison, are kept for the sort.
    """
    if not last.is_valid or (pa.types.is_floating(last.type) and math.isnan(last.as_py())):
        return batch
    compare = pc.less_equal if key.ascending else pc.greater_equal
    column = batch.column(key.column)
    passes = pc.or_kleene(compare(column, last), column.is_null(nan_is_null=True))
    return batch.filter(passes)


def _first(batch: pa.RecordBatch, top_n: TopN) -> pa.RecordBatch:
    if batch.num_rows <= top_n.count:
        return batch
    columns: list[pa.Array] = []
    order: list[tuple[str, str]] = []
    for key in top_n.order:
        column = batch.column(key.column)
        # Arrow puts NULLs and NaN to one end of all columns alike; here each column has its own.
        order += [
            (str(len(columns)), "ascending"),
            (str(len(columns) + 1), "ascending" if key.ascending else "descending"),
        ]
        columns.append(column.is_valid() if key.nulls_first else column.is_null())
        columns.append(_numbers(column) if pa.types.is_floating(column.type) else column)
    keys = pa.table(columns, names=[str(index) for index in range(len(columns))])
    return batch.take(pc.sort_indices(keys, sort_keys=order).slice(0, top_n.count))


def _numbers(column: pa.Array) -> pa.Array:
    """Integers in the order of floating-point numbers."""
    integers = np.int32 if pa.types.is_float32(column.type) else np.int64
    values = column.fill_null(0).to_numpy(zero_copy_only=False)
    # Adding 0.0 makes 0.0 of -0.0.
    bits = np.where(np.isnan(values), values.dtype.type("nan"), values + 0).view(integers)
    ordered = np.where(bits < 0, bits ^ np.iinfo(integers).max, bits)
    return pa.array(ordered, mask=column.is_null().to_numpy(zero_copy_only=False))
