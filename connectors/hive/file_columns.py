"""Where a table's columns are in a data file. Both sides.

Hive goes from the file's columns to the partition's by name, and from the partition's to the table's by position
(``FetchOperator``, ``SchemaEvolution``). Here a name that the partition and the table share goes first, so that a
table whose columns were reordered reads right; by position go columns that were renamed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa

from connectors.toolkit.column_sources import ColumnSource

__all__ = ["file_sources", "has_position_names"]

_POSITION_NAME = re.compile(r"_col[0-9]+")


def file_sources(
    schema: pa.Schema,
    table_columns: Sequence[str],
    partition_columns: Sequence[str] | None,
    *,
    by_name: bool,
    position_names: bool = True,
) -> Mapping[str, ColumnSource]:
    """Where each of the table's columns is in a file.

    Args:
        schema: The file's schema.
        table_columns: Names of the table's columns that files hold, in order.
        partition_columns: The partition's names of them, where they differ.
        by_name: Find columns by name; else by position.
        position_names: A file that has position names only tells no names, as in ORC; in Parquet Hive takes them for
            names.

    Returns:
        By the table's name: a name in the file, a position in it, or ``None``.
    """
    positional = not by_name or (position_names and has_position_names(schema))
    own = list(table_columns if partition_columns is None else partition_columns)
    shared = set(table_columns) & set(own)
    sources: dict[str, ColumnSource] = {}
    for index, name in enumerate(table_columns):
        if name in shared:
            at: int | None = own.index(name)
        elif index < len(own) and own[index] not in shared:
            at = index
        else:
            at = None
        sources[name] = None if at is None else at if positional else own[at]
    return sources


def has_position_names(schema: pa.Schema) -> bool:
    """Whether all columns are called ``_colN``, as Hive before 2.0 wrote them into ORC files."""
    return bool(schema.names) and all(_POSITION_NAME.fullmatch(name) for name in schema.names)
