"""Statistics of columns for Spark's optimizer, which uses them with ``spark.sql.cbo.enabled``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

from connector_spi.predicate import Value
from connector_spi.statistics import ColumnStatistics, TableStatistics
from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import Answer
from lakeport.spark.bridge.jvm import READ
from lakeport.spark.scan.statistics.histograms import histogram_answer

__all__ = ["column_answers", "plausible_columns"]

_INTERFACE = READ + "colstats.ColumnStatistics"
_DECIMAL = "org.apache.spark.sql.types.Decimal"
_EPOCH_DAY = date(1970, 1, 1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Sketches are off by some per cent.
_ESTIMATES = 1.1
# Rows for each value, from which on all values are likely to be there.
_MANY = 4

_TextOf = Callable[[Value], str | None]


def plausible_columns(known: TableStatistics, schema: pa.Schema) -> tuple[tuple[str, ColumnStatistics], ...]:
    """Statistics of the columns of a scan, without those that contradict themselves: such are no estimate.

    Of partitions that a filter leaves there may be fewer rows than the whole table has distinct values.

    Args:
        known: What the connector knows of the rows that are read.
        schema: The columns of the scan.
    """
    types = {field.name: field.type for field in schema}
    found = ((name, _plausible(one, types[name], known.row_count)) for name, one in known.columns if name in types)
    return tuple((name, one) for name, one in found if one is not None)


def column_answers(known: TableStatistics, schema: pa.Schema) -> Answer:
    """The ``Map<NamedReference, ColumnStatistics>`` of a scan, its bounds in the types that Spark has inside.

    Args:
        known: Of the scan.
        schema: Its columns.
    """
    rows = known.row_count
    made = {}
    for name, one in known.columns:
        found = _answers(one, schema.field(name).type, rows)
        if found:
            named = {**found, "toString": answers.plain(f"statistics of {name}")}
            made[f"`{name.replace('`', '``')}`"] = answers.java_object(_INTERFACE, named)
    return answers.reference_map(made)


def _plausible(one: ColumnStatistics, data_type: pa.DataType, rows: float | None) -> ColumnStatistics | None:
    if one.null_fraction is not None and not 0 <= one.null_fraction <= 1:
        return None
    if one.low is not None and one.high is not None and one.high < one.low:  # type: ignore[operator]
        return None
    if rows is None:
        return one
    present = rows * (1 - (one.null_fraction or 0))
    if one.distinct_values is not None:
        return replace(one, distinct_values=min(one.distinct_values, max(present * _ESTIMATES, 1.0)))
    if one.low is None or one.high is None:
        return one
    return replace(one, distinct_values=_distinct_within(present, _values_within(one.low, one.high, data_type)))


def _distinct_within(present: float, most: float) -> float | None:
    """How many distinct values there are, where rows and bounds leave little doubt; Spark estimates no filter without.

    Keys that are counted up are as many as the values within their bounds. A join by a number that is too high would
    look too good, so that in doubt there is none.
    """
    return max(1.0, most) if present >= _MANY * most or round(present) == most else None


def _values_within(low: Value, high: Value, data_type: pa.DataType) -> float:
    if isinstance(low, int) and isinstance(high, int):
        return high - low + 1
    if isinstance(low, Decimal) and isinstance(high, Decimal) and pa.types.is_decimal(data_type):
        return float((high - low).scaleb(data_type.scale)) + 1
    if pa.types.is_date32(data_type) and isinstance(low, date) and isinstance(high, date):
        return (high - low).days + 1
    return math.inf


def _answers(one: ColumnStatistics, data_type: pa.DataType, rows: float | None) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    nulls = None if one.null_fraction is None or rows is None else round(one.null_fraction * rows)
    if one.distinct_values is not None:
        found["distinctCount"] = answers.optional_long(round(one.distinct_values))
    if nulls is not None:
        found["nullCount"] = answers.optional_long(nulls)
    if one.size_bytes is not None and nulls is not None and rows is not None and rows - nulls >= 1:
        found["avgLen"] = answers.optional_long(math.ceil(one.size_bytes / (rows - nulls)))
    boxed = _boxed(data_type)
    if boxed is not None and one.low is not None and one.high is not None:
        java_class, text_of = boxed
        texts = [text_of(value) for value in (one.low, one.high)]
        for name, text in zip(("min", "max"), texts, strict=True):
            if text is not None and None not in texts:
                found[name] = answers.optional(java_class, text)
    if {"min", "max", "distinctCount"} <= found.keys() and one.quantiles and nulls is not None and rows is not None:
        found["histogram"] = answers.optional_of(histogram_answer(one, data_type, rows - nulls))
    return found


def _boxed(data_type: pa.DataType) -> tuple[str, _TextOf] | None:
    """Java's class of a value, and its text for that class; ``None`` where Spark keeps no bounds."""
    if pa.types.is_signed_integer(data_type):
        box = {8: "Byte", 16: "Short", 32: "Integer", 64: "Long"}[data_type.bit_width]
        return f"java.lang.{box}", _integer
    if pa.types.is_floating(data_type) and data_type.bit_width > 16:
        return f"java.lang.{'Float' if data_type.bit_width == 32 else 'Double'}", _number
    if pa.types.is_decimal(data_type):
        return _DECIMAL, _decimal
    if pa.types.is_boolean(data_type):
        return "java.lang.Boolean", lambda value: str(value).lower() if isinstance(value, bool) else None
    if pa.types.is_date32(data_type):
        return "java.lang.Integer", _days
    if pa.types.is_timestamp(data_type) and data_type.tz is not None:
        return "java.lang.Long", _micros
    return None


def _integer(value: Value) -> str | None:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: Value) -> str | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return repr(float(value)) if is_number else None  # type: ignore[arg-type]


def _decimal(value: Value) -> str | None:
    return f"{value:f}" if isinstance(value, Decimal) and value.is_finite() else None


def _days(value: Value) -> str | None:
    if isinstance(value, datetime) or not isinstance(value, date):
        return None
    return str((value - _EPOCH_DAY).days)


def _micros(value: Value) -> str | None:
    if not isinstance(value, datetime):
        return None
    return str((value - _EPOCH) // timedelta(microseconds=1)) if value.tzinfo is not None else None
