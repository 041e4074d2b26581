"""Statistics of ORC stripes, by pyorc, since pyarrow does not give them; and of their row groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyorc

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain, Value
from connectors.toolkit.orc.footer import OrcFooter
from connectors.toolkit.orc.row_index import IndexedColumn, row_groups_may_match
from connectors.toolkit.read.arrow_filter import ColumnBounds, may_match
from connectors.toolkit.schema.column_sources import ColumnSource, find_column

__all__ = ["RAW_TIMES", "matching_stripes"]

_EPOCH = datetime(1970, 1, 1)
_GREGORIAN_START = date(1582, 10, 15)
# Statistics of timestamps are cut to milliseconds, pyorc gives those before 1970 up to two seconds too high, and
# some versions of ORC write times just before 1970 a second too high.
_SLACK = timedelta(seconds=4)


class RawTimestamp(pyorc.converters.ORCConverter):  # type: ignore[misc]  # pyorc has no types
    """Timestamps as microseconds since 1970, since Python's have no years above 9999 and below 1."""

    @staticmethod
    def from_orc(seconds: int, nanoseconds: int, timezone: ZoneInfo) -> int:
        return seconds * 1_000_000 + nanoseconds // 1000

    @staticmethod
    def to_orc(*args: object) -> tuple[int, int]:
        raise NotImplementedError("nothing is written")


class RawDate(pyorc.converters.ORCConverter):  # type: ignore[misc]  # pyorc has no types
    """Dates as days since 1970."""

    @staticmethod
    def from_orc(days: int) -> int:
        return days

    @staticmethod
    def to_orc(*args: object) -> int:
        raise NotImplementedError("nothing is written")


RAW_TIMES = {
    pyorc.TypeKind.TIMESTAMP: RawTimestamp,
    pyorc.TypeKind.TIMESTAMP_INSTANT: RawTimestamp,
    pyorc.TypeKind.DATE: RawDate,
}


def matching_stripes(
    file: pa.NativeFile,
    stripes: Sequence[int],
    schema: pa.Schema,
    predicate: TupleDomain[ColumnHandle],
    sources: Mapping[str, ColumnSource],
    footer: OrcFooter,
    root: str = "",
) -> list[int]:
    """The stripes that may hold rows of the predicate; all of them on doubt.

    Args:
        file: The open file.
        stripes: Indices of stripes to look at.
        schema: The file's schema, or that of the struct ``root`` in it.
        predicate: Of columns of that schema.
        sources: Where a column is in the file.
        footer: The file's.
        root: Name of the top-level struct that the columns are in; empty where they are at the top.
    """
    if not predicate.domains:
        return list(stripes)
    reader = pyorc.Reader(file, converters=RAW_TIMES)
    if not reader.row_index_stride:
        # Hive's writers turn statistics off together with row groups, and what then stands in their place is no bound.
        return list(stripes)
    types = reader.schema[root] if root else reader.schema
    hybrid = footer.hybrid_calendar
    kept = [index for index in stripes if _matches(reader, types, index, schema, predicate, sources, hybrid)]
    columns = _indexed_columns(reader, types, schema, predicate, sources)
    return [index for index in kept if row_groups_may_match(file, footer, footer.stripes[index], columns, hybrid)]


def _indexed_columns(
    reader: pyorc.Reader,
    types: pyorc.TypeDescription,
    schema: pa.Schema,
    predicate: TupleDomain[ColumnHandle],
    sources: Mapping[str, ColumnSource],
) -> list[IndexedColumn]:
    """The columns of the predicate whose row groups are looked at."""
    found = []
    for column, domain in dict(predicate.domains or {}).items():
        position = find_column(schema, sources.get(column.name, column.name))
        if position is None or schema.names.count(schema.names[position]) > 1:
            continue
        source = schema.field(position).type
        known = pa.types.is_signed_integer(source) or pa.types.is_date(source) or pa.types.is_string(source)
        floating = pa.types.is_floating(domain.type)
        if known and not floating and _comparable(reader, source, domain.type):
            found.append(IndexedColumn(types[schema.names[position]].column_id, source, domain))
    return found


