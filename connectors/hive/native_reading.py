"""Whether the engine's own reader would give a file's rows exactly as this connector does. Driver side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connectors.hive.formats.file_storage import FileStorage, by_position
from connectors.hive.handles import HiveTableHandle
from connectors.hive.schema.file_columns import file_sources
from connectors.toolkit.orc.footer import read_orc_footer
from connectors.toolkit.orc.plain_times import has_modern_times, is_of_utc
from connectors.toolkit.orc.reader import orc_errors, read_orc_schema
from connectors.toolkit.parquet.footer import typed_schema
from connectors.toolkit.parquet.reader import open_parquet, parquet_errors
from connectors.toolkit.schema.column_sources import find_column
from connectors.toolkit.schema.time_conventions import INT96, TimeConventions, parquet_conventions
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["PlainFiles"]

_FEW_FILES = 64
# Reading a footer pays where the engine's reader saves more: nearby it takes a fraction of a millisecond.
_MANY_FILES = 512
_LARGE_BYTES = 1 << 20
_SameLeaf = Callable[[pa.DataType, pa.DataType], bool]
_UTC = frozenset({"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z"})


class PlainFiles:
    """Decides for the files of one scan. Used by several threads.

    The footers of the first files are read; the files after them are taken to be like those of their format, since the
    engine's reader fails rather than errs where a type differs. It could err with dates and timestamps, for the
    calendar before 1582 and the zone are up to each writer, and where columns are found by position, for it goes
    by the names in each file. There every file's footer is read, and a scan is not plain that has a small file after
    the first ones, or so many files that the footers would take too long.

    Where columns are found by position, a file is plain whose columns there have the table's names.

    The engine takes the number of a timestamp as it stands in a file for a time of UTC. That is the table's value where
    a Parquet file's times are wall-clock times, or instants that are shown in UTC, and where an ORC file was written in
    UTC. Dates and times of ORC have to be of days that all calendars name alike, by the file's statistics.

    Args:
        files: Storage.
        table: The table.
        columns: Columns that are read.
        orc_by_name: Columns of ORC files are found by name; else by position.
        parquet_by_name: Columns of Parquet files are found by name; else by position.
        parquet_zone: Zone in which instants of Parquet files are shown where the file names none.
    """

    def __init__(
        self,
        files: FileSystem,
        table: HiveTableHandle,
        columns: Sequence[ColumnHandle],
        *,
        orc_by_name: bool,
        parquet_by_name: bool,
        parquet_zone: str,
    ) -> None:
        self._files = files
        self._table = table
        data_names = {column.name for column in table.data_columns}
        self._columns = [column for column in columns if column.name in data_names]
        self._by_name = {"orc": orc_by_name, "parquet": parquet_by_name}
        rules = dict(table.text_rules)
        self._parquet_zone = parquet_zone
        self._never = any(
            column.name in rules or (column.name not in data_names and _holds(column.type, pa.types.is_timestamp))
            for column in columns
        )
        self._has_times = any(_holds(column.type, _is_time) for column in self._columns)
        self._lock = threading.Lock()
        self._known: dict[tuple[str, bool], bool] = {}
        self._seen = 0

    def is_plain(self, path: str, size: int, storage: FileStorage) -> bool:
        """Whether a file is plain for the columns that are read.

        Args:
            path: The file, not empty.
            size: Its bytes.
            storage: How it is written; of other formats than ORC and Parquet no file is plain.
        """
        if self._never or storage.format not in self._by_name or self._files.has_settings(path):
            return False
        by_name = self._by_name[storage.format] and not by_position(storage)
        key = (storage.format, by_name)
        with self._lock:
            self._seen += 1
            if self._known.get(key) is False:
                return False
            if self._seen > _FEW_FILES and (self._has_times or not by_name):
                if self._seen > _MANY_FILES or size < _LARGE_BYTES:
                    self._known[key] = False
                    return False
            elif self._seen > _FEW_FILES and key in self._known:
                return True
        plain = self._looks_plain(path, storage.format, by_name)
        with self._lock:
            self._known[key] = self._known.get(key, True) and plain
            return plain

    def _looks_plain(self, path: str, file_format: str, by_name: bool) -> bool:
        schema, same = self._orc(path) if file_format == "orc" else self._parquet(path)
        lowered = [name.lower() for name in schema.names]
        if len(set(lowered)) < len(lowered) or (file_format == "orc" and _may_tell_no_names(lowered)):
            return False
        names = [column.name for column in self._table.data_columns]
        sources = file_sources(schema, names, by_name=by_name, position_names=False)
        found = [(column, find_column(schema, sources[column.name])) for column in self._columns]
        if not by_name and not _named_alike(schema, found, file_format):
            return False
        known = [(column.type, position) for column, position in found if position is not None]
        if not all(_same(schema.field(position).type, arrow, same) for arrow, position in known):
            return False
        return file_format != "orc" or self._has_plain_orc_times(path, known)

    def _orc(self, path: str) -> tuple[pa.Schema, _SameLeaf]:
        return read_orc_schema(self._files, path), _same_in_orc

    def _parquet(self, path: str) -> tuple[pa.Schema, _SameLeaf]:
        file = open_parquet(self._files, path)
        try:
            with parquet_errors(path):
                schema, metadata = typed_schema(file), file.metadata
                conventions = parquet_conventions(metadata.metadata, metadata.created_by, self._parquet_zone)
                parquet_mr = (metadata.created_by or "").startswith("parquet-mr")
                return schema, partial(_same_in_parquet, conventions, parquet_mr)
        finally:
            file.close(force=True)

    def _has_plain_orc_times(self, path: str, known: Sequence[tuple[pa.DataType, int]]) -> bool:
        timed = [(arrow, position) for arrow, position in known if _holds(arrow, _is_time)]
        if not timed:
            return True
        with self._files.open(path) as source, orc_errors(path):
            footer = read_orc_footer(source, path)
            if not all(has_modern_times(footer, position) for _, position in timed):
                return False
            zoned = any(_holds(arrow, pa.types.is_timestamp) for arrow, _ in timed)
            return not zoned or is_of_utc(source, footer, path)


def _named_alike(schema: pa.Schema, found: Sequence[tuple[ColumnHandle, int | None]], file_format: str) -> bool:
    """Whether columns that were found by position are where their names are; fields of Parquet are not looked into."""
    if file_format == "parquet" and any(_holds(column.type, pa.types.is_struct) for column, _ in found):
        return False
    return all(find_column(schema, column.name) == position for column, position in found)


def _may_tell_no_names(lowered: Sequence[str]) -> bool:
    """Whether Spark's reader finds columns by position, since all names begin so (``OrcUtils``)."""
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
        # Spark and Hive do not agree on a struct of which the file has no field that is asked.
        return bool(target.num_fields) and all(
            field.name.lower() in known and _same(known[field.name.lower()], field.type, same_leaf) for field in target
        )
    return same_leaf(source, target)


