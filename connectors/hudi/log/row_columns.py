"""Columns of rows as single arrays; fields may be nested. Pure."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["combined", "field_values"]


def combined(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """One array of a column's chunks."""
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    made = column.combine_chunks()
    return pa.concat_arrays(made.chunks) if isinstance(made, pa.ChunkedArray) else made


def field_values(rows: pa.Table, field: str) -> pa.Array | None:
    """The values of a column, or of a field inside of one (``a.b``); ``None`` where there is no such column."""
    if field in rows.column_names:
        return combined(rows.column(field))
    first, *inner = field.split(".")
    if first not in rows.column_names:
        return None
    return combined(pc.struct_field(combined(rows.column(first)), inner))