def _matches(
    reader: pyorc.Reader,
    types: pyorc.TypeDescription,
    index: int,
    schema: pa.Schema,
    predicate: TupleDomain[ColumnHandle],
    sources: Mapping[str, ColumnSource],
    hybrid: bool,
) -> bool:
    stripe = reader.read_stripe(index)
    rows = len(stripe)
    for column, domain in dict(predicate.domains or {}).items():
        position = find_column(schema, sources.get(column.name, column.name))
        if position is None:
            bounds: ColumnBounds | None = ColumnBounds(None, None, rows, rows)
        else:
            name = schema.field(position).name
            if schema.names.count(name) > 1:
                continue
            ids = types[name].column_id
            bounds = _bounds(reader, stripe, ids, schema.field(position).type, domain.type, hybrid)
        if bounds is not None and not may_match(domain, bounds):
            return False
    return True


def _bounds(
    reader: pyorc.Reader, stripe: pyorc.Stripe, column: int, source: pa.DataType, target: pa.DataType, hybrid: bool
) -> ColumnBounds | None:
    if pa.types.is_nested(source) or not _comparable(reader, source, target):
        return None
    try:
        statistics: dict[str, object] = dict(stripe[column].statistics)
    except (RuntimeError, ValueError, OverflowError, ArithmeticError, IndexError, KeyError, TypeError):
        return None
    rows = len(stripe)
    nulls = _null_count(statistics, rows)
    low, high = _low_high(statistics, source, target)
    old = isinstance(low, date) and (low.date() if isinstance(low, datetime) else low) < _GREGORIAN_START
    if hybrid and old:
        low = high = None
    return ColumnBounds(low, high, nulls, rows)


def _null_count(statistics: dict[str, object], rows: int) -> int | None:
    values = statistics.get("number_of_values")
    if statistics.get("has_null") is False:
        return 0
    return rows - values if isinstance(values, int) and 0 <= values <= rows else None


def _low_high(
    statistics: dict[str, object], source: pa.DataType, target: pa.DataType
) -> tuple[Value | None, Value | None]:
    if pa.types.is_boolean(source):
        true, false = statistics.get("true_count"), statistics.get("false_count")
        if not isinstance(true, int) or not isinstance(false, int) or true + false == 0:
            return None, None
        return false == 0, true > 0
    if pa.types.is_timestamp(source):
        low, high = statistics.get("lower_bound"), statistics.get("upper_bound")
    else:
        low, high = statistics.get("minimum"), statistics.get("maximum")
    if low is None or high is None:
        return None, None
    return _value(low, source, target, -_SLACK), _value(high, source, target, _SLACK)


def _value(met: object, source: pa.DataType, target: pa.DataType, slack: timedelta) -> Value | None:
    try:
        if pa.types.is_timestamp(source) and isinstance(met, int):
            moment = _EPOCH + timedelta(microseconds=met) + slack
            return moment.replace(tzinfo=UTC) if target.tz else moment
        if pa.types.is_date(source) and isinstance(met, int):
            return (_EPOCH + timedelta(days=met)).date()
    except OverflowError:
        return None
    if pa.types.is_floating(target) and isinstance(met, int | float):
        return float(met)
    if isinstance(met, bool | int | float | str | Decimal):
        return met
    return None


def _comparable(reader: pyorc.Reader, source: pa.DataType, target: pa.DataType) -> bool:
    """Whether the table's values are in the order of the file's values, and the statistics can be trusted."""
    if pa.types.is_timestamp(source):
        # Before ORC-135 statistics were in the writer's zone.
        trusted = reader.writer_version >= pyorc.enums.WriterVersion.ORC_135
        return bool(trusted and pa.types.is_timestamp(target) and (source.tz is None) == (target.tz is None))
    if pa.types.is_signed_integer(source) or pa.types.is_floating(source):
        if pa.types.is_floating(source) or pa.types.is_floating(target):
            same_kind = pa.types.is_floating(source) == pa.types.is_floating(target)
            return bool(same_kind and target.bit_width >= source.bit_width)
        return bool(pa.types.is_signed_integer(target) and target.bit_width >= source.bit_width)
    if pa.types.is_string(source):
        # Before HIVE-8732 strings were compared as UTF-16.
        return bool(pa.types.is_string(target) and reader.writer_version >= pyorc.enums.WriterVersion.HIVE_8732)
    if pa.types.is_decimal(source):
        if not pa.types.is_decimal(target) or target.scale < source.scale:
            return False
        return bool(target.precision - target.scale >= source.precision - source.scale)
    return bool(source == target and (pa.types.is_boolean(source) or pa.types.is_date(source)))
