"""Kinds of types, by which it is decided whether an expression means the same in Spark and in DuckDB."""

from __future__ import annotations

from enum import Enum

import pyarrow as pa
from sqlglot import exp
from sqlglot.expressions import Expr

__all__ = ["BASE", "EXACT", "Kind", "column_type", "digits_of", "kind_of"]


BASE = "lakeport_base"
"""Marks columns of tables, whose digits are certain."""
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


_KINDS = {
    Kind.INTEGER: "TINYINT SMALLINT INT BIGINT",
    Kind.FLOAT: "FLOAT",
    Kind.DOUBLE: "DOUBLE",
    Kind.DECIMAL: "DECIMAL",
    Kind.TEXT: "VARCHAR TEXT",
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
# As many digits as Spark gives a whole number that meets a decimal (DecimalType.forType).
_WHOLE_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}


def column_type(arrow: pa.DataType) -> exp.DataType:
    """sqlglot's type of a table's column; one that rules know nothing of is a ``VARIANT``."""
    if pa.types.is_decimal(arrow):
        return exp.DataType.build(f"DECIMAL({arrow.precision}, {arrow.scale})")
    if pa.types.is_timestamp(arrow):
        return exp.DataType.build("TIMESTAMPNTZ" if arrow.tz is None else "TIMESTAMPTZ", dialect="duckdb")
    return exp.DataType.build(_NAMES.get(arrow, "VARIANT"))


def kind_of(node: Expr) -> Kind:
    """The kind of an expression's type."""
    if isinstance(node, exp.Null):
        return Kind.NULL
    return _BY_NAME.get(_name(node), Kind.OTHER)


def digits_of(node: Expr) -> tuple[int, int] | None:
    """Digits in all and behind the point of a decimal or of a whole number; ``None`` where they are not known."""
    if isinstance(node, exp.Literal) and kind_of(node) is Kind.INTEGER:
        return len(node.name), 0
    if isinstance(node, exp.Column) and node.meta.get(BASE) is None:
        return None
    name = _name(node)
    if name in _WHOLE_DIGITS:
        return _WHOLE_DIGITS[name], 0
    given = [] if node.type is None else [part.this.name for part in node.type.expressions]
    if name != "DECIMAL" or len(given) != 2:
        return None
    return int(given[0]), int(given[1])


def _name(node: Expr) -> str:
    found = node.type
    return found.this.name if isinstance(found, exp.DataType) and isinstance(found.this, exp.DType) else ""
