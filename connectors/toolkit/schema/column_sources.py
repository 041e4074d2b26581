"""Where columns of a table are in a file."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["ColumnSource", "find_column"]

ColumnSource = str | int | None
"""Where a table's column is in a file: by name (case does not matter), by position, or nowhere."""


def find_column(schema: pa.Schema, source: ColumnSource) -> int | None:
    """The position of a column in a file: the exact name first, then the first of that name in another case."""
    if source is None:
        return None
    if isinstance(source, int):
        return source if source < len(schema.names) else None
    names: list[str] = schema.names
    if source in names:
        return names.index(source)
    lowered = source.lower()
    return next((index for index, name in enumerate(names) if name.lower() == lowered), None)
