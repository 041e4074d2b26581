"""Filters in Spark's SQL: comparisons of columns, and of fields of structs, with constants, joined by AND, OR, NOT."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.expressions import Expr

from connector_spi.errors import ColumnNotFoundError, InvalidArgumentError
from lakeport.arrow.filters.conditions import ColumnTest, Junction, RowTest, column_value
from lakeport.sql.spark_parser import SparkSql

__all__ = ["parse_sql_filter"]

_Find: TypeAlias = Callable[[str], tuple[str, pa.DataType]]

_OPERATORS: dict[type[Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NEGATED = {
    "=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<", "in": "not in", "not in": "in",
    "like": "not like", "not like": "like", "is null": "is not null", "is not null": "is null",
}  # fmt: skip
_NUMERIC_SUFFIXES = ("TINYINT", "SMALLINT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL")
_EXACT_DOUBLE = 2**53
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?) ?(Z|UTC|[+-]\d{2}:\d{2})?")
_NEVER: tuple[str, tuple[object, ...]] = ("in", ())


def parse_sql_filter(text: str, find: _Find) -> RowTest:
    """Reads a filter in SQL.

    Args:
        text: What may follow WHERE in Spark.
        find: From a column as the user wrote it to its name and type.

    Raises:
        InvalidArgumentError: It is no filter, compares other things than a column and constants, or a constant is not
            of its column's type.
        ColumnNotFoundError: Whatever ``find`` raises.
    """
    try:
        node = sqlglot.maybe_parse(text, into=exp.Condition, dialect=SparkSql)
    except SqlglotError as error:
        found = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
        place = f" at {found['highlight']!r:.80}" if found.get("highlight") else ""
        raise InvalidArgumentError(
            f'cannot read the filter {text!r:.200}{place}: expected SQL such as "a > 5 AND b IS NULL"'
        ) from error
    return _Reader(text, find).test(node, negated=False)


@dataclass(frozen=True, slots=True)
class _Target:
    """A column, or a field of one."""

    column: str
    path: tuple[str, ...]
    type: pa.DataType

    def __str__(self) -> str:
        return ".".join((self.column, *self.path))

    def test(self, operator: str, *values: object) -> ColumnTest:
        """A test of it."""
        held = tuple(column_value(str(self), self.type, value) for value in values)
        return ColumnTest(self.column, operator, self.type, held, self.path)

    def field(self, name: str) -> _Target:
        """A field of it, in any case, as in Spark."""
        if not pa.types.is_struct(self.type):
            raise InvalidArgumentError(
                f"column '{self}' is {self.type}, and has no field '{name}'; fields of structs have"
            )
        met = [field for field in self.type if field.name.lower() == name.lower()]
        if len(met) != 1:
            known = ", ".join(field.name for field in self.type)
            raise InvalidArgumentError(f"column '{self}' has {len(met) or 'no'} fields '{name}'; it has {known}")
        return _Target(self.column, (*self.path, met[0].name), met[0].type)


class _Reader:
    """Turns the tree into tests. NOT goes down to the comparisons, where it has the same answer for NULL and NaN."""

    def __init__(self, text: str, find: _Find) -> None:
        self._text = text
        self._find = find

    def test(self, node: Expr, *, negated: bool) -> RowTest:
        """The test of a condition, or of its negation."""
        node = node.unnest()
        if isinstance(node, exp.Not):
            return self.test(node.this, negated=not negated)
        if isinstance(node, exp.And | exp.Or):
            parts = tuple(self.test(part, negated=negated) for part in node.flatten())
            return Junction(isinstance(node, exp.And) != negated, parts)
        if isinstance(node, exp.Between):
            self._has_only(node, "low", "high")
            bounds = ((">=", node.args["low"]), ("<=", node.args["high"]))
            parts = tuple(self._compared(node.this, name, bound, negated=negated) for name, bound in bounds)
            return Junction(not negated, parts)
        return self._leaf(node, negated=negated)

    def _leaf(self, node: Expr, *, negated: bool) -> RowTest:
        operator = _OPERATORS.get(type(node))
        if operator is not None:
            self._has_only(node, "expression")
            if isinstance(node.this.unnest(), exp.Column | exp.Dot):
                return self._compared(node.this, operator, node.expression, negated=negated)
            if isinstance(node.expression.unnest(), exp.Column | exp.Dot):
                return self._compared(node.expression, _MIRRORED[operator], node.this, negated=negated)
            raise self._unknown(node)
        if isinstance(node, exp.Is):
            return self._is(node, negated=negated)
        if isinstance(node, exp.In):
            self._has_only(node, "expressions")
            return self._in(node, negated=negated)
        if isinstance(node, exp.Like):
            self._has_only(node, "expression", "negate")
            return self._compared(node.this, "like", node.expression, negated=negated != bool(node.args.get("negate")))
        if isinstance(node, exp.Column | exp.Dot):
            target = self._target(node)
            if pa.types.is_boolean(target.type):
                return target.test("=", not negated)
        raise self._unknown(node)

    def _compared(self, left: Expr, operator: str, right: Expr, *, negated: bool) -> RowTest:
        target = self._target(left)
        asked = _NEGATED[operator] if negated else operator
        value = self._constant(right, str(target), target.type)
        if operator == "like":
            return self._pattern(right, target.test(asked, value))
        asked, values = _nearest(asked, target.type, value)
        return target.test(asked, *values)

    def _pattern(self, node: Expr, test: ColumnTest) -> ColumnTest:
        if not pa.types.is_string(test.type) and not pa.types.is_large_string(test.type):
            raise InvalidArgumentError(
                f"column '{test.column}' is {test.type}: LIKE is for text, in {self._text!r:.200}"
            )
        # In Spark any other escape is an error, in Arrow it is the character itself.
        if re.sub(r"\\[\\%_]", "", str(test.values[0])).count("\\"):
            raise InvalidArgumentError(
                f"the pattern {test.values[0]!r:.80} has a \\ that is not before %, _ or \\; write \\\\, in "
                f"{node.sql('spark'):.80}"
            )
        return test

    def _is(self, node: exp.Is, *, negated: bool) -> RowTest:
        self._has_only(node, "expression")
        target = self._target(node.this)
        if isinstance(node.expression, exp.Null):
            return target.test("is not null" if negated else "is null")
        if not isinstance(node.expression, exp.Boolean):
            raise self._unknown(node)
        value = bool(node.expression.this)
        if not negated:
            return target.test("=", value)
        # IS NOT TRUE holds for NULL.
        return Junction(False, (target.test("!=", value), target.test("is null")))

    def _in(self, node: exp.In, *, negated: bool) -> RowTest:
        target = self._target(node.this)
        if not node.expressions:
            raise self._unknown(node)
        kept: list[object] = []
        for item in node.expressions:
            asked, near = _nearest("=", target.type, self._constant(item, str(target), target.type))
            kept += near if asked == "=" else ()
        if negated and not kept:
            return target.test("is not null")
        return target.test("not in" if negated else "in", *kept)

    def _target(self, node: Expr) -> _Target:
        node = node.unnest()
        parts = node.parts if isinstance(node, exp.Column | exp.Dot) else []
        if not parts or not all(isinstance(part, exp.Identifier) for part in parts):
            raise self._unknown(node)
        try:
            column, data_type = self._find(parts[0].name)
        except ColumnNotFoundError as error:
            if len(parts) == 1:
                raise
            raise InvalidArgumentError(f"cannot read {node.sql('spark')!r:.80}: {error.message}") from error
        found = _Target(column, (), data_type)
        for part in parts[1:]:
            found = found.field(part.name)
        return found

    def _constant(self, node: Expr, column: str, data_type: pa.DataType) -> object:
        node = node.unnest()
        if isinstance(node, exp.Null):
            raise InvalidArgumentError(
                f"column '{column}' cannot be compared with NULL, since that is never true; "
                f"write {column} IS NULL or IS NOT NULL, in {self._text!r:.200}"
            )
        if isinstance(node, exp.Literal | exp.RawString) and node.is_string:
            return self._text_value(node.name, column, data_type)
        number = _number(node)
        if number is not None:
            return _as_number_of(data_type, number)
        if isinstance(node, exp.Boolean):
            return bool(node.this)
        if isinstance(node, exp.HexString):
            return bytes.fromhex(node.name)
        if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.this.is_string:
            kind = node.to.this.name
            is_date = pa.types.is_date(data_type)
            if (kind == "DATE" and (is_date or _is_local(data_type))) or (kind.startswith("TIMESTAMP") and not is_date):
                return self._text_value(node.this.name, column, data_type)
        raise self._unknown(node)

    def _text_value(self, text: str, column: str, data_type: pa.DataType) -> object:
        """The value of a text: times are written as texts, too."""
        try:
            if pa.types.is_date(data_type) and _DATE.fullmatch(text):
                return date.fromisoformat(text)
            if pa.types.is_timestamp(data_type):
                return self._timestamp(text, column, data_type)
        except ValueError as error:
            raise InvalidArgumentError(f"column '{column}' is {data_type}: {text!r:.80}: {error}") from error
        return text

    def _timestamp(self, text: str, column: str, data_type: pa.TimestampType) -> object:
        match = _TIME.fullmatch(text)
        if _DATE.fullmatch(text) and data_type.tz is None:
            return datetime.combine(date.fromisoformat(text), time())
        if match is None and not _DATE.fullmatch(text):
            return text
        zone = None if match is None else match[3]
        if (zone is None) != (data_type.tz is None):
            expected = "none" if data_type.tz is None else "one, such as TIMESTAMP '2024-01-31 12:00:00Z'"
            raise InvalidArgumentError(
                f"column '{column}' is {data_type}: the time {text!r} has {'no' if zone is None else 'a'} zone; "
                f"expected {expected}"
            )
        assert match is not None
        return datetime.fromisoformat(f"{match[1]} {match[2]}{'Z' if zone == 'UTC' else zone or ''}")

    def _has_only(self, node: Expr, *arguments: str) -> None:
        """Refuses what else a node may have."""
        if any(value for name, value in node.args.items() if name not in ("this", *arguments)):
            raise self._unknown(node)

    def _unknown(self, node: Expr) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"cannot read {node.sql('spark')!r:.80} in the filter {self._text!r:.200}: expected comparisons of a "
            "column or field with constants, IN, BETWEEN, LIKE, IS NULL, joined by AND, OR and NOT; use session.sql, "
            "or filter in Polars or DuckDB"
        )


def _number(node: Expr) -> int | float | Decimal | None:
    if isinstance(node, exp.Neg):
        found = _number(node.this.unnest())
        return None if found is None else -found
    # 5L and 2.5BD are parsed as casts.
    if isinstance(node, exp.Cast) and node.to.this.name in _NUMERIC_SUFFIXES and isinstance(node.this, exp.Literal):
        text = node.this.name
        return float(text) if node.to.this.name in ("FLOAT", "DOUBLE") else _parsed(text)
    return _parsed(node.name) if isinstance(node, exp.Literal) else None


def _parsed(text: str) -> int | float | Decimal | None:
    if re.fullmatch(r"\d+", text):
        return int(text)
    if re.fullmatch(r"\d*\.\d*", text) and text != ".":
        return Decimal(text)
    return float(text) if re.fullmatch(r"[\d.]+[eE][+-]?\d+", text) else None


def _as_number_of(data_type: pa.DataType, number: int | float | Decimal) -> object:
    """The number as Spark compares it with a column: as a double with one of floating point, else exactly."""
    if pa.types.is_floating(data_type):
        return float(number)
    if isinstance(number, float) and math.isfinite(number) and abs(number) <= _EXACT_DOUBLE:
        number = Decimal(number)
    if pa.types.is_integer(data_type) and isinstance(number, Decimal) and number == int(number):
        return int(number)
    return number


def _nearest(operator: str, data_type: pa.DataType, value: object) -> tuple[str, Sequence[object]]:
    """The same test with a value that the type has: 2.5 is none of an integer, 0.1 none of 32 bits."""
    near: int | float | None = None
    if pa.types.is_integer(data_type) and isinstance(value, Decimal):
        near = math.floor(value)
    elif (pa.types.is_float32(data_type) or pa.types.is_float16(data_type)) and isinstance(value, float):
        with np.errstate(over="ignore"):
            near = float(np.dtype(data_type.to_pandas_dtype()).type(value))
    if near is None or near == value or not isinstance(value, float | Decimal):
        return operator, (value,)
    if operator in ("=", "!="):
        return _NEVER if operator == "=" else ("is not null", ())
    if operator in ("<", "<="):
        return ("<=" if near < value else "<"), (near,)
    return (">=" if near > value else ">"), (near,)


def _is_local(data_type: pa.DataType) -> bool:
    return pa.types.is_timestamp(data_type) and data_type.tz is None
