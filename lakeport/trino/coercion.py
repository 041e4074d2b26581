"""The common type of two types in Trino, for sqlglot to annotate queries with.

sqlglot takes one of two types where either has digits, as decimals have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.expressions import Expr
from sqlglot.optimizer.annotate_types import TypeAnnotator

if TYPE_CHECKING:
    from sqlglot.schema import MappingSchema

__all__ = ["annotate", "common_type"]

_INTEGERS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
_ORDERS = (
    ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE"),
    ("DATE", "TIMESTAMP", "TIMESTAMPTZ"),
    ("CHAR", "VARCHAR", "TEXT"),
)
_MAX_DIGITS = 38


def annotate(query: Expr, schema: MappingSchema, rules: Mapping[type[Expr], dict[str, object]]) -> Expr:
    """The query with types.

    Args:
        query: A query with qualified columns.
        schema: The columns of its tables.
        rules: By class, how the type of its result follows from its parts.
    """
    return _Annotator(schema, expression_metadata=dict(rules)).annotate(query)


def common_type(first: exp.DataType, second: exp.DataType) -> exp.DataType:
    """The type that both are cast to; ``UNKNOWN`` where there is none, or it is not certain."""
    names = (first.this.name, second.this.name)
    if names[0] == "NULL":
        return second
    if names[1] == "NULL" or (first == second and names[0] != "UNKNOWN"):
        return first
    for order in _ORDERS:
        if names[0] in order and names[1] in order:
            wider = max(names, key=order.index)
            if wider == "DECIMAL":
                return _common_decimal(first, second)
            return exp.DataType.build("VARCHAR" if order[0] == "CHAR" else wider)
    return exp.DataType.build("UNKNOWN")


class _Annotator(TypeAnnotator):
    def _maybe_coerce(self, type1: exp.DataType | exp.DType, type2: exp.DataType | exp.DType) -> exp.DataType:
        return common_type(_data_type(type1), _data_type(type2))


def _common_decimal(first: exp.DataType, second: exp.DataType) -> exp.DataType:
    sizes = [_digits(first), _digits(second)]
    if not all(sizes):
        return exp.DataType.build("DECIMAL")
    scale = max(size[1] for size in sizes)
    whole = max(size[0] - size[1] for size in sizes)
    return exp.DataType.build(f"DECIMAL({min(whole + scale, _MAX_DIGITS)}, {scale})")


def _digits(kind: exp.DataType) -> tuple[int, ...]:
    if kind.this.name in _INTEGERS:
        return _INTEGERS[kind.this.name], 0
    return tuple(int(size.name) for size in kind.expressions)


def _data_type(kind: exp.DataType | exp.DType) -> exp.DataType:
    return kind if isinstance(kind, exp.DataType) else exp.DataType(this=kind)
