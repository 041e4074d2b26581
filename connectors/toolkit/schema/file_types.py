"""What a file's footer says of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from connectors.toolkit.schema.column_sources import ColumnSource, find_column
from connectors.toolkit.schema.time_conventions import TimeConventions

__all__ = ["FileTypes"]


@dataclass(frozen=True, slots=True)
class FileTypes:
    """The columns of an open file.

    Attributes:
        schema: The file's schema, types marked that Arrow does not know; of ACID files that of the table's columns.
        sources: Where the table's columns are in it; by their own names where nothing is said.
        conventions: The file's calendar and zone.
    """

    schema: pa.Schema
    sources: Mapping[str, ColumnSource]
    conventions: TimeConventions

    def position(self, column: str) -> int | None:
        """The position of one of the table's columns, or ``None`` where the file lacks it."""
        return find_column(self.schema, self.sources.get(column, column))
