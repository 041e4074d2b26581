"""Kinds of types, by which it is decided whether an expression means the same in Spark and in DuckDB."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import lru_cache

import pyarrow as pa
from sqlglot import exp
from sqlglot.expressions import Expr

__all__ = [
    "EXACT",
    "KEEPS_SCALE",
    "LIST_ORDER",
    "MOST_DIGITS",
    "NUMBERS",
    "Kind",
    "as_typed",
    "column_type",
    "column_type_name",
    "decimal_type",
    "digits_of",
    "is_nested",
    "kind_of",
    "kind_of_type",
    "nested_type",
    "of_type",
    "shared_type",
    "whole_digits",
    "wider_whole",
]

MOST_DIGITS = 38
"""Digits of the largest decimal in both engines."""
KEEPS_SCALE = "lakeport_keeps_scale"
"""Marks arithmetic of views whose decimals keep their scale, as those of Trino do."""
LIST_ORDER = "lakeport_list_order"
"""Marks the aggregate of an array of structs by its order: fields, whether they descend, whether NULLs are first."""
EXACT = "lakeport_exact"
"""Marks numbers with a point, whose type was written out."""


class Kind(Enum):
    """The kinds of types that rules tell apart."""

    INTEGER = "integer"
    FLOAT = "float"
    DOUBLE = "double"
    DECIMAL = "decimal"
    TEXT = "string"
    BINARY = "binary"
    DATE = "date"
    TIMESTAMP = "timestamp_ntz"
    INSTANT = "timestamp"
    BOOLEAN = "boolean"
    NULL = "NULL"
    OTHER = "another type"


NUMBERS = frozenset({Kind.INTEGER, Kind.DOUBLE, Kind.DECIMAL})
"""Kinds of numbers that meet each other."""
_KINDS = {
    Kind.INTEGER: "TINYINT SMALLINT INT BIGINT",
    Kind.FLOAT: "FLOAT",
    Kind.DOUBLE: "DOUBLE",
    Kind.DECIMAL: "DECIMAL",
    Kind.TEXT: "VARCHAR TEXT CHAR",
    Kind.BINARY: "BINARY VARBINARY",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMPNTZ",
    Kind.INSTANT: "TIMESTAMPTZ TIMESTAMPLTZ",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.NULL: "NULL",
}
_BY_NAME = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_NAMES = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "VARCHAR",
    pa.binary(): "BINARY",
    pa.date32(): "DATE",
}
_MOST_TYPES = 1024
# As many digits as Spark gives a whole number that meets a decimal (DecimalType.forType).
_WHOLE_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}


def column_type(arrow: pa.DataType) -> exp.DataType:
    """sqlglot's type of a table's column; one that rules know nothing of is a ``VARIANT``."""
    return _column_type(arrow).copy()


@lru_cache(_MOST_TYPES)
def column_type_name(arrow: pa.DataType) -> str:
    """The type of a table's column in DuckDB's SQL."""
    return str(_column_type(arrow).sql("duckdb"))


@lru_cache(_MOST_TYPES)
def _column_type(arrow: pa.DataType) -> exp.DataType:
    """sqlglot parses types, which takes longer than to copy one."""
    if pa.types.is_decimal(arrow):
        return exp.DataType.build(f"DECIMAL({arrow.precision}, {arrow.scale})")
    if pa.types.is_timestamp(arrow):
        return exp.DataType.build("TIMESTAMPNTZ" if arrow.tz is None else "TIMESTAMPTZ", dialect="duckdb")
    if pa.types.is_list(arrow):
        return nested_type(exp.DType.ARRAY, column_type(arrow.value_type))
    if pa.types.is_map(arrow):
        return nested_type(exp.DType.MAP, column_type(arrow.key_type), column_type(arrow.item_type))
    if pa.types.is_struct(arrow):
        return nested_type(exp.DType.STRUCT, *map(_field, arrow))
    return exp.DataType.build(_NAMES.get(arrow, "VARIANT"))


def kind_of(node: Expr) -> Kind:
    """The kind of an expression's type."""
    if isinstance(node, exp.Null):
        return Kind.NULL
    return _BY_NAME.get(_name(node), Kind.OTHER)


