"""Whether the engine's own reader would give a file's rows exactly as this connector does. Driver side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence, Set
from functools import partial

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connectors.hive.formats.file_storage import FileStorage, by_position
from connectors.hive.handles import HiveTableHandle
from connectors.hive.schema.file_columns import file_sources
from connectors.hive.schema.footer_facts import FooterFacts
from connectors.toolkit.orc.plain_times import has_modern_times
from connectors.toolkit.schema.column_sources import find_column
from connectors.toolkit.schema.time_conventions import INT96, TimeConventions
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem

__all__ = ["NativeFiles"]

_FEW_FILES = 64
# Reading a footer pays where the engine's reader saves more: nearby it takes a fraction of a millisecond.
_MANY_FILES = 512
_LARGE_BYTES = 1 << 20
_SameLeaf = Callable[[pa.DataType, pa.DataType], bool]
_UTC = frozenset({"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z"})


class NativeFiles:
    """Decides which files of one scan are native: the engine's own reader may read them. Thread-safe.

    The footers of the first files are read. Later files are assumed to be like the first ones of their format, since
    the engine's reader fails where a type differs, rather than return wrong values. It could return wrong values in
    two cases: for dates and timestamps, where the calendar before 1582 and the zone depend on the writer, and for
    columns found by position, since it uses the names in each file. In these cases every footer is read, and no file
    of a scan is native if the scan has a small file after the first ones, or too many files.

    With columns found by position, a file is native if its columns at these positions have the table's names.

    The engine reads the stored number of a timestamp as a time in UTC. That is the table's value where the times of a
    Parquet file are wall-clock times, or instants shown in UTC, and where an ORC file was written in UTC. Dates and
    times of ORC must be days on which all calendars agree, by the file's statistics.

    Args:
        files: Storage.
        table: The table.
        columns: Columns that are read.
        footers: Says what is in the files.
        orc_by_name: Find columns of ORC files by name; else by position.
        parquet_by_name: Find columns of Parquet files by name; else by position.
        opened_formats: Formats whose files this connector opens for the engine.
    """

    def __init__(
        self,
        files: FileSystem,
        table: HiveTableHandle,
        columns: Sequence[ColumnHandle],
        footers: FooterFacts,
        *,
        orc_by_name: bool,
        parquet_by_name: bool,
        opened_formats: Set[str] = frozenset(),
    ) -> None:
        self._files = files
        self._table = table
        data_names = {column.name for column in table.data_columns}
        self._columns = [column for column in columns if column.name in data_names]
        self._by_name = {"orc": orc_by_name, "parquet": parquet_by_name}
        self._opened_formats = opened_formats
        rules = dict(table.text_rules)
        self._footers = footers
        self._never = any(
            column.name in rules or (column.name not in data_names and _holds(column.type, pa.types.is_timestamp))
            for column in columns
        )
        self._has_times = any(_holds(column.type, _is_time) for column in self._columns)
        self._lock = threading.Lock()
        self._known: dict[tuple[str, bool], bool] = {}
        self._seen = 0

    def is_native(self, file: FileInfo, storage: FileStorage) -> bool:
        """Whether the engine may read a file itself for the columns that are read.

        Args:
            file: The file, not empty.
            storage: How it is written; of other formats than ORC and Parquet no file is native.
        """
        if self._never or storage.format not in self._by_name:
            return False
        if storage.format not in self._opened_formats and self._files.has_settings(file.path):
            return False
        by_name = self._by_name[storage.format] and not by_position(storage)
        key = (storage.format, by_name)
        with self._lock:
            self._seen += 1
            if self._known.get(key) is False:
                return False
            if self._seen > _FEW_FILES and (self._has_times or not by_name):
                if self._seen > _MANY_FILES or file.size < _LARGE_BYTES:
                    self._known[key] = False
                    return False
            elif self._seen > _FEW_FILES and key in self._known:
                return True
        native = self._looks_native(file, storage.format, by_name)
        with self._lock:
            self._known[key] = self._known.get(key, True) and native
            return native

    def _looks_native(self, file: FileInfo, file_format: str, by_name: bool) -> bool:
        schema, same = self._orc(file) if file_format == "orc" else self._parquet(file)
        lowered = [name.lower() for name in schema.names]
        if len(set(lowered)) < len(lowered) or (file_format == "orc" and _has_position_names(lowered)):
            return False
        names = [column.name for column in self._table.data_columns]
        sources = file_sources(schema, names, by_name=by_name, position_names=False)
        found = [(column, find_column(schema, sources[column.name])) for column in self._columns]
        if not by_name and not _named_alike(schema, found, file_format):
            return False
        known = [(column.type, position) for column, position in found if position is not None]
        if not all(_same(schema.field(position).type, arrow, same) for arrow, position in known):
            return False
        return file_format != "orc" or self._has_native_orc_times(file, known)

    def _orc(self, file: FileInfo) -> tuple[pa.Schema, _SameLeaf]:
        return self._footers.orc_schema(file), _same_in_orc

    def _parquet(self, file: FileInfo) -> tuple[pa.Schema, _SameLeaf]:
        facts = self._footers.parquet(file)
        return facts.schema, partial(_same_in_parquet, facts.times, facts.parquet_mr)

    def _has_native_orc_times(self, file: FileInfo, known: Sequence[tuple[pa.DataType, int]]) -> bool:
        timed = [(arrow, position) for arrow, position in known if _holds(arrow, _is_time)]
        if not timed:
            return True
        footer = self._footers.orc_footer(file)
        if not all(has_modern_times(footer, position) for _, position in timed):
            return False
        zoned = any(_holds(arrow, pa.types.is_timestamp) for arrow, _ in timed)
        return not zoned or self._footers.orc_of_utc(file)


def _named_alike(schema: pa.Schema, found: Sequence[tuple[ColumnHandle, int | None]], file_format: str) -> bool:
    """Whether finding columns by position and by name agrees; structs of Parquet files never count as agreeing."""
    if file_format == "parquet" and any(_holds(column.type, pa.types.is_struct) for column, _ in found):
        return False
    return all(find_column(schema, column.name) == position for column, position in found)


def _has_position_names(lowered: Sequence[str]) -> bool:
    """Whether Spark's reader finds columns by position, since all names begin with ``_col`` (``OrcUtils``)."""
    return bool(lowered) and all(name.startswith("_col") for name in lowered)


