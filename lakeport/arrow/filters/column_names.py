"""The columns that a read names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from connector_spi.errors import ColumnNotFoundError, InvalidArgumentError
from connector_spi.names import quote_identifier
from connector_spi.properties import closest

__all__ = ["FindColumn", "column_finder", "wanted_columns"]

FindColumn: TypeAlias = Callable[[str], tuple[str, pa.DataType]]
"""From a column as the user wrote it to its name and type."""


def wanted_columns(asked: Sequence[str] | None, visible: Sequence[str], find: FindColumn) -> list[str]:
    """The columns to read, in order.

    Args:
        asked: As the user wrote them; ``None`` is every visible one.
        visible: What the table shows.
        find: Finds a column.

    Raises:
        InvalidArgumentError: A column twice.
        ColumnNotFoundError: Whatever ``find`` raises.
    """
    wanted = [find(column)[0] for column in (visible if asked is None else asked)]
    for column in wanted:
        if wanted.count(column) > 1:
            raise InvalidArgumentError(f"column '{column}' is asked for twice; ask for it once")
    return wanted


def column_finder(types: Mapping[str, pa.DataType], table: object) -> FindColumn:
    """Finds columns by their names, written so or in other letters.

    Args:
        types: By name.
        table: Names the table for messages.
    """

    def find(written: str) -> tuple[str, pa.DataType]:
        found = written if written in types else written.lower()
        if found not in types:
            raise ColumnNotFoundError(
                f"no column {quote_identifier(written)} in table {table}{closest(written, types)}"
            )
        return found, types[found]

    return find
