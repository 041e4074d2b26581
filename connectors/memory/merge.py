"""One update, insert and delete of rows by a key. Driver side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError
from connector_spi.predicate import Value
from connector_spi.schema import TableMetadata
from connectors.memory.chunks import NUMBER, Chunk, cut_into_chunks

__all__ = ["merged_chunks"]


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
