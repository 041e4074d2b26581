"""Column statistics of the metadata table as bounds of the table's types. Pure; on doubt a bound is unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation

import pyarrow as pa

from connector_spi.predicate import Domain, Value
from connectors.hudi.metadata_table.records import ColumnStats, StatValue
from connectors.toolkit.read.pruning import ColumnBounds, may_match

__all__ = ["column_bounds", "may_hold"]

_EPOCH_DAY = date(1970, 1, 1).toordinal()
# Writers went through java.sql.Date, whose calendar has other days before it (15 October 1582).
_FIRST_CERTAIN_DAY = -141_427
_DECIMAL_ORDINAL = 10
_DATE_ORDINAL = 12
_FIRST_SURROGATE = "\ud800"
_EPOCHS = {True: datetime(1970, 1, 1, tzinfo=UTC), False: datetime(1970, 1, 1)}
_MICROS_OF_A_MILLI = 1000


def may_hold(domain: Domain, stats: ColumnStats) -> bool:
    """Whether a file may hold a value that is wanted; true on doubt.

    Args:
        domain: What is wanted.
        stats: What is known of the column in the file.
    """
    if stats.value_count == 0 and stats.null_count == 0 and not stats.low and not stats.high:
        # A log of deletes: it brings no value.
        return False
    return any(may_match(domain, bounds) for bounds in column_bounds(domain.type, stats))


def column_bounds(arrow: pa.DataType, stats: ColumnStats) -> list[ColumnBounds]:
    """What statistics may mean for a column of a type: one of these; which one is not recorded.

    A time is a number of milliseconds or microseconds, as the file has it, and not every writer distinguished them.
    """
    if not stats.low or not stats.high:
        # Hudi counts NULLs where a Parquet file has no bounds (ParquetUtils.readColumnStatsFromMetadata), and none
        # does of texts that are long: "nothing but NULL" may be said of values.
        return [ColumnBounds()]
    if pa.types.is_string(arrow) and stats.null_count:
        # Some of them may be the values of a row group without bounds.
        return [ColumnBounds()]
    if pa.types.is_timestamp(arrow):
        return [_timestamp_bounds(arrow, stats, factor) for factor in (1, _MICROS_OF_A_MILLI)]
    convert = _converter(arrow)
    if convert is None:
        return [_counted(stats, None, None)]
    low = _outer([convert(value, False) for value in stats.low], min)
    high = _outer([convert(value, True) for value in stats.high], max)
    if pa.types.is_floating(arrow) and not _excludes_zero(low, high):
        # parquet-mr reads the bounds of values with a NaN among them as 0.0, and Hudi notes that.
        low = high = None
    return [_counted(stats, low, high)]


def _counted(stats: ColumnStats, low: Value | None, high: Value | None) -> ColumnBounds:
    return ColumnBounds(low, high, stats.null_count, None)


def _excludes_zero(low: Value | None, high: Value | None) -> bool:
    return isinstance(low, float) and isinstance(high, float) and (low > 0 or high < 0)


def _outer(values: Sequence[Value | None], choose: Callable[[Sequence[Value]], Value]) -> Value | None:
    known = [value for value in values if value is not None]
    return choose(known) if len(known) == len(values) else None


def _converter(arrow: pa.DataType) -> Callable[[StatValue, bool], Value | None] | None:
    if pa.types.is_boolean(arrow):
        return _boolean
    if pa.types.is_integer(arrow):
        return _integer
    if pa.types.is_floating(arrow):
        return _floating
    if pa.types.is_string(arrow):
        return _text
    if pa.types.is_date32(arrow):
        return _date
    if pa.types.is_decimal(arrow):
        return lambda value, upper: _decimal(arrow, value, upper)
    return None


def _boolean(value: StatValue, upper: bool) -> Value | None:
    return value.value if isinstance(value.value, bool) else None


def _integer(value: StatValue, upper: bool) -> Value | None:
    if value.wrapper not in ("IntWrapper", "LongWrapper") or isinstance(value.value, bool):
        return None
    return value.value if isinstance(value.value, int) else None


def _floating(value: StatValue, upper: bool) -> Value | None:
    if value.wrapper in ("FloatWrapper", "DoubleWrapper") and isinstance(value.value, float):
        return value.value
    return None


def _text(value: StatValue, upper: bool) -> Value | None:
    # Java orders by UTF-16 units, which is another order from the surrogates on.
    if not isinstance(value.value, str) or any(char >= _FIRST_SURROGATE for char in value.value):
        return None
    return value.value


def _date(value: StatValue, upper: bool) -> Value | None:
    is_date = value.wrapper in ("DateWrapper", "LocalDateWrapper") or value.ordinal == _DATE_ORDINAL
    if not is_date or not isinstance(value.value, int) or value.value < _FIRST_CERTAIN_DAY:
        return None
    try:
        return date.fromordinal(_EPOCH_DAY + value.value)
    except (ValueError, OverflowError):
        return None


def _decimal(arrow: pa.DataType, value: StatValue, upper: bool) -> Value | None:
    is_decimal = value.wrapper == "DecimalWrapper" or value.ordinal == _DECIMAL_ORDINAL
    if not is_decimal or value.scale is None or not isinstance(value.value, bytes):
        return None
    unscaled = int.from_bytes(value.value, "big", signed=True)
    exact = Decimal(unscaled).scaleb(-value.scale, Context(prec=100))
    try:
        # Outwards, where the column has fewer digits than the statistics.
        rounding = ROUND_CEILING if upper else ROUND_FLOOR
        return exact.quantize(Decimal(1).scaleb(-arrow.scale), rounding, Context(prec=arrow.precision))
    except InvalidOperation:
        return None


def _timestamp_bounds(arrow: pa.DataType, stats: ColumnStats, factor: int) -> ColumnBounds:
    """The bounds if the numbers are microseconds, once each is multiplied by a factor."""
    epoch = _EPOCHS[arrow.tz is not None]
    lows, highs = ([_micros(value, factor) for value in values] for values in (stats.low, stats.high))
    low = min(lows, key=lambda number: number if number is not None else 0, default=None)
    high = max(highs, key=lambda number: number if number is not None else 0, default=None)
    if arrow.unit != "us" or None in lows or None in highs or low is None or high is None:
        return _counted(stats, None, None)
    return _counted(stats, _time(epoch, low, False), _time(epoch, high, True))


def _micros(value: StatValue, factor: int) -> int | None:
    if not isinstance(value.value, int) or isinstance(value.value, bool) or value.wrapper == "IntWrapper":
        return None
    return value.value * factor


def _time(epoch: datetime, micros: int, upper: bool) -> datetime | None:
    """The time, or the nearest one within the calendar that is not inside of the bound."""
    try:
        return epoch + timedelta(microseconds=micros)
    except OverflowError:
        if (micros > 0) == upper:
            return None
        return (datetime.max if micros > 0 else datetime.min).replace(tzinfo=epoch.tzinfo)
