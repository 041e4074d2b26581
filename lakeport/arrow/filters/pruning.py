"""Translates pushed-down conditions of other libraries into the rows they need at most; rows are filtered again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from connector_spi.errors import ConnectorError
from lakeport.arrow.filters.conditions import Junction, RowTest
from lakeport.arrow.filters.where import parse_condition

__all__ = ["EVERY_ROW", "both", "either", "rows_needed"]

EVERY_ROW = Junction(True, ())
"""The rows needed by an unsupported filter."""


def both(one: RowTest, other: RowTest) -> RowTest:
    """The rows of both."""
    return Junction(True, (one, other))


def either(one: RowTest, other: RowTest) -> RowTest:
    """The rows of one or the other."""
    return Junction(False, (one, other))


def rows_needed(schema: pa.Schema, column: object, operator: str, *values: object, path: Sequence[str] = ()) -> RowTest:
    """The rows for which one condition may be true, by Spark's comparison or one that is true for fewer rows.

    Polars compares the same way: NaN equals itself and is above all numbers. In Arrow, no comparison with NaN is true.

    Args:
        schema: The table's schema.
        column: The column's name; a missing or duplicate name gives every row.
        operator: As in ``filters.Where``.
        values: Nothing for a test of NULL, the list for ``in``, else one value.
        path: Names of fields of structs, from the column's own fields inwards.

    Returns:
        The rows; every row where the condition is not supported, such as a value that is not of the column's type.
    """
    if not isinstance(column, str) or len(schema.get_all_field_indices(column)) != 1:
        return EVERY_ROW
    data_type = schema.field(column).type
    for name in path:
        if not pa.types.is_struct(data_type) or len(data_type.get_all_field_indices(name)) != 1:
            return EVERY_ROW
        data_type = data_type.field(name).type
    if pa.types.is_nested(data_type):
        return EVERY_ROW
    if operator == "in":
        # Whether a NULL in the list matches NULL depends on an option of the library: keep all rows then.
        [listed] = values
        if not isinstance(listed, Sequence) or any(value is None for value in listed):
            return EVERY_ROW
    try:
        test = parse_condition((column, operator, *values), lambda name: (name, data_type))
        return replace(test, path=tuple(path))
    except (ConnectorError, TypeError, ValueError, ArithmeticError):
        return EVERY_ROW