def _same_in_orc(source: pa.DataType, target: pa.DataType) -> bool:
    if pa.types.is_timestamp(source) and pa.types.is_timestamp(target):
        return source.tz is None and target.tz is None
    return bool(source == target)


def _same_in_parquet(conventions: TimeConventions, parquet_mr: bool, source: pa.DataType, target: pa.DataType) -> bool:
    if pa.types.is_date(source):
        return bool(source == target) and not conventions.hybrid_dates
    if not pa.types.is_timestamp(source) or not pa.types.is_timestamp(target):
        return bool(source == target)
    if source == INT96:
        # Spark can be set to shift the INT96 of other writers (spark.sql.parquet.int96TimestampConversion).
        return parquet_mr and not conventions.hybrid_int96 and (target.tz is not None or conventions.int96_zone in _UTC)
    if conventions.legacy_instants or source.unit not in ("us", "ms"):
        return False
    if source.tz is None:
        return target.tz is None
    return target.tz is not None or conventions.zone in _UTC


def _is_time(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_date(arrow) or pa.types.is_timestamp(arrow))


def _holds(arrow: pa.DataType, kind: Callable[[pa.DataType], bool]) -> bool:
    children = (arrow.field(index).type for index in range(arrow.num_fields))
    return bool(kind(arrow)) or any(_holds(child, kind) for child in children)
