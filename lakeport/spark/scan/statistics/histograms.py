"""Histograms of columns for Spark's optimizer, whose parts have equal heights."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import pairwise

import pyarrow as pa

from connector_spi.predicate import Value
from connector_spi.statistics import ColumnStatistics
from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import Answer
from lakeport.spark.bridge.jvm import READ

__all__ = ["histogram_answer"]

_HISTOGRAM = READ + "colstats.Histogram"
_BIN = READ + "colstats.HistogramBin"
_EPOCH_DAY, _EPOCH = date(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)
_MICROS = 1_000_000


def histogram_answer(known: ColumnStatistics, data_type: pa.DataType, present: float) -> Answer:
    """The ``Histogram`` of a column, its edges in the units that Spark has inside.

    Args:
        known: Has bounds, distinct values and quantiles.
        data_type: The column's type.
        present: Rows that are not NULL.
    """
    unit = _MICROS if pa.types.is_timestamp(data_type) else 1
    low, high = (_number(one, unit) for one in (known.low, known.high))
    # Sketches are of floats of 32 bits, and Spark wants the bounds at both ends.
    inner = [min(max(edge * unit, low), high) for edge in known.quantiles[1:-1]]
    edges = list(pairwise([low, *inner, high]))
    height = present / len(edges)
    # A part of one value has one; all others have equal shares of those that are left.
    alone = {lower for lower, upper in edges if lower == upper}
    wide = sum(lower < upper for lower, upper in edges)
    share = max(1.0, ((known.distinct_values or 1.0) - len(alone)) / wide) if wide else 1.0
    bins = [_bin(lower, upper, 1 if lower == upper else round(min(share, max(height, 1.0)))) for lower, upper in edges]
    found = {"height": answers.boxed("java.lang.Double", repr(height)), "bins": answers.array(_BIN, bins)}
    return answers.java_object(_HISTOGRAM, {**found, "toString": answers.plain(f"{len(edges)} parts")})


def _bin(lower: float, upper: float, distinct: int) -> Answer:
    ends = {name: answers.boxed("java.lang.Double", repr(end)) for name, end in (("lo", lower), ("hi", upper))}
    return answers.java_object(_BIN, {**ends, "ndv": answers.boxed("java.lang.Long", str(distinct))})


def _number(value: Value | None, unit: int) -> float:
    if isinstance(value, datetime):
        return (value - _EPOCH).total_seconds() * unit
    if isinstance(value, date):
        return float((value - _EPOCH_DAY).days)
    return float(value)  # type: ignore[arg-type]  # a number, as it has quantiles
