"""Which splits a reader that knows no Hudi gets right. Driver side."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connectors.hudi.handles import HudiSplit, HudiTableHandle
from connectors.hudi.schema.table_schema import META_COLUMNS

__all__ = ["NativeReading"]

# Paths that mean the same with and without percent-encoding.
_UNENCODED_PATH = re.compile(r"[A-Za-z0-9/:._=+~@,-]+")


class NativeReading:
    """Decides for the splits of one scan whether the engine may read them natively.

    Args:
        table: The table.
        columns: The columns of the scan.
        schemas: The user columns of base files, by the write that made them; ``None`` is unknown.
        is_possible: Whether another reader can open the files at all.
    """

    def __init__(
        self,
        table: HudiTableHandle,
        columns: tuple[ColumnHandle, ...],
        schemas: Mapping[str, pa.Schema | None],
        *,
        is_possible: bool,
    ) -> None:
        self._table = table
        self._columns = columns
        self._schemas = schemas
        self._is_possible = is_possible and table.written_in is None
        self._found: dict[tuple[str, frozenset[str]], bool] = {}

    def is_right_for(self, split: HudiSplit, constants: frozenset[str]) -> bool:
        """Whether the rows of a split are those of its base file as they stand, but for what its logs say.

        Args:
            split: The split.
            constants: Names of the columns whose values are not taken from the file.
        """
        if not self._is_possible or not split.has_base or split.source is not None:
            return False
        schema = self._schemas[split.base_instant]
        if schema is None or split.format != "parquet" or _UNENCODED_PATH.fullmatch(split.path) is None:
            return False
        key = (split.base_instant, constants)
        if key not in self._found:
            in_file = tuple(column for column in self._columns if column.name not in constants)
            same_columns = all(self._has_column(column.name, schema) for column in in_file)
            self._found[key] = same_columns and self._is_same_version(split.base_instant, in_file)
        return self._found[key]

    def _is_same_version(self, requested: str, in_file: tuple[ColumnHandle, ...]) -> bool:
        """Whether the files of a write have the columns by the names and types of the query."""
        history = self._table.history
        return history is None or all(column.is_same for column in history.evolve(requested, in_file))

    def _has_column(self, name: str, written: pa.Schema) -> bool:
        if name in META_COLUMNS:
            return True
        shown = self._table.schema.field(name).type
        return written.names.count(name) == 1 and written.field(name).type == shown and _is_native_type(shown)


def _is_native_type(arrow: pa.DataType) -> bool:
    """Whether any Parquet reader reads values of the type alike.

    Not so are timestamps of milliseconds, whose files may be labelled wrong, wall-clock timestamps and times of day,
    which readers show in several types.
    """
    if pa.types.is_timestamp(arrow):
        return bool(arrow == pa.timestamp("us", "UTC"))
    if pa.types.is_time(arrow) or pa.types.is_null(arrow):
        return False
    if pa.types.is_map(arrow):
        return _is_native_type(arrow.key_type) and _is_native_type(arrow.item_type)
    return all(_is_native_type(arrow.field(index).type) for index in range(arrow.num_fields))
