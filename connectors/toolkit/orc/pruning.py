"""Which stripes to read: by their statistics, which pyorc gives and pyarrow does not, and by their row groups'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cached_property

import pyarrow as pa
import pyorc

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Reference, TupleDomain, Value
from connectors.toolkit.orc.footer import OrcFooter
from connectors.toolkit.orc.raw_times import RAW_TIMES
from connectors.toolkit.orc.row_index import IndexedColumn, row_groups_may_match
from connectors.toolkit.read.pruning import ColumnBounds, may_match
from connectors.toolkit.schema.column_sources import find_column
from connectors.toolkit.schema.file_types import FileTypes

__all__ = ["StripeStatistics"]

_EPOCH = datetime(1970, 1, 1)
_GREGORIAN_START = date(1582, 10, 15)
# Statistics of timestamps are cut to milliseconds, pyorc gives those before 1970 up to two seconds too high, and
# some versions of ORC write times just before 1970 a second too high.
_SLACK = timedelta(seconds=4)


class StripeStatistics:
    """The statistics of a file's stripes.

    Args:
        source: The open file.
        footer: Its footer.
        types: Its columns.
        root: Name of the top-level struct that the columns are in; empty where they are at the top.
    """

    def __init__(self, source: pa.NativeFile, footer: OrcFooter, types: FileTypes, root: str = "") -> None:
        self._source = source
        self._footer = footer
        self._types = types
        self._root = root
        self._last: tuple[int, pyorc.Stripe] | None = None

    def matching(self, stripes: Sequence[int], predicate: TupleDomain[ColumnHandle]) -> list[int]:
        """The stripes that may hold rows of the predicate; all of them on doubt."""
        # Hive's writers turn statistics off together with row groups, and what then stands there is no bound.
        if not predicate.domains or not self._footer.row_index_stride:
            return list(stripes)
        reader = self._reader
        columns = [self._column(reader, column.name, domain) for column, domain in predicate.domains.items()]
        kept = [index for index in stripes if self._may_match(reader.read_stripe(index), columns)]
        indexed = [one for one in map(_indexed, columns) if one is not None]
        footer = self._footer
        return [
            index
            for index in kept
            if row_groups_may_match(self._source, footer, footer.stripes[index], indexed, footer.hybrid_calendar)
        ]

    def bounds(self, stripe: int, reference: Reference, data_type: pa.DataType) -> ColumnBounds:
        """What is known of a column, or of a field of structs, in a stripe.

        Args:
            stripe: The stripe.
            reference: The column or field; fields are found by name.
            data_type: The table's type of it.
        """
        if not self._footer.row_index_stride:
            return ColumnBounds()
        found = self._column(self._reader, reference.column.name, Domain.all(data_type), reference.path)
        rows = self._footer.stripes[stripe].rows
        if found.source is None:
            return ColumnBounds(None, None, rows, rows)
        if found.number is None:
            return ColumnBounds()
        bounds = self._bounds(self._read_stripe(stripe), found.number, found.source, data_type)
        if not reference.path and not self._root:
            return bounds
        # What is in a struct that is NULL is not counted: few NULLs say nothing.
        nulls = bounds.null_count
        return replace(bounds, null_count=nulls if nulls is not None and nulls >= rows else None)

    def exact_bounds(self, stripe: int, column: ColumnHandle) -> ColumnBounds | None:
        """The least and the greatest value of a column in a stripe, and its NULLs; ``None`` on any doubt.

        Only of integers and dates. Bounds that are ``None`` say that there is no value.
        """
        if not self._footer.row_index_stride:
            return None
        found = self._column(self._reader, column.name, Domain.all(column.type))
        rows = self._footer.stripes[stripe].rows
        if found.source is None:
            return ColumnBounds(None, None, rows, rows)
        if found.number is None or found.source != column.type:
            return None
        read = self._reader.read_stripe(stripe)
        if self._root and not self._is_whole(read, rows):
            return None
        bounds = self._bounds(read, found.number, found.source, column.type)
        if bounds.null_count is None or bounds.row_count != rows:
            return None
        types = pa.types
        if bounds.null_count == rows:
            return ColumnBounds(None, None, rows, rows)
        if not types.is_signed_integer(found.source) and not types.is_date32(found.source):
            return None
        expected = date if types.is_date32(found.source) else int
        return bounds if type(bounds.low) is expected and type(bounds.high) is expected else None

    def _is_whole(self, stripe: pyorc.Stripe, rows: int) -> bool:
        """Whether no row of the struct is NULL: what it holds then is NULL, and its statistics do not count it."""
        try:
            statistics = dict(stripe[self._reader.schema[self._root].column_id].statistics)
        except (RuntimeError, ValueError, IndexError, KeyError, TypeError):
            return False
        return statistics.get("has_null") is False and statistics.get("number_of_values") == rows

    @cached_property
    def _reader(self) -> pyorc.Reader:
        return pyorc.Reader(self._source, converters=RAW_TIMES)

    def _read_stripe(self, stripe: int) -> pyorc.Stripe:
        if self._last is None or self._last[0] != stripe:
            self._last = stripe, self._reader.read_stripe(stripe)
        return self._last[1]

    def _column(self, reader: pyorc.Reader, name: str, domain: Domain, path: Sequence[str] = ()) -> _Column:
        position = self._types.position(name)
        if position is None:
            return _Column(domain, None)
        field = self._types.schema.field(position)
        if self._types.schema.names.count(field.name) > 1:
            return _Column(domain, field.type)
        types = reader.schema[self._root] if self._root else reader.schema
        leaf = _field_of(field.type, types[field.name], path)
        if leaf is None or not _comparable(reader, leaf[0], domain.type):
            return _Column(domain, field.type)
        return _Column(domain, leaf[0], leaf[1].column_id)

    def _may_match(self, stripe: pyorc.Stripe, columns: Sequence[_Column]) -> bool:
        rows = len(stripe)
        for one in columns:
            if one.source is None:
                bounds = ColumnBounds(None, None, rows, rows)
            elif one.number is None:
                continue
            else:
                bounds = self._bounds(stripe, one.number, one.source, one.domain.type)
            if not may_match(one.domain, bounds):
                return False
        return True

    def _bounds(self, stripe: pyorc.Stripe, number: int, source: pa.DataType, target: pa.DataType) -> ColumnBounds:
        try:
            statistics: dict[str, object] = dict(stripe[number].statistics)
        except (RuntimeError, ValueError, OverflowError, ArithmeticError, IndexError, KeyError, TypeError):
            return ColumnBounds()
        rows = len(stripe)
        low, high = _low_high(statistics, source, target)
        old = isinstance(low, date) and (low.date() if isinstance(low, datetime) else low) < _GREGORIAN_START
        if self._footer.hybrid_calendar and old:
            low = high = None
        return ColumnBounds(low, high, _null_count(statistics, rows), rows)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a predicate.

    Attributes:
        domain: What is wanted of it.
        source: Its type in the file; ``None`` where the file lacks it.
        number: Its number among the file's types; ``None`` where its statistics say nothing.
    """

    domain: Domain
    source: pa.DataType | None
    number: int | None = None


def _field_of(
    source: pa.DataType, described: pyorc.TypeDescription, path: Sequence[str]
) -> tuple[pa.DataType, pyorc.TypeDescription] | None:
    """A field of structs in a file; ``None`` where it is not there, or in something else than structs."""
    for name in path:
        if not pa.types.is_struct(source) or not isinstance(described, pyorc.Struct):
            return None
        at = find_column(pa.schema(list(source)), name)
        if at is None or len(source.get_all_field_indices(source[at].name)) > 1:
            return None
        source, described = source[at].type, described[source[at].name]
    return source, described


def _indexed(column: _Column) -> IndexedColumn | None:
    """A column of which row groups can be looked at."""
    if column.source is None or column.number is None or pa.types.is_floating(column.domain.type):
        return None
    source = column.source
    known = pa.types.is_signed_integer(source) or pa.types.is_date(source) or pa.types.is_string(source)
    return IndexedColumn(column.number, source, column.domain) if known else None


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
