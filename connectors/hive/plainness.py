"""Whether the engine's own reader would give a file's rows exactly as this connector does. Driver side."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connectors.hive.file_columns import file_sources, has_position_names
from connectors.hive.handles import HiveTableHandle
from connectors.toolkit.filesystem import FileSystem
from connectors.toolkit.orc_reader import read_orc_schema
from connectors.toolkit.parquet_footer import typed_schema
from connectors.toolkit.parquet_reader import open_parquet, parquet_errors
from connectors.toolkit.schema_adapter import find_column
from connectors.toolkit.time_conventions import parquet_conventions

__all__ = ["PlainFiles"]

_FEW_FILES = 64


class PlainFiles:
    """Decides for the files of one scan. Used by several threads.

    The footers of the first files are read; the files after them are taken to be like those of their kind (format and
    partition schema), since the engine's reader fails rather than errs where a type differs. With dates it could err,
    for the calendar before 1582 is up to each writer: past the first files a scan with dates is not plain.

    Args:
        files: Storage.
        table: The table.
        columns: Columns that are read.
        orc_by_name: Columns of ORC files are found by name.
        parquet_by_name: Columns of Parquet files are found by name.
    """

    def __init__(
        self,
        files: FileSystem,
        table: HiveTableHandle,
        columns: Sequence[ColumnHandle],
        *,
        orc_by_name: bool,
        parquet_by_name: bool,
    ) -> None:
        self._files = files
        self._table = table
        data_names = {column.name for column in table.data_columns}
        self._columns = [column for column in columns if column.name in data_names]
        self._by_name = {"orc": orc_by_name, "parquet": parquet_by_name}
        rules = dict(table.text_rules)
        self._never = any(column.name in rules or _has_timestamp(column.type) for column in columns)
        self._has_dates = any(_has_date(column.type) for column in self._columns)
        self._lock = threading.Lock()
        self._known: dict[tuple[str, tuple[str, ...] | None], bool] = {}
        self._seen = 0

    def is_plain(self, path: str, file_format: str, partition_columns: tuple[str, ...] | None) -> bool:
        """Whether a file is plain for the columns that are read.

        Args:
            path: The file, not empty.
            file_format: Name of the format; of others than ORC and Parquet no file is plain.
            partition_columns: The partition's own names of its columns, where they differ from the table's.
        """
        if self._never or partition_columns is not None or not self._by_name.get(file_format, False):
            return False
        if self._has_dates and file_format == "orc":
            return False
        if self._files.has_settings(path):
            return False
        key = (file_format, partition_columns)
        with self._lock:
            self._seen += 1
            if self._known.get(key) is False or (self._has_dates and self._seen > _FEW_FILES):
                return False
            if self._seen > _FEW_FILES and key in self._known:
                return True
        plain = self._looks_plain(path, file_format)
        with self._lock:
            self._known[key] = self._known.get(key, True) and plain
            return plain

    def _looks_plain(self, path: str, file_format: str) -> bool:
        if file_format == "orc":
            schema, hybrid = read_orc_schema(self._files, path), False
            if has_position_names(schema):
                return False
        else:
            file = open_parquet(self._files, path)
            try:
                with parquet_errors(path):
                    schema = typed_schema(file)
                    told = file.metadata
                    hybrid = parquet_conventions(told.metadata, told.created_by, "UTC").hybrid_dates
            finally:
                file.close(force=True)
        lowered = [name.lower() for name in schema.names]
        if len(set(lowered)) < len(lowered) or (hybrid and self._has_dates):
            return False
        names = [column.name for column in self._table.data_columns]
        sources = file_sources(schema, names, None, by_name=True)
        for column in self._columns:
            position = find_column(schema, sources[column.name])
            if position is not None and not _same(schema.field(position).type, column.type, file_format):
                return False
        return True


def _same(source: pa.DataType, target: pa.DataType, file_format: str) -> bool:
    if pa.types.is_list(source) and pa.types.is_list(target):
        return _same(source.value_type, target.value_type, file_format)
    if pa.types.is_map(source) and pa.types.is_map(target):
        keys = _same(source.key_type, target.key_type, file_format)
        return keys and _same(source.item_type, target.item_type, file_format)
    if pa.types.is_struct(source) and pa.types.is_struct(target):
        names = [field.name.lower() for field in source]
        if len(set(names)) < len(names):
            return False
        known = dict(zip(names, (field.type for field in source), strict=True))
        # Spark and Hive do not agree on a struct of which the file has no field that is asked.
        return bool(target.num_fields) and all(
            field.name.lower() in known and _same(known[field.name.lower()], field.type, file_format)
            for field in target
        )
    if pa.types.is_decimal(source):
        return bool(source == target) and file_format == "parquet"
    return bool(source == target)


def _has_timestamp(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(arrow)) or any(_has_timestamp(child) for child in _children(arrow))


def _has_date(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_date(arrow)) or any(_has_date(child) for child in _children(arrow))


def _children(arrow: pa.DataType) -> list[pa.DataType]:
    return [arrow.field(index).type for index in range(arrow.num_fields)]
