"""Translates pushed-down conditions of other libraries into the rows they need at most; rows are filtered again."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from connector_spi.errors import ConnectorError
from connector_spi.predicate import TupleDomain
from lakeport.arrow.filters import parse_where

__all__ = ["EVERY_ROW", "rows_needed"]

EVERY_ROW = TupleDomain[str].all()
"""The rows needed by an unsupported filter."""


def rows_needed(schema: pa.Schema, column: object, operator: str, *values: object) -> TupleDomain[str]:
    """The rows for which one condition may be true, by Spark's comparison or one that is true for fewer rows.

    Polars compares the same way: NaN equals itself and is above all numbers. In Arrow, no comparison with NaN is true.

    Args:
        schema: The table's schema.
        column: The column's name; a missing or duplicate name gives every row.
        operator: As in ``filters.Where``.
        values: Nothing for a test of NULL, the list for ``in``, else one value.

    Returns:
        The rows; every row where the condition is not supported, such as a value that is not of the column's type.
    """
    if not isinstance(column, str) or len(schema.get_all_field_indices(column)) != 1:
        return EVERY_ROW
    field = schema.field(column)
    if pa.types.is_nested(field.type):
        return EVERY_ROW
    if operator == "in":
        # Whether a NULL in the list matches NULL depends on an option of the library: keep all rows then.
        [listed] = values
        if not isinstance(listed, Sequence) or any(value is None for value in listed):
            return EVERY_ROW
    try:
        condition = (column, operator, *values)
        rows = parse_where([condition], lambda name: (name, field.type))
        return EVERY_ROW if rows is None else rows.domain()
    except (ConnectorError, TypeError, ValueError, ArithmeticError):
        return EVERY_ROW
