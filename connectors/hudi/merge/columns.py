"""Which columns a merge reads, and how it finds keys and ordering values in them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connectors.hudi.error_codes import HUDI_UNSUPPORTED_MERGE
from connectors.hudi.log.block import LogBlock
from connectors.hudi.log.record_key import virtual_record_keys
from connectors.hudi.log.row_columns import combined, field_values
from connectors.hudi.merge.combined_rows import Combine
from connectors.hudi.merge.config import MergeConfig
from connectors.hudi.merge.merger_plugins import create_merger
from connectors.hudi.merge.record_merger import CombiningMerger, RecordMerger
from connectors.hudi.schema.table_schema import COMMIT_TIME as META_COMMIT_TIME
from connectors.hudi.schema.table_schema import META_COLUMNS, RECORD_KEY
from connectors.hudi.schema.timestamp_unit import check_unit
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.type_adaptation import LOSSLESS

__all__ = ["COMMIT_TIME", "DELETED", "KEY", "SHAPE", "MergeColumns", "merge_columns", "ordering_name"]

KEY = "$key"
DELETED = "$deleted"
COMMIT_TIME = "$commit_time"
SHAPE = "$shape"


def ordering_name(at: int) -> str:
    """The column of an ordering field's values among events."""
    return f"$ordering{at}"