def kind_of_type(found: exp.DataType) -> Kind:
    """The kind of a type."""
    return kind_of(of_type(found))


def of_type(found: exp.DataType) -> Expr:
    """An expression that has a type, and is nothing else."""
    held = exp.Placeholder()
    held.type = found
    return held


def is_nested(found: object, kind: exp.DType) -> bool:
    """Whether something is a nested type of a kind, whose parts are known."""
    return isinstance(found, exp.DataType) and found.this is kind and bool(found.expressions)


def nested_type(kind: exp.DType, *parts: Expr) -> exp.DataType:
    """The type of arrays, maps or structs of parts: types, or fields of a struct."""
    return exp.DataType(this=kind, expressions=[one.copy() for one in parts], nested=True)


def shared_type(types: Iterable[exp.DataType | None]) -> exp.DataType | None:
    """The type of arrays, maps and structs that meet: of all parts the same, but for NULL in place of a part.

    Returns:
        ``None`` where they differ, or a part is of an unknown type.
    """
    found: exp.DataType | None = exp.DataType.build("NULL")
    for one in types:
        found = None if found is None or one is None else _shared(found, one)
    return found if found is not None and _is_known(found) else None


def digits_of(node: Expr) -> tuple[int, int] | None:
    """Digits in all and behind the point of a decimal or of a whole number; ``None`` where they are not known.

    A whole number that is written out has as many as it is written with (``DecimalType.fromLiteral``).
    """
    number = node.this if isinstance(node, exp.Neg) else node
    if isinstance(number, exp.Literal) and not number.is_string and number.name.isdigit():
        return len(number.name), 0
    return whole_digits(node) if kind_of(node) is Kind.INTEGER else _digits_of_decimal(node)


def whole_digits(node: Expr) -> tuple[int, int] | None:
    """Digits of a whole number by its type alone (``DecimalType.forType``); of others, as ``digits_of``."""
    digits = _WHOLE_DIGITS.get(_name(node))
    return digits_of(node) if digits is None else (digits, 0)


def as_typed(node: Expr) -> Expr:
    """An expression, cast to the type that it has in Spark."""
    assert node.type is not None
    return exp.cast(node, node.type, copy=False)


def wider_whole(types: Iterable[exp.DataType | None]) -> exp.DataType | None:
    """The widest of the types of whole numbers; ``None`` where there is none."""
    known = [one for one in types if one is not None]
    return max(known, key=lambda one: _WHOLE_DIGITS.get(one.this.name, 0), default=None)


def decimal_type(precision: int, scale: int) -> exp.DataType:
    """sqlglot's type of a decimal."""
    return exp.DataType.build(f"DECIMAL({precision}, {scale})")


def _shared(left: exp.DataType, right: exp.DataType) -> exp.DataType | None:
    if left == right or right.this is exp.DType.NULL:
        return left
    if left.this is exp.DType.NULL:
        return right
    if left.this is not right.this or left.this not in (exp.DType.ARRAY, exp.DType.MAP):
        return None
    parts = [_shared(*pair) for pair in zip(left.expressions, right.expressions, strict=False)]
    known = [one for one in parts if one is not None]
    return nested_type(left.this, *known) if known and len(known) == len(parts) else None


def _is_known(found: exp.DataType) -> bool:
    parts = [one.args["kind"] if isinstance(one, exp.ColumnDef) else one for one in found.expressions]
    types = [one for one in parts if isinstance(one, exp.DataType)]
    return all(map(_is_known, types)) if types else kind_of_type(found) is not Kind.OTHER


def _field(field: pa.Field) -> exp.ColumnDef:
    return exp.ColumnDef(this=exp.to_identifier(field.name, quoted=True), kind=column_type(field.type))


def _digits_of_decimal(node: Expr) -> tuple[int, int] | None:
    given = [] if node.type is None else [part.this.name for part in node.type.expressions]
    if kind_of(node) is not Kind.DECIMAL or len(given) != 2:
        return None
    return int(given[0]), int(given[1])


def _name(node: Expr) -> str:
    found = node.type
    return found.this.name if isinstance(found, exp.DataType) and isinstance(found.this, exp.DType) else ""
