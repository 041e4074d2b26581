"""The rows of a base file: as they stand, by the ids of their columns, or out of two files. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import InternalError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import references
from connectors.hudi.error_codes import HUDI_BOOTSTRAP, HUDI_PARTITION_VALUE
from connectors.hudi.hidden_columns import HIDDEN_NAMES
from connectors.hudi.read.bootstrap_page_source import BootstrapPageSource
from connectors.hudi.read.evolve import evolve, written_predicate
from connectors.hudi.read.slice_read import SliceRead
from connectors.hudi.schema.evolution import EvolvedColumn
from connectors.hudi.schema.history import SchemaHistory
from connectors.hudi.schema.timestamp_unit import check_unit
from connectors.toolkit.orc.reader import orc_page_source
from connectors.toolkit.parquet.reader import parquet_page_source
from connectors.toolkit.read.file_read import FileRange, FileRead
from connectors.toolkit.read.page_source import StagedPageSource
from connectors.toolkit.schema.column_sources import ColumnSource, find_column
from connectors.toolkit.schema.type_adaptation import LOSSLESS
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["base_page_source"]


def base_page_source(read: SliceRead) -> PageSource:
    """Reads the range of a base file."""
    history = read.table.history
    if read.split.source is not None:
        if history is not None:
            raise NotSupportedError(
                f"{read.split.path} of a bootstrapped table holds only the meta columns, and the table has a schema "
                "history (schema on read); reading the two together is not supported: rewrite the table",
                HUDI_BOOTSTRAP,
            )
        return BootstrapPageSource(read, read.split.source)
    return _file(read) if history is None else _evolved(read, history)


def _evolved(read: SliceRead, history: SchemaHistory) -> PageSource:
    """Of a table with schema on read: columns are found by their ids."""
    columns = _written_columns(read, history, read.columns)
    filtered = _written_columns(read, history, tuple(dict(read.predicate.domains or {})))
    written = tuple(item.written for item in columns if item.written is not None)
    rows = _file(read.with_columns(written, written_predicate(read.predicate, filtered)))
    return StagedPageSource(rows, read.schema, [evolve(columns)])


def _written_columns(
    read: SliceRead, history: SchemaHistory, columns: tuple[ColumnHandle, ...]
) -> tuple[EvolvedColumn, ...]:
    constants = read.constants
    evolved = history.evolve(read.split.base_instant, columns)
    return tuple(
        EvolvedColumn(column, column) if column.name in constants else item
        for column, item in zip(columns, evolved, strict=True)
    )


def _file(read: SliceRead) -> PageSource:
    """Reads the columns by the names that they have in the file."""
    # Of a slice with logs a base row may be skipped whose log row is asked; columns by their ids have other names.
    is_plain = not read.split.logs and read.table.history is None
    conditions = read.table.conditions if is_plain else ()
    looked_at = (reference.column for condition in conditions for reference in references(condition))
    used = {column.name: column for column in (*looked_at, *dict(read.predicate.domains or {}), *read.columns)}
    constants = {name: value for name, value in read.constants.items() if name in used}
    check = _FileCheck(read, tuple(used.values()), frozenset(constants))
    split = read.split
    return _READERS[split.format](
        read.files,
        FileRead(
            FileRange(split.path, split.start, split.length),
            read.columns,
            constants=constants,
            sources=check.sources,
            predicate=read.predicate,
            conditions=conditions,
            # A value that does not fit the table's type is an error of the writer: it is not read as NULL.
            rules=LOSSLESS,
            # Of a slice with logs a base row may be known by its position, or stand for what a log makes of it.
            skips_rows=not split.logs,
        ),
    )


_READERS: Mapping[str, Callable[[FileSystem, FileRead], PageSource]] = {
    "orc": orc_page_source,
    "parquet": parquet_page_source,
}


@dataclass(frozen=True, slots=True)
class _FileCheck:
    """Compares a file with what its split was planned for, once its footer is read."""

    read: SliceRead
    used: tuple[ColumnHandle, ...]
    constants: frozenset[str]

    def sources(self, schema: pa.Schema) -> dict[str, ColumnSource]:
        """Every column is found by its own name.

        Raises:
            NotSupportedError: A value could only be guessed.
        """
        split, history = self.read.split, self.read.table.history
        if history is not None:
            history.check_names(split.base_instant, schema.names, split.path)
        for column in self.used:
            if column.name not in HIDDEN_NAMES:
                self._check(column, find_column(schema, column.name), schema)
        return {}

    def _check(self, column: ColumnHandle, position: int | None, schema: pa.Schema) -> None:
        split = self.read.split
        if column.name in self.constants and position is not None:
            raise InternalError(f"{split.path} holds '{column.name}', which was to be taken from the path")
        if position is not None:
            check_unit(column, schema.field(position).type, split.path)
        elif column.name not in self.constants and column.name in self.read.table.config.partition_fields:
            raise NotSupportedError(
                f"{split.path} lacks the partition column '{column.name}', and the partition's path "
                f"'{split.partition}' leaves its value in doubt; leave the column out",
                HUDI_PARTITION_VALUE,
            )
