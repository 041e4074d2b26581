"""Arrow tables cut into chunks: one partition each, with what their columns hold. Driver side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError
from connector_spi.predicate import Comparability, Domain, Range, TupleDomain, Value, ValueSet, comparability

__all__ = ["Chunk", "cut_into_chunks"]

_ROW = "$row"


@dataclass(frozen=True)
class Chunk:
    """Rows that have the same partition keys; the unit that filters choose by.

    Attributes:
        data: All columns of the table, partition keys included.
        partitioned_by: Names of the partition keys.
        keys: Their values, in the same order.
    """

    data: pa.Table
    partitioned_by: tuple[str, ...]
    keys: tuple[Value | None, ...]

    @cached_property
    def domains(self) -> TupleDomain[str]:
        """What each column holds, of partition keys exactly; columns of which nothing is known are left out."""
        found = {name: _domain(self.data.column(name)) for name in self.data.column_names}
        for name, value in zip(self.partitioned_by, self.keys, strict=True):
            found[name] = _single(self.data.schema.field(name).type, value)
        return TupleDomain.with_column_domains(found)

    @cached_property
    def size_bytes(self) -> int:
        """Bytes of all columns."""
        return int(self.data.nbytes)


def cut_into_chunks(data: pa.Table, partitioned_by: Sequence[str], chunk_rows: int | None) -> tuple[Chunk, ...]:
    """Cuts a table: first by partition, in the order in which they are met, then by rows.

    Args:
        data: The rows.
        partitioned_by: Names of the partition keys.
        chunk_rows: Most rows of a chunk; ``None`` for no cut.

    Raises:
        InvalidArgumentError: A partition key is not a column, or its values have no order.
    """
    for key in partitioned_by:
        if key not in data.column_names:
            raise InvalidArgumentError(f"partition key '{key}' is not one of the columns {data.column_names}")
        if comparability(data.schema.field(key).type) is not Comparability.ORDERABLE:
            raise InvalidArgumentError(
                f"column '{key}' of type {data.schema.field(key).type} cannot be a partition key"
            )
    parts = _partitions(data, partitioned_by) if partitioned_by else iter([data])
    return tuple(
        Chunk(
            piece.combine_chunks(), tuple(partitioned_by), tuple(piece.column(key)[0].as_py() for key in partitioned_by)
        )
        for part in parts
        for piece in _pieces(part, chunk_rows)
    )


def _partitions(data: pa.Table, partitioned_by: Sequence[str]) -> Iterator[pa.Table]:
    # Grouping row numbers keeps null and NaN keys, which a comparison with the key would lose.
    numbered = data.select(list(partitioned_by)).append_column(_ROW, pa.array(np.arange(data.num_rows)))
    grouped = numbered.group_by(list(partitioned_by), use_threads=False).aggregate([(_ROW, "list")])
    for rows in grouped.column(f"{_ROW}_list"):
        yield data.take(rows.values)


def _pieces(data: pa.Table, chunk_rows: int | None) -> Iterator[pa.Table]:
    step = chunk_rows or max(data.num_rows, 1)
    for start in range(0, data.num_rows, step):
        yield data.slice(start, step)


def _single(data_type: pa.DataType, value: Value | None) -> Domain:
    return Domain.only_null(data_type) if value is None else Domain.single_value(data_type, value)


def _domain(column: pa.ChunkedArray) -> Domain:
    data_type = column.type
    if column.null_count == len(column):
        return Domain.only_null(data_type)
    return Domain.create(_values(column), column.null_count > 0)


def _values(column: pa.ChunkedArray) -> ValueSet:
    data_type = column.type
    if comparability(data_type) is not Comparability.ORDERABLE:
        return ValueSet.all(data_type)
    # min_max passes over NaN, which is above all numbers.
    if pa.types.is_floating(data_type) and pc.any(pc.is_nan(column)).as_py():
        return ValueSet.all(data_type)
    try:
        low, high = (bound.as_py() for bound in pc.min_max(column).values())
    except (pa.ArrowNotImplementedError, ValueError):
        # No kernel for the type, or nanoseconds that Python cannot hold: nothing is known.
        return ValueSet.all(data_type)
    return ValueSet.of_ranges(data_type, [Range.between(data_type, low, True, high, True)])
