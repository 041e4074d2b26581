"""From Spark's names of predicates to the expressions that connectors get. No call into Java here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import (
    Call,
    ColumnReference,
    ConnectorExpression,
    Constant,
    FieldDereference,
    Function,
    Reference,
    Value,
)

__all__ = ["column_call", "operand_call", "reference"]

_FUNCTIONS = {
    "=": Function.EQUAL,
    "<>": Function.NOT_EQUAL,
    "<": Function.LESS,
    "<=": Function.LESS_OR_EQUAL,
    ">": Function.GREATER,
    ">=": Function.GREATER_OR_EQUAL,
    "<=>": Function.NULL_SAFE_EQUAL,
    "IN": Function.IN,
    "IS_NULL": Function.IS_NULL,
    "IS_NOT_NULL": Function.IS_NULL,
    "STARTS_WITH": Function.STARTS_WITH,
    "ENDS_WITH": Function.ENDS_WITH,
    "CONTAINS": Function.CONTAINS,
}
_ONE_ARGUMENT = ("IS_NULL", "IS_NOT_NULL")


def reference(column: ColumnHandle, fields: Sequence[str]) -> Reference | None:
    """A field of a column, or the column itself; ``None`` where a part of it is no struct, or has no such field."""
    found: Reference = ColumnReference(column)
    for name in fields:
        if not pa.types.is_struct(found.type) or found.type.get_all_field_indices(name) == []:
            return None
        if len(found.type.get_all_field_indices(name)) > 1:
            return None
        found = FieldDereference(found, name, found.type.field(name).type)
    return found


def column_call(name: str, column: ColumnHandle, values: Sequence[object]) -> ConnectorExpression | None:
    """A predicate on a column and values of its type; ``None`` where connectors have no function for it.

    Args:
        name: Spark's name of the predicate.
        column: The column on its left.
        values: On its right.
    """
    return operand_call(name, [ColumnReference(column), *[None] * len(values)], [None, *values])


def operand_call(
    name: str, references: Sequence[Reference | None], values: Sequence[object]
) -> ConnectorExpression | None:
    """A predicate on references and values; ``None`` where connectors have no function for it.

    Args:
        name: Spark's name of the predicate.
        references: For each operand the column or field, or ``None`` for a value.
        values: For each operand the value, which counts where it is no reference.
    """
    function = _FUNCTIONS.get(name)
    types = [one.type for one in references if one is not None]
    if function is None or not types or any(one != types[0] for one in types):
        return None
    arguments = tuple(
        Constant(cast(Value | None, value), types[0]) if one is None else one
        for one, value in zip(references, values, strict=True)
    )
    if function is Function.IN and (references[0] is None or len(types) > 1 or len(arguments) < 2):
        return None
    if function is not Function.IN and len(arguments) != (1 if name in _ONE_ARGUMENT else 2):
        return None
    if function is not Function.IS_NULL and pa.types.is_nested(types[0]):
        return None
    call = Call(function, arguments)
    return Call(Function.NOT, (call,)) if name == "IS_NOT_NULL" else call
