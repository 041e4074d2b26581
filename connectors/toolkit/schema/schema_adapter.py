"""From the columns of a file to the columns of a table: missing ones, and those of other types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connectors.toolkit.schema.column_sources import ColumnSource, find_column
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.type_adaptation import LOSSY, CastRules, adaptation

__all__ = ["SchemaAdapter"]


class SchemaAdapter:
    """Brings the columns of one file into the form of a table's columns.

    Args:
        schema: The file's schema, INT96 columns marked.
        columns: The columns asked, in output order.
        sources: Where each column is in the file, by the column's name; its own name where nothing is said.
        conventions: The file's calendar and zone.
        where: Names the file for messages.
        rules: Which casts there are.
        whole: The types of nested columns, by name, where those of ``columns`` may be narrowed and fields are found by
            position.

    Attributes:
        positions: The position in the file of each column, or ``None`` where the file lacks it: its values are NULL.

    Raises:
        NotSupportedError: A column's type in the file cannot become its type in the table.
    """

    def __init__(
        self,
        schema: pa.Schema,
        columns: Sequence[ColumnHandle],
        *,
        sources: Mapping[str, ColumnSource] | None = None,
        conventions: TimeConventions | None = None,
        where: str = "the file",
        rules: CastRules = LOSSY,
        whole: Mapping[str, pa.DataType] | None = None,
    ) -> None:
        self.columns = tuple(columns)
        given = sources or {}
        self.positions = tuple(find_column(schema, given.get(column.name, column.name)) for column in columns)
        self._functions = tuple(
            None
            if position is None
            else adaptation(
                source=schema.field(position).type,
                target=column.type,
                conventions=conventions or TimeConventions(),
                where=f"column '{column.name}' of {where}",
                rules=rules,
                whole=(whole or {}).get(column.name),
            )
            for column, position in zip(self.columns, self.positions, strict=True)
        )

    def adapt(self, arrays: Sequence[pa.Array | None], rows: int) -> list[pa.Array]:
        """The table's columns.

        Args:
            arrays: One array for each column, as read; ``None`` for one that the file lacks.
            rows: Number of rows.
        """
        return [
            pa.nulls(rows, column.type) if array is None else function(array) if function else array
            for column, array, function in zip(self.columns, arrays, self._functions, strict=True)
        ]
