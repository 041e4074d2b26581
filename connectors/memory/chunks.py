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
from connector_spi.schema import TableMetadata

__all__ = ["NUMBER", "REVISION", "Chunk", "cut_into_chunks", "merged_chunks", "numbered"]

NUMBER = "$number"
"""Number of a row, unique in the connector; an update keeps it."""

REVISION = "$revision"
"""Number of one state of a row, unique in the connector."""

_ROW = "$row"
_NUMBERS = (NUMBER, REVISION)


@dataclass(frozen=True)
class Chunk:
    """Rows that have the same partition keys; the unit that filters choose by.

    Attributes:
        data: All columns of the table, partition keys included.
        partitioned_by: Names of the partition keys.
        keys: Their values, in the same order.
        numbers: ``$number`` and ``$revision`` of each row, ``int64``.
    """

    data: pa.Table
    partitioned_by: tuple[str, ...]
    keys: tuple[Value | None, ...]
    numbers: pa.Table

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

    def numbered_rows(self) -> pa.Table:
        """The rows with their numbers behind them, as ``cut_into_chunks`` takes them."""
        return numbered(self.data, self.numbers.column(NUMBER), self.numbers.column(REVISION))

    def with_row_ids(self, name: str) -> pa.Table:
        """The rows with their numbers as a column of this name; those of changes have them already."""
        if name in self.data.column_names:
            return self.data
        return self.data.append_column(name, self.numbers.column(NUMBER))

    def without(self, removed: pa.ChunkedArray) -> Chunk | None:
        """The chunk with the rows left out where ``removed`` is true; ``None`` where none are left."""
        kept = pc.invert(removed)
        data = self.data.filter(kept)
        return Chunk(data, self.partitioned_by, self.keys, self.numbers.filter(kept)) if data.num_rows else None


def numbered(data: pa.Table, numbers: pa.ChunkedArray, revisions: pa.ChunkedArray) -> pa.Table:
    """The rows with their numbers (``int64``) behind them, as ``cut_into_chunks`` takes them."""
    return data.append_column(NUMBER, numbers).append_column(REVISION, revisions)


def cut_into_chunks(data: pa.Table, partitioned_by: Sequence[str], chunk_rows: int | None) -> tuple[Chunk, ...]:
    """Cuts a table: first by partition, in the order in which they are met, then by rows.

    Args:
        data: The rows, with their numbers.
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
        _chunk(piece.combine_chunks(), tuple(partitioned_by)) for part in parts for piece in _pieces(part, chunk_rows)
    )


def merged_chunks(
    chunks: Sequence[Chunk], table: TableMetadata, key: str, rows: pa.Table, deletes: Sequence[Value]
) -> tuple[Chunk, ...]:
    """The chunks of the new state: rows that change leave their chunks, and their new forms make new chunks.

    Args:
        chunks: The state before.
        table: The table.
        key: The column that identifies rows.
        rows: The new forms of rows, numbered as new rows; those that replace one take its number.
        deletes: Keys of rows to take away.

    Raises:
        InvalidArgumentError: No such column, or one of the keys is there twice.
    """
    if key not in rows.column_names:
        raise InvalidArgumentError(f"table {table.name} has no column '{key}'; it has {rows.column_names}")
    keys = pa.chunked_array([*rows.column(key).chunks, pa.array(deletes, rows.schema.field(key).type)])
    if len(keys.unique()) < len(keys):
        raise InvalidArgumentError(f"a value of '{key}' is given twice; expected each row once")
    removed = [pc.is_in(chunk.data.column(key), value_set=keys) for chunk in chunks]
    numbers = _kept_numbers(chunks, removed, key, rows)
    kept = [chunk.without(mask) if pc.any(mask).as_py() else chunk for chunk, mask in zip(chunks, removed, strict=True)]
    index = rows.column_names.index(NUMBER)
    added = cut_into_chunks(rows.set_column(index, NUMBER, numbers), table.partitioned_by, None)
    return (*(chunk for chunk in kept if chunk is not None), *added)


def _kept_numbers(chunks: Sequence[Chunk], removed: Sequence[pa.ChunkedArray], key: str, rows: pa.Table) -> pa.Array:
    numbers = rows.column(NUMBER).to_numpy().copy()
    seen = np.zeros(rows.num_rows, dtype=bool)
    for chunk, mask in zip(chunks, removed, strict=True):
        old = chunk.numbers.column(NUMBER).filter(mask).to_numpy()
        found = pc.index_in(chunk.data.column(key).filter(mask), value_set=rows.column(key))
        replaced = pc.is_valid(found).to_numpy(zero_copy_only=False)
        places = found.drop_null().to_numpy()
        if seen[places].any() or len(np.unique(places)) < len(places):
            raise InvalidArgumentError(f"a value of '{key}' is in the table twice; expected each row once")
        seen[places] = True
        numbers[places] = old[replaced]
    return pa.array(numbers, pa.int64())


def _chunk(rows: pa.Table, partitioned_by: tuple[str, ...]) -> Chunk:
    keys = tuple(rows.column(key)[0].as_py() for key in partitioned_by)
    return Chunk(rows.drop_columns(list(_NUMBERS)), partitioned_by, keys, rows.select(_NUMBERS))


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
