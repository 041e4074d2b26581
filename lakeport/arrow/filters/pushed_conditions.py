"""Tests of rows as the conditions that connectors get: those that one domain for each column cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import (
    Call,
    ColumnReference,
    Comparability,
    ConnectorExpression,
    Constant,
    FieldDereference,
    Function,
    Reference,
    comparability,
    references,
)
from lakeport.arrow.filters.conditions import ColumnTest, Junction, RowTest

__all__ = ["pushed_conditions"]

_COMPARISONS = {
    "=": Function.EQUAL,
    "!=": Function.NOT_EQUAL,
    "<": Function.LESS,
    "<=": Function.LESS_OR_EQUAL,
    ">": Function.GREATER,
    ">=": Function.GREATER_OR_EQUAL,
}


def pushed_conditions(test: RowTest, columns: Mapping[str, ColumnHandle]) -> tuple[ConnectorExpression, ...]:
    """Conditions that are true for every row that passes a test, and for other rows maybe.

    Args:
        test: What rows have to pass; what connectors cannot be told of it is left out.
        columns: By name.

    Returns:
        An OR over columns, and what is about fields of structs; the rest is in the domain of the test.
    """
    return tuple(
        condition
        for part in _parts(test)
        if (condition := _condition(part, columns)) is not None and _says_more(condition)
    )


def _parts(test: RowTest) -> Iterator[RowTest]:
    if isinstance(test, Junction) and (test.every or len(test.parts) == 1):
        for part in test.parts:
            yield from _parts(part)
    else:
        yield test


def _says_more(condition: ConnectorExpression) -> bool:
    met = list(references(condition))
    return any(one.path for one in met) or len({one.column for one in met}) > 1


def _condition(test: RowTest, columns: Mapping[str, ColumnHandle]) -> ConnectorExpression | None:
    if isinstance(test, ColumnTest):
        return _comparison(test, columns)
    found = [_condition(part, columns) for part in test.parts]
    known = tuple(one for one in found if one is not None)
    if not known or (not test.every and len(known) < len(found)):
        return None
    return known[0] if len(known) == 1 else Call(Function.AND if test.every else Function.OR, known)


def _comparison(test: ColumnTest, columns: Mapping[str, ColumnHandle]) -> ConnectorExpression | None:
    reference = _reference(test, columns)
    if reference is None:
        return None
    if test.operator in ("is null", "is not null", "like", "not like"):
        is_null = Call(Function.IS_NULL, (reference,))
        return is_null if test.operator == "is null" else Call(Function.NOT, (is_null,))
    if comparability(test.type) is not Comparability.ORDERABLE:
        return None
    # A list of nothing holds no value, as what equals NULL.
    values = tuple(Constant(value, test.type) for value in test.values) or (Constant(None, test.type),)
    if test.operator in _COMPARISONS:
        return Call(_COMPARISONS[test.operator], (reference, *values))
    listed = Call(Function.IN, (reference, *values))
    if test.operator == "in":
        return listed
    return Call(Function.NOT, (listed,)) if test.values else None


def _reference(test: ColumnTest, columns: Mapping[str, ColumnHandle]) -> Reference | None:
    """What a test looks at; ``None`` where the column is another one than was tested."""
    column = columns.get(test.column)
    if column is None:
        return None
    found: Reference = ColumnReference(column)
    for name in test.path:
        if not pa.types.is_struct(found.type) or len(found.type.get_all_field_indices(name)) != 1:
            return None
        found = FieldDereference(found, name, found.type.field(name).type)
    return found if found.type == test.type else None
