"""From a split to record batches. Executor side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pyarrow as pa

from connector_spi.errors import InternalError, NotSupportedError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.page_source import PageSource, PageSourceProvider
from connector_spi.predicate import TupleDomain, Value
from connector_spi.session import ConnectorSession
from connectors.hudi.changes.feed_page_source import ChangeFeedPageSource
from connectors.hudi.changes.handles import HudiChangesHandle, HudiChangeSplit
from connectors.hudi.changes.page_source import ChangePageSource, GroupChanges
from connectors.hudi.error_codes import HUDI_BOOTSTRAP, HUDI_PARTITION_VALUE
from connectors.hudi.handles import (
    FILE_MODIFIED_TIME,
    FILE_SIZE,
    HIDDEN_COLUMNS,
    PARTITION,
    PATH,
    HudiSplit,
    HudiTableHandle,
)
from connectors.hudi.merge.config import MERGE_MEMORY
from connectors.hudi.read.bootstrap_page_source import StitchedPageSource
from connectors.hudi.read.commit_time_filter import WrittenInPageSource
from connectors.hudi.read.evolved_page_source import EvolvedPageSource, written_predicate
from connectors.hudi.read.merged_page_source import MergedPageSource, MergeInput
from connectors.hudi.schema.evolution import EvolvedColumn
from connectors.hudi.schema.history import SchemaHistory
from connectors.hudi.schema.table_schema import COMMIT_TIME
from connectors.hudi.schema.timestamp_unit import check_unit
from connectors.hudi.timeline.view import TimelineView
from connectors.toolkit.orc.reader import OrcPageSource
from connectors.toolkit.parquet.reader import ParquetPageSource
from connectors.toolkit.read.file_page_source import FilePageSource
from connectors.toolkit.schema.column_sources import ColumnSource, find_column
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HudiPageSourceProvider", "hidden_values"]

_HIDDEN_NAMES = frozenset(name for name, _ in HIDDEN_COLUMNS)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class HudiPageSourceProvider(PageSourceProvider):
    """Opens base files.

    Attributes:
        files: Storage.
    """

    files: FileSystem

    def create_page_source(
        self,
        session: ConnectorSession,
        split: Split,
        table: TableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> PageSource:
        if isinstance(split, HudiChangeSplit) and isinstance(table, HudiChangesHandle):
            open_side = partial(self._open_side, session, table.table)
            changes = GroupChanges(self.files, split, table.table, open_side)
            if table.is_feed:
                of_table = tuple(ColumnHandle(field.name, field.type) for field in table.table.schema)
                return ChangeFeedPageSource(changes, columns, of_table)
            return ChangePageSource(changes, columns)
        if not isinstance(split, HudiSplit) or not isinstance(table, HudiTableHandle):
            raise InternalError(f"expected a Hudi split and table, met {type(split).__name__}, {type(table).__name__}")
        memory = session.get(MERGE_MEMORY)
        predicate = table.constraint.intersect(dynamic_filter)
        if table.written_in is not None:
            commit_time = ColumnHandle(COMMIT_TIME, pa.string())
            read = columns if commit_time in columns else (*columns, commit_time)
            return WrittenInPageSource(self._open(split, table, read, predicate, memory), columns, table.written_in)
        return self._open(split, table, columns, predicate, memory)

    def _open_side(
        self,
        session: ConnectorSession,
        table: HudiTableHandle,
        split: HudiSplit,
        view: TimelineView,
        columns: tuple[ColumnHandle, ...],
    ) -> PageSource:
        """A slice before or after a write; nothing filters it, since a row that lacks on one side seems changed."""
        return self.create_page_source(session, split, replace(table, view=view), columns, TupleDomain.all())

    def _open(
        self,
        split: HudiSplit,
        table: HudiTableHandle,
        columns: tuple[ColumnHandle, ...],
        predicate: TupleDomain[ColumnHandle],
        memory: int,
    ) -> PageSource:
        if not split.logs:
            return self._open_base(split, table, split.start, split.length, columns, predicate)
        constants = {**dict(split.path_values), **hidden_values(split)}
        merge = MergeInput(
            self.files, split, table, predicate, constants, partial(self._open_base, split, table), memory
        )
        return MergedPageSource(merge, columns)

    def _open_base(
        self,
        split: HudiSplit,
        table: HudiTableHandle,
        start: int,
        length: int,
        columns: tuple[ColumnHandle, ...],
        predicate: TupleDomain[ColumnHandle],
    ) -> PageSource:
        if split.source is not None:
            if table.history is not None:
                raise NotSupportedError(
                    f"{split.path} of a bootstrapped table holds only the meta columns, and the table has a schema "
                    "history (schema on read), of which no answer is known; rewrite the table",
                    HUDI_BOOTSTRAP,
                )
            return StitchedPageSource(self.files, split, split.source, table, columns, hidden_values(split))
        if table.history is not None:
            return self._open_evolved(table.history, split, table, start, length, columns, predicate)
        return self._open_file(split, table, start, length, columns, predicate)

    def _open_evolved(
        self,
        history: SchemaHistory,
        split: HudiSplit,
        table: HudiTableHandle,
        start: int,
        length: int,
        columns: tuple[ColumnHandle, ...],
        predicate: TupleDomain[ColumnHandle],
    ) -> PageSource:
        """A file of a table with schema on read: columns are found by their ids."""
        told = {**dict(split.path_values), **hidden_values(split)}

        def evolved(asked: tuple[ColumnHandle, ...]) -> tuple[EvolvedColumn, ...]:
            by_column = dict(zip(asked, history.evolve(split.base_instant, asked), strict=True))
            return tuple(
                EvolvedColumn(column, column) if column.name in told else by_column[column] for column in asked
            )

        in_file = written_predicate(predicate, evolved(tuple(dict(predicate.domains or {}))))
        return EvolvedPageSource(
            lambda asked: self._open_file(split, table, start, length, asked, in_file), evolved(columns)
        )

    def _open_file(
        self,
        split: HudiSplit,
        table: HudiTableHandle,
        start: int,
        length: int,
        columns: tuple[ColumnHandle, ...],
        predicate: TupleDomain[ColumnHandle],
    ) -> PageSource:
        used = {column.name: column for column in (*dict(predicate.domains or {}), *columns)}
        told = {**dict(split.path_values), **hidden_values(split)}
        constants = {name: value for name, value in told.items() if name in used}
        check = _FileCheck(split, table, tuple(used.values()), frozenset(constants))
        # Of a slice with logs a base row may be told by its place, or stand for what a log makes of it.
        readers = _READERS if split.logs else _SKIPPING_READERS
        # A value that does not fit the table's type is an error of the writer: never NULL in its place.
        return readers[split.format](
            self.files,
            split.path,
            start,
            length,
            columns,
            constants,
            predicate,
            sources=check.sources,
            strict=True,
        )


class _SkippingParquetPageSource(ParquetPageSource):
    skips_rows = True


class _SkippingOrcPageSource(OrcPageSource):
    skips_rows = True


_READERS: Mapping[str, type[FilePageSource]] = {"orc": OrcPageSource, "parquet": ParquetPageSource}
_SKIPPING_READERS: Mapping[str, type[FilePageSource]] = {
    "orc": _SkippingOrcPageSource,
    "parquet": _SkippingParquetPageSource,
}


@dataclass(frozen=True, slots=True)
class _FileCheck:
    """Compares a file with what its split was planned for, once its footer is read."""

    split: HudiSplit
    table: HudiTableHandle
    used: tuple[ColumnHandle, ...]
    constants: frozenset[str]

    def sources(self, schema: pa.Schema) -> dict[str, ColumnSource]:
        """Every column is found by its own name.

        Raises:
            NotSupportedError: A value could only be guessed.
        """
        if self.table.history is not None:
            self.table.history.check_names(self.split.base_instant, schema.names, self.split.path)
        for column in self.used:
            if column.name not in _HIDDEN_NAMES:
                self._check(column, find_column(schema, column.name), schema)
        return {}

    def _check(self, column: ColumnHandle, position: int | None, schema: pa.Schema) -> None:
        if column.name in self.constants and position is not None:
            raise InternalError(f"{self.split.path} holds '{column.name}', which was to be taken from the path")
        if position is not None:
            check_unit(column, schema.field(position).type, self.split.path)
        elif column.name not in self.constants and column.name in self.table.config.partition_fields:
            raise NotSupportedError(
                f"{self.split.path} lacks the partition column '{column.name}', and the partition's path "
                f"'{self.split.partition}' does not tell its value for certain; leave the column out",
                HUDI_PARTITION_VALUE,
            )


def hidden_values(split: HudiSplit) -> dict[str, Value | None]:
    """Values of the hidden columns of a split's rows, by name."""
    return {
        PATH: split.path,
        PARTITION: split.partition,
        FILE_SIZE: split.file_size,
        FILE_MODIFIED_TIME: _EPOCH + timedelta(milliseconds=split.modified_millis),
    }