def _same(source: pa.DataType, target: pa.DataType, same_leaf: _SameLeaf) -> bool:
    if pa.types.is_list(source) and pa.types.is_list(target):
        return _same(source.value_type, target.value_type, same_leaf)
    if pa.types.is_map(source) and pa.types.is_map(target):
        keys = _same(source.key_type, target.key_type, same_leaf)
        return keys and _same(source.item_type, target.item_type, same_leaf)
    if pa.types.is_struct(source) and pa.types.is_struct(target):
        names = [field.name.lower() for field in source]
        if len(set(names)) < len(names):
            return False
        known = dict(zip(names, (field.type for field in source), strict=True))
        # Spark and Hive disagree on a struct if the file has none of its selected fields.
        return bool(target.num_fields) and all(
            field.name.lower() in known and _same(known[field.name.lower()], field.type, same_leaf) for field in target
        )
    return same_leaf(source, target)


def _same_in_orc(source: pa.DataType, target: pa.DataType) -> bool:
    if pa.types.is_timestamp(source) and pa.types.is_timestamp(target):
        return source.tz is None and target.tz is None
    return bool(source == target)


def _same_in_parquet(times: TimeConventions, parquet_mr: bool, source: pa.DataType, target: pa.DataType) -> bool:
    if pa.types.is_date(source):
        return bool(source == target) and not times.hybrid_dates
    if not pa.types.is_timestamp(source) or not pa.types.is_timestamp(target):
        return bool(source == target)
    if source == INT96:
        # Spark can be configured to shift the INT96 of other writers (spark.sql.parquet.int96TimestampConversion).
        return parquet_mr and not times.hybrid_int96 and (target.tz is not None or times.int96_zone in _UTC)
    if times.legacy_instants or source.unit not in ("us", "ms"):
        return False
    if source.tz is None:
        return target.tz is None
    return target.tz is not None or times.zone in _UTC


def _is_time(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_date(arrow) or pa.types.is_timestamp(arrow))


def _holds(arrow: pa.DataType, kind: Callable[[pa.DataType], bool]) -> bool:
    children = (arrow.field(index).type for index in range(arrow.num_fields))
    return bool(kind(arrow)) or any(_holds(child, kind) for child in children)
