"""From what other libraries push down to the rows that they need at most; they, or we, filter again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from connector_spi.errors import ConnectorError
from connector_spi.predicate import TupleDomain
from lakeport.arrow.filters import parse_where

__all__ = ["EVERY_ROW", "OpenReader", "rows_needed"]

EVERY_ROW = TupleDomain[str].all()
"""What a filter that is not understood needs."""


class OpenReader(Protocol):
    """Opens a read of some columns; see ``TableScan.reader_of``."""

    def __call__(
        self, columns: list[str] | None = None, needed: TupleDomain[str] | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader: ...


def rows_needed(schema: pa.Schema, column: object, operator: str, *values: object) -> TupleDomain[str]:
    """The rows for which one condition may be true, by Spark's comparison or any that is true for fewer rows.

    Those of Polars are the same: NaN equals itself and is above all numbers. In Arrow's, nothing compares with NaN.

    Args:
        schema: Of the table.
        column: Its name; of a name that the schema lacks, or has twice, nothing is known.
        operator: As in ``filters.Where``.
        values: None for a test of NULL, the list for ``in``, else one.

    Returns:
        Every row where the condition is not understood, such as a value that is not of the column's type.
    """
    if not isinstance(column, str) or len(schema.get_all_field_indices(column)) != 1:
        return EVERY_ROW
    field = schema.field(column)
    if pa.types.is_nested(field.type):
        return EVERY_ROW
    if operator == "in":
        # A NULL in the list is equal to nothing, or to NULL, by what the library was told: keep those rows then.
        [listed] = values
        if not isinstance(listed, Sequence) or any(value is None for value in listed):
            return EVERY_ROW
    try:
        condition = (column, operator, *values)
        rows = parse_where([condition], lambda name: (name, field.type))  # type: ignore[list-item]
        return EVERY_ROW if rows is None else rows.domain()
    except (ConnectorError, TypeError, ValueError, ArithmeticError):
        return EVERY_ROW
