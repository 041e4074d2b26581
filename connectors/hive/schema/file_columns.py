"""Where a table's columns are in a data file. Both sides.

Hive looks for the table's columns in ORC, Parquet and Avro files, whatever a partition declares. In files of rows it
takes the columns that the partition declares, and makes the table's of them by position (``FetchOperator``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connectors.toolkit.schema.column_sources import ColumnSource

__all__ = ["declared_columns", "file_sources", "has_position_names"]

_POSITION_NAME = re.compile(r"_col[0-9]+")


def declared_columns(
    table_columns: Sequence[ColumnHandle], names: Sequence[str] | None, types: Sequence[pa.DataType] | None
) -> pa.Schema:
    """The columns that a partition, or else its table, declares for files.

    Args:
        table_columns: The table's columns that files hold, in order.
        names: The partition's own names, or ``None`` where they are the table's.
        types: Its own types, or ``None`` where they are the table's or the files tell them.
    """
    own_names = [column.name for column in table_columns] if names is None else list(names)
    own_types = [column.type for column in table_columns] if types is None else list(types)
    return pa.schema(list(zip(own_names, own_types, strict=False)))


def file_sources(
    schema: pa.Schema, table_columns: Sequence[str], *, by_name: bool, position_names: bool = True
) -> Mapping[str, ColumnSource]:
    """Where each of the table's columns is in a file.

    Args:
        schema: The file's schema, or of a file of rows the declared one.
        table_columns: Names of the table's columns that files hold, in order.
        by_name: Find columns by name; else by position.
        position_names: A file that has position names only tells no names, as in ORC; in Parquet Hive takes them for
            names.

    Returns:
        By the table's name: a name in the file, or a position, which may be past its end.
    """
    if by_name and not (position_names and has_position_names(schema)):
        return {name: name for name in table_columns}
    return {name: position for position, name in enumerate(table_columns)}


def has_position_names(schema: pa.Schema) -> bool:
    """Whether all columns are called ``_colN``, as Hive before 2.0 wrote them into ORC files."""
    return bool(schema.names) and all(_POSITION_NAME.fullmatch(name) for name in schema.names)
