"""Column statistics: Thrift structs of the metastore to our values and back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isfinite

from catalog.metastore._thrift.lakeport_metastore import ttypes
from catalog.metastore.model import ColumnStatistics
from catalog.metastore.thrift.histograms import quantiles
from connector_spi.errors import InvalidArgumentError

__all__ = ["statistics_from_thrift", "statistics_to_thrift"]

_EPOCH_DAY = date(1970, 1, 1)
_EPOCH = datetime(1970, 1, 1)
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_DAY_SECONDS = 86_400
_UNKNOWN = -1
_Bound = int | float | Decimal | date | datetime


def statistics_from_thrift(raw: ttypes.ColumnStatisticsObj) -> ColumnStatistics:
    """Reads statistics of one column. A count below zero, and a kind of statistics that is not known, say nothing."""
    name, type_text, data = raw.colName.lower(), raw.colType, raw.statsData
    if data.booleanStats is not None:
        stats = data.booleanStats
        return ColumnStatistics(
            name,
            type_text,
            null_count=_known(stats.numNulls),
            true_count=_known(stats.numTrues),
            false_count=_known(stats.numFalses),
        )
    text = data.stringStats or data.binaryStats
    if text is not None:
        return ColumnStatistics(
            name,
            type_text,
            null_count=_known(text.numNulls),
            distinct_count=_known(data.stringStats.numDVs) if data.stringStats else None,
            average_length=text.avgColLen if text.avgColLen >= 0 else None,
            max_length=_known(text.maxColLen),
        )
    return _ranged_statistics(name, type_text, data)


def statistics_to_thrift(statistics: ColumnStatistics) -> ttypes.ColumnStatisticsObj:
    """Writes statistics of one column; a required count that is not known becomes -1.

    Raises:
        InvalidArgumentError: Statistics of this type, such as of a struct, are none that a metastore keeps.
    """
    data = ttypes.ColumnStatisticsData()
    kind = statistics.type.lower().partition("(")[0].strip()
    nulls, distinct = _or_unknown(statistics.null_count), _or_unknown(statistics.distinct_count)
    length = (_or_unknown(statistics.max_length), _or_unknown(statistics.average_length))
    if kind == "boolean":
        counts = (_or_unknown(statistics.true_count), _or_unknown(statistics.false_count))
        data.booleanStats = ttypes.BooleanColumnStatsData(*counts, nulls)
    elif kind in ("string", "varchar", "char"):
        data.stringStats = ttypes.StringColumnStatsData(*length, nulls, distinct)
    elif kind == "binary":
        data.binaryStats = ttypes.BinaryColumnStatsData(*length, nulls)
    elif kind in _RANGED:
        field, make, write = _RANGED[kind]
        given = (statistics.low, statistics.high)
        # Most databases of metastores have no infinity, and a metastore tries for 20 s to write one.
        is_finite = all(isfinite(bound) for bound in given if isinstance(bound, float))
        bounds = [None if bound is None or not is_finite else write(bound) for bound in given]
        setattr(data, field, make(*bounds, nulls, distinct))
    else:
        raise InvalidArgumentError(f"a metastore keeps no statistics of {statistics.type}: column {statistics.column}")
    return ttypes.ColumnStatisticsObj(statistics.column.lower(), statistics.type, data)


def _ranged_statistics(name: str, type_text: str, data: ttypes.ColumnStatisticsData) -> ColumnStatistics:
    read: Callable[..., _Bound]
    if data.longStats is not None:
        # Before Hive 4 a timestamp's bounds were seconds in the statistics of whole numbers.
        stats, read = data.longStats, _from_seconds if type_text.lower().startswith("timestamp") else int
    elif data.doubleStats is not None:
        stats, read = data.doubleStats, float
    elif data.decimalStats is not None:
        stats, read = data.decimalStats, _decimal_from_thrift
    elif data.dateStats is not None:
        stats, read = data.dateStats, lambda raw: _EPOCH_DAY + timedelta(days=raw.daysSinceEpoch)
    elif data.timestampStats is not None:
        stats, read = data.timestampStats, lambda raw: _from_seconds(raw.secondsSinceEpoch)
    else:
        return ColumnStatistics(name, type_text)
    return ColumnStatistics(
        name,
        type_text,
        null_count=_known(stats.numNulls),
        distinct_count=_known(stats.numDVs),
        low=None if stats.lowValue is None else read(stats.lowValue),
        high=None if stats.highValue is None else read(stats.highValue),
        quantiles=_quantiles(stats.histogram, _DAY_SECONDS if data.dateStats is not None else 1),
    )


def _quantiles(sketch: bytes | None, unit: int) -> tuple[float, ...]:
    """Of dates, too, Hive sketches seconds."""
    return tuple(one / unit for one in quantiles(sketch)) if sketch else ()


def _from_seconds(seconds: int) -> datetime:
    return _EPOCH + timedelta(seconds=seconds)


def _decimal_from_thrift(raw: ttypes.Decimal) -> Decimal:
    unscaled = int.from_bytes(raw.unscaled, "big", signed=True)
    return Decimal((unscaled < 0, tuple(map(int, str(abs(unscaled)))), -raw.scale))


def _decimal_to_thrift(value: Decimal) -> ttypes.Decimal:
    sign, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    unscaled = int("".join(map(str, digits))) * 10 ** (int(exponent) + scale) * (-1 if sign else 1)
    return ttypes.Decimal(unscaled=unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True), scale=scale)


# Kind of type to: field of the union, its struct, how a bound is written.
_RANGED: dict[str, tuple[str, Callable[..., object], Callable[..., object]]] = {
    **dict.fromkeys(_INTEGERS, ("longStats", ttypes.LongColumnStatsData, int)),
    **dict.fromkeys(("float", "double"), ("doubleStats", ttypes.DoubleColumnStatsData, float)),
    "decimal": ("decimalStats", ttypes.DecimalColumnStatsData, _decimal_to_thrift),
    "date": ("dateStats", ttypes.DateColumnStatsData, lambda day: ttypes.Date((day - _EPOCH_DAY).days)),
    "timestamp": ("longStats", ttypes.LongColumnStatsData, lambda at: (at - _EPOCH) // timedelta(seconds=1)),
}


def _known(count: int | None) -> int | None:
    return count if count is not None and count >= 0 else None


def _or_unknown(count: float | None) -> float:
    return _UNKNOWN if count is None else count
