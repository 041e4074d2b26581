"""From Spark's names of predicates and Catalyst's values to domains and row predicates. No call into Java here."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, Value, ValueSet, prefix_domain
from lakeport.spark.tasks.row_predicate import Comparison, InList, NullTest, RowPredicate, TextTest

__all__ = ["NO_LITERAL", "column_domain", "python_literal", "row_predicate"]

NO_LITERAL = object()
"""Stands for a value that Python cannot have, or that is none of the column's type."""
_COMPARISONS = {"=", "<", "<=", ">", ">=", "<=>", "<>"}
_TEXT_TESTS = ("STARTS_WITH", "ENDS_WITH", "CONTAINS")
_EPOCH_DAY = date(1970, 1, 1)
_EPOCH = datetime(1970, 1, 1)


def row_predicate(name: str, column: ColumnHandle, values: list[object]) -> RowPredicate | None:
    """The same answer as Spark's for each row, NULL and NaN included; ``None`` where that is not sure.

    Args:
        name: Spark's name of the predicate, such as ``<=>`` or ``STARTS_WITH``.
        column: The column on its left.
        values: On its right.
    """
    if name in ("IS_NULL", "IS_NOT_NULL") and not values:
        return NullTest(column.name, name == "IS_NULL")
    present = tuple(value for value in values if isinstance(value, Value))
    if name == "IN" and not pa.types.is_floating(column.type):
        return InList(column.name, present, len(present) < len(values))
    if len(values) != 1:
        return None
    if name == "<=>" and not present:
        return NullTest(column.name, True)
    if name in _COMPARISONS and present:
        operator = {"<=>": "=", "<>": "!="}.get(name, name)
        return Comparison(column.name, operator, present[0], name == "<=>")
    if name in _TEXT_TESTS and isinstance(values[0], str):
        return TextTest(column.name, name, values[0])
    return None


def column_domain(name: str, data_type: pa.DataType, values: list[object]) -> tuple[Domain | None, bool]:
    """The values for which a predicate is true, and whether it is true for all of them; ``None`` for no domain."""
    if name == "IS_NULL":
        return Domain.only_null(data_type), True
    if name == "IS_NOT_NULL":
        return Domain.not_null(data_type), True
    if not values:
        return None, False
    if name == "IN":
        return _in(data_type, values)
    if len(values) != 1:
        return None, False
    if name == "STARTS_WITH":
        return prefix_domain(data_type, values[0]) if isinstance(values[0], str) else (None, False)
    if name in _COMPARISONS:
        return _compare(name, data_type, values[0])
    return None, False


def python_literal(value: object, data_type: pa.DataType) -> object:
    """From Catalyst's internal value to the Python value of an Arrow type; ``NO_LITERAL`` where there is none."""
    types = pa.types
    if types.is_boolean(data_type):
        return bool(value)
    if types.is_integer(data_type):
        return int(str(value))
    if types.is_float32(data_type):
        # Java prints a float by the fewest digits; the value is the nearest float of it.
        return struct.unpack("f", struct.pack("f", float(str(value))))[0]
    if types.is_float64(data_type):
        return float(str(value))
    if types.is_decimal(data_type):
        return Decimal(str(value))
    if types.is_string(data_type):
        return str(value)
    if types.is_binary(data_type) and isinstance(value, (bytes, bytearray)):
        return bytes(value)
    try:
        if types.is_date32(data_type):
            return _EPOCH_DAY + timedelta(days=int(str(value)))
        if types.is_timestamp(data_type):
            wall = _EPOCH + timedelta(microseconds=int(str(value)))
            return wall if data_type.tz is None else wall.replace(tzinfo=UTC)
    except OverflowError:
        # Spark's years go beyond Python's.
        return NO_LITERAL
    return NO_LITERAL


def _in(data_type: pa.DataType, values: list[object]) -> tuple[Domain, bool]:
    present = [value for value in values if isinstance(value, Value)]
    # "a IN (1, NULL)" is never false: its negation is true for no row, which a domain could not say.
    return Domain.multiple_values(data_type, present), len(present) == len(values)


def _compare(name: str, data_type: pa.DataType, value: object) -> tuple[Domain | None, bool]:
    if value is None:
        return (Domain.only_null(data_type), True) if name == "<=>" else (Domain.none(data_type), False)
    assert isinstance(value, Value)
    if name in ("=", "<=>"):
        return Domain.single_value(data_type, value), True
    if name == "<>":
        return Domain.single_value(data_type, value).complement().intersect(Domain.not_null(data_type)), True
    make = {
        "<": Range.less_than,
        "<=": Range.less_or_equal,
        ">": Range.greater_than,
        ">=": Range.greater_or_equal,
    }[name]
    return Domain.create(ValueSet.of_ranges(data_type, [make(data_type, value)]), False), True
