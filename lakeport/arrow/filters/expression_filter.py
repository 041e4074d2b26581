"""Filters that are expressions of pyarrow. They mean what they mean there: no comparison with NaN is true."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError
from connector_spi.predicate import TupleDomain
from lakeport.arrow.filters.arrow_expression import needed_by_arrow, read_expression
from lakeport.arrow.filters.conditions import RowTest
from lakeport.arrow.filters.pruning import EVERY_ROW
from lakeport.arrow.filters.where import RowFilter, Where, parse_where

__all__ = ["ExpressionFilter", "expression_filter", "row_filters"]

_MISSING = re.compile(r"No match for FieldRef\.Name\((.*)\) in ")


@dataclass(frozen=True, slots=True)
class ExpressionFilter:
    """A filter by an expression.

    Attributes:
        columns: The columns that it needs.
        needed: What every row that passes fits; other rows may fit too.
    """

    columns: tuple[str, ...]
    needed: RowTest
    _expression: pc.Expression

    def domain(self) -> TupleDomain[str]:
        """What every row that passes fits; other rows may fit too."""
        return self.needed.domain()

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that pass.

        Raises:
            InvalidArgumentError: The expression fails for a row, such as a division by zero.
        """
        try:
            return batch.filter(self._expression)
        except pa.ArrowInvalid as error:
            raise InvalidArgumentError(f"the filter {self._expression!s:.200} failed: {error}") from error


def expression_filter(
    expression: pc.Expression, schema: pa.Schema, find: Callable[[str], tuple[str, pa.DataType]]
) -> ExpressionFilter:
    """Reads an expression.

    Args:
        expression: Of booleans.
        schema: All columns that it may name.
        find: Raises an error for a column that is not there.

    Raises:
        InvalidArgumentError: It gives no booleans, or compares types that do not compare.
        ColumnNotFoundError: Whatever ``find`` raises.
    """
    if "FieldPath(" in str(expression):
        raise InvalidArgumentError(f"the filter {expression!s:.200} counts columns by position; give their names")
    try:
        schema.empty_table().filter(expression)
    except (pa.ArrowException, NotImplementedError, TypeError, ValueError) as error:
        missing = _MISSING.match(str(error))
        if missing is not None and missing[1] not in schema.names:
            name, _ = find(missing[1])
            raise InvalidArgumentError(
                f"the filter {expression!s:.200} names column '{missing[1]}'; pyarrow knows it as '{name}'"
            ) from error
        reason = str(error).partition("\n")[0]
        raise InvalidArgumentError(f"the filter {expression!s:.200} does not fit the table: {reason}") from error
    found = read_expression(expression, schema)
    if found is None:
        # A part of it is not understood: it may use any column.
        return ExpressionFilter(tuple(schema.names), EVERY_ROW, expression)
    return ExpressionFilter(tuple(dict.fromkeys(found.columns())), needed_by_arrow(found, schema), expression)


def row_filters(
    filters: Sequence[Where], schema: pa.Schema, find: Callable[[str], tuple[str, pa.DataType]]
) -> tuple[RowFilter, ...]:
    """Reads filters of every form; those that keep all rows are left out.

    Args:
        filters: All of which a row has to pass.
        schema: All columns that they may name.
        find: Finds a column by its name as the user wrote it.

    Raises:
        InvalidArgumentError: A filter is not understood.
        ColumnNotFoundError: Whatever ``find`` raises.
    """
    parsed = (
        expression_filter(where, schema, find) if isinstance(where, pc.Expression) else parse_where(where, find)
        for where in filters
    )
    return tuple(rows for rows in parsed if rows is not None)