@dataclass(frozen=True, slots=True)
class MergeColumns:
    """The columns of a merge.

    Attributes:
        given: What the merge gives out, of the types asked.
        read: What has to be read: ``given``, and what keys and ordering values are made of.
        config: What the table's properties say of keys and deletes.
        merger: Merges rows.
        where: Names the table, for messages.
        has_meta_columns: Whether ``_hoodie_record_key`` holds the keys.
        ordering_types: The types of the merger's ordering fields.
        partial: Whether columns may be filled from several rows.
        by_position: Whether a row's key is its position in the base file (int64), which the logs record of all events.
        shapes: With partial updates: sets of columns that events have values for, as met so far.
        adapters: From rows of a schema to ``read``, by the schemas met so far.
    """

    given: tuple[ColumnHandle, ...]
    read: tuple[ColumnHandle, ...]
    config: MergeConfig
    merger: RecordMerger
    where: str
    has_meta_columns: bool
    ordering_types: tuple[pa.DataType, ...]
    partial: bool
    by_position: bool = False
    shapes: list[frozenset[str]] = field(default_factory=list)
    adapters: dict[pa.Schema, SchemaAdapter] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of ``given``."""
        return [column.name for column in self.given]

    @property
    def schema(self) -> pa.Schema:
        """Schema of ``given``."""
        return pa.schema([pa.field(column.name, column.type) for column in self.given])

    @property
    def key_names(self) -> frozenset[str]:
        """Columns whose values are the same in all rows of a key."""
        own = frozenset(self.config.key_fields)
        return own | {RECORD_KEY} if self.has_meta_columns else own

    @property
    def key_sources(self) -> frozenset[str]:
        """Columns that keys are made of."""
        if self.has_meta_columns:
            return frozenset((RECORD_KEY,))
        return frozenset(_first([column.name for column in self.read], name) for name in self.config.key_fields)

    @property
    def combine(self) -> Combine | None:
        """Makes a new row of two; ``None`` where one of them wins."""
        return self.merger.combine if isinstance(self.merger, CombiningMerger) else None

    @property
    def may_compact(self) -> bool:
        """Whether one event of each key stands for all before it."""
        return not self.partial and self.combine is None

    def values_of(self, columns: Sequence[ColumnHandle]) -> MergeColumns:
        """The same with these columns alone, to read their values of events whose merge is known."""
        asked = tuple(columns)
        return replace(self, given=asked, read=asked, ordering_types=(), by_position=False, shapes=[], adapters={})

    def adapter(self, written: pa.Schema, block: LogBlock) -> SchemaAdapter:
        """Brings rows of a log block of this schema into the form of ``read``.

        Args:
            written: The block's columns.
            block: The block, for messages.

        Raises:
            NotSupportedError: A column cannot be read as the table's.
        """
        found = self.adapters.get(written)
        if found is None:
            found = SchemaAdapter(written, self.read, where=block.where, rules=LOSSLESS)
            for column, at in zip(self.read, found.positions, strict=True):
                if at is not None:
                    check_unit(column, written.field(at).type, block.path)
            self.adapters[written] = found
        return found

    def keys(self, rows: pa.Table) -> pa.Array:
        """The record keys of rows of ``read``, as texts.

        Raises:
            NotSupportedError: The keys cannot be made of the columns.
        """
        if self.has_meta_columns:
            return combined(rows.column(RECORD_KEY))
        config = self.config
        return virtual_record_keys(rows, config.key_fields, complex_keys=config.complex_keys, where=self.where)

    def ordering(self, rows: pa.Table) -> list[pa.Array]:
        """The values of the ordering fields of rows of ``read``; none where they do not count."""
        if not self.ordering_types:
            return []
        return [field_values(rows, name) for name in self.merger.ordering_fields]

    def shape(self, present: frozenset[str] | None) -> int | None:
        """The number of a set of columns; ``None`` for all of them.

        Returns:
            ``None`` where the merge has no partial updates.
        """
        if not self.partial:
            return None
        columns = frozenset(self.names) if present is None else present
        if columns not in self.shapes:
            self.shapes.append(columns)
        return self.shapes.index(columns)

    def filled(self, rows: pa.Table) -> dict[str, np.ndarray]:
        """By column, where rows of ``given`` have a value that counts, by the values alone."""
        test = self.merger.value_test
        if test is None:
            return {}
        return {name: test(rows.column(name)) for name in self.names if name in rows.column_names}


def merge_columns(
    asked: Sequence[ColumnHandle],
    schema: pa.Schema,
    config: MergeConfig,
    *,
    has_meta_columns: bool,
    partial: bool,
    where: str,
    by_position: bool = False,
) -> MergeColumns:
    """Chooses the columns of a merge.

    Args:
        asked: The columns wanted of the merged rows; nested types may be narrowed.
        schema: The table's columns.
        config: How its rows are merged.
        has_meta_columns: Whether the table's rows hold their keys.
        partial: Whether some block holds the updated columns only.
        where: Names the table, for messages.
        by_position: Whether rows are merged by their positions, so that keys need not be read.

    Raises:
        NotSupportedError: The table has no column of an ordering field.
    """
    merger = create_merger(config.merger, config.rules)
    needed = _combined_columns(merger, schema, partial, where)
    types = tuple(_type(schema, name, where) for name in merger.ordering_fields)
    names = [_first(schema.names, name) for name in merger.ordering_fields]
    if not by_position:
        names = [RECORD_KEY, *names] if has_meta_columns else [*_firsts(schema.names, config.key_fields), *names]
    elif not asked and not names and not needed:
        # The column that costs least to read.
        names = [META_COMMIT_TIME] if has_meta_columns else _firsts(schema.names, config.key_fields)
    own = {name: ColumnHandle(name, _own_type(schema, name)) for name in (*names, *needed)}
    known = {column.name for column in asked}
    wanted = (*asked, *(own[name] for name in needed if name not in known))
    # Rows without any column could not be counted.
    given = tuple(own.get(column.name, column) for column in wanted) or tuple(own.values())[:1]
    present = {column.name for column in given}
    return MergeColumns(
        given=given,
        read=(*given, *(column for name, column in own.items() if name not in present)),
        config=config,
        merger=merger,
        where=where,
        has_meta_columns=has_meta_columns,
        ordering_types=types,
        partial=partial or merger.value_test is not None,
        by_position=by_position,
    )


def _combined_columns(merger: RecordMerger, schema: pa.Schema, partial: bool, where: str) -> tuple[str, ...]:
    """The columns that a merger combines rows by."""
    if not isinstance(merger, CombiningMerger):
        return ()
    missing = [name for name in merger.columns if name not in schema.names]
    if missing or partial:
        what = f"the column {missing[0]}, which the table lacks" if missing else "whole rows, and met partial ones"
        raise NotSupportedError(
            f"{where}: the merger {type(merger).__name__} needs {what}; read the table's base files alone (session "
            "property read_optimized), or correct the plugin",
            HUDI_UNSUPPORTED_MERGE,
        )
    return merger.columns


def _firsts(names: Sequence[str], fields: Sequence[str]) -> list[str]:
    return [_first(names, name) for name in fields]


def _own_type(schema: pa.Schema, name: str) -> pa.DataType:
    return pa.string() if name in META_COLUMNS else schema.field(name).type


def _first(names: Sequence[str], name: str) -> str:
    """The top-level column of a field, which may be nested."""
    return name if name in names else name.partition(".")[0]


def _type(schema: pa.Schema, name: str, where: str) -> pa.DataType:
    first, *inner = [name] if name in schema.names else name.split(".")
    kind = schema.field(first).type if first in schema.names else None
    for part in inner:
        found = kind is not None and pa.types.is_struct(kind) and kind.get_field_index(part) >= 0
        kind = kind.field(part).type if found and kind is not None else None
    if kind is None:
        raise NotSupportedError(
            f"{where} has no column of its ordering field '{name}' (hoodie.table.ordering.fields, "
            "hoodie.table.precombine.field), without which it is unknown which row is newer; read its base files "
            "alone (session property read_optimized)",
            HUDI_UNSUPPORTED_MERGE,
        )
    return kind
