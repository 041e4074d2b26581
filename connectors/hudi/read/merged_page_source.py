"""The rows of a file slice that has logs. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from connector_spi.errors import CorruptFileError, InternalError
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import TupleDomain, Value
from connector_spi.scan_counters import count
from connectors.hudi.error_codes import HUDI_BAD_LOG_FILE
from connectors.hudi.handles import HudiSplit, HudiTableHandle
from connectors.hudi.log.block import LogBlock
from connectors.hudi.log.data_block import PART_BYTES
from connectors.hudi.log.positions import positions_of_base
from connectors.hudi.log.scan import scan_log_blocks
from connectors.hudi.merge.base import LogMerge, MergedLog
from connectors.hudi.merge.columns import MergeColumns, merge_columns
from connectors.hudi.merge.config import MergeConfig, merge_config
from connectors.hudi.merge.event_store import EventStore, KeyRange, decoded_bytes
from connectors.hudi.merge.events import blocks_read_at_once, column_names, read_events
from connectors.hudi.merge.merged import base_ordering, deciding_events, merged_log
from connectors.hudi.read.slice_logs import SliceLogs
from connectors.hudi.schema.evolution import EvolvedColumn
from connectors.hudi.timeline.view import committed_test
from connectors.toolkit.parquet.file import ParquetFile
from connectors.toolkit.partition_values import constant_array, constant_batch
from connectors.toolkit.read.file_read import BATCH_ROWS
from connectors.toolkit.read.page_source import FilePageSource
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["BaseReader", "MergeInput", "MergedPageSource"]

BaseReader = Callable[[int, int, tuple[ColumnHandle, ...], TupleDomain[ColumnHandle]], PageSource]
"""Opens a range (first byte, bytes) of the slice's base file, with columns of it and a filter that only prunes."""


@dataclass(frozen=True, slots=True)
class MergeInput:
    """What a merge works on.

    Attributes:
        files: Storage.
        split: A range of a base file with all logs of its slice, or a slice of logs alone.
        table: The table.
        predicate: What the rows asked fit; only prunes.
        constants: Values of the columns that are in no file, by name.
        open_base: Opens the base file.
        memory: Bytes that the events of the logs may take.
    """

    files: FileSystem
    split: HudiSplit
    table: HudiTableHandle
    predicate: TupleDomain[ColumnHandle]
    constants: Mapping[str, Value | None]
    open_base: BaseReader
    memory: int


class MergedPageSource(PageSource):
    """Merges base rows with what the logs say of their keys, then gives what is in the logs alone.

    Args:
        merge: What to merge.
        columns: What to read, in output order.
    """

    def __init__(self, merge: MergeInput, columns: tuple[ColumnHandle, ...]) -> None:
        self._input = merge
        self._columns = columns
        self._schema = pa.schema([pa.field(column.name, column.type) for column in columns])
        self._bytes = 0
        self._batches = self._run()

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return self._bytes

    def __next__(self) -> pa.RecordBatch:
        return next(self._batches)

    def close(self) -> None:
        self._batches.close()

    def _run(self) -> Generator[pa.RecordBatch, None, None]:
        table = self._input.table
        config = merge_config(table.config.version, dict(table.config.properties), table.location)
        with SliceLogs(self._input.files, self._input.split.logs, decoded_bytes(self._input.memory)) as logs:
            blocks = self._scan(logs)
            count("log blocks merged", len(blocks))
            columns = self._merge_columns(config, blocks)
            events = self._events(blocks, logs, columns)
        with events as store:
            for keys, tables in store.read():
                log = merged_log(tables, columns) if tables else None
                tables.clear()
                for batch in self._part(log, columns, keys):
                    yield from self._output(batch)

    def _merge_columns(self, config: MergeConfig, blocks: tuple[LogBlock, ...]) -> MergeColumns:
        table, split = self._input.table, self._input.split
        # Of other files nobody tells the number of a row.
        numbered = split.format == "parquet" and split.source is None and table.history is None
        asked = [column for column in self._columns if column.name not in self._input.constants]
        return merge_columns(
            asked,
            table.schema,
            config,
            has_meta_columns=table.config.populate_meta_fields,
            partial=any(block.is_partial for block in blocks),
            where=table.location,
            by_position=numbered and positions_of_base(blocks, split.base_instant),
        )

    def _scan(self, logs: SliceLogs) -> tuple[LogBlock, ...]:
        table = self._input.table
        latest = table.view.latest
        writes = table.merged_writes
        scan = scan_log_blocks(
            logs.blocks(),
            is_committed=committed_test(table.view),
            latest_instant=latest.requested if latest is not None else "",
            in_range=None if writes is None else frozenset(writes).__contains__,
        )
        return scan.blocks

    def _events(self, blocks: tuple[LogBlock, ...], logs: SliceLogs, columns: MergeColumns) -> EventStore:
        compact = partial(deciding_events, columns=columns) if columns.may_compact else None
        store = EventStore(self._input.memory, sum(block.content_length for block in blocks), compact)
        part_bytes = min(decoded_bytes(self._input.memory), PART_BYTES)
        with ExitStack() as stack:
            stack.push(store)
            # Where columns are is told by instant where the table has a history.
            most = part_bytes if self._input.table.history is None else 0
            for together in blocks_read_at_once(blocks, most):
                contents = [logs.content(block) for block in together]
                size = sum(block.content_length for block in together)
                for table in read_events(together, contents, columns, self._evolved(together[0], columns), part_bytes):
                    count("log records merged", table.num_rows)
                    store.add(table, min(size, part_bytes))
                self._bytes += size
            stack.pop_all()
        return store

    def _evolved(self, block: LogBlock, columns: MergeColumns) -> tuple[EvolvedColumn, ...] | None:
        """Where columns are in a block of a table with schema on read."""
        history = self._input.table.history
        if history is None or not block.type.has_rows:
            return None
        history.check_names(block.instant_time, column_names(block), block.path)
        return history.evolve(block.instant_time, columns.read)

    def _part(self, log: MergedLog | None, columns: MergeColumns, keys: KeyRange) -> Iterator[pa.RecordBatch]:
        split = self._input.split
        merge = LogMerge(log) if log is not None else None
        if split.has_base:
            yield from self._base(merge, columns, keys)
        # What has a position is in the base file, in the range of one split or another.
        if merge is not None and split.holds_inserts and not columns.by_position:
            if split.has_base:
                self._mark_elsewhere(merge, columns)
            yield from merge.rest()

    def _base(self, merge: LogMerge | None, columns: MergeColumns, part: KeyRange) -> Iterator[pa.RecordBatch]:
        split = self._input.split
        predicate = self._prunable(columns)
        with closing(self._input.open_base(split.start, split.length, columns.read, predicate)) as source:
            for read in source:
                batch = read
                count("rows of base files read", batch.num_rows)
                rows = pa.Table.from_batches([batch])
                keys = _positions(source, len(rows)) if columns.by_position else columns.keys(rows)
                if not part.is_all:
                    mine = part.holds(keys)
                    batch, rows, keys = batch.filter(mine), rows.filter(mine), keys.filter(mine)
                given = batch.select(columns.names)
                if merge is None:
                    yield given
                else:
                    yield from merge.merge(given, keys, base_ordering(rows, columns), columns.filled(rows))
            if merge is not None and columns.by_position:
                self._check_positions(merge, source)
            self._bytes += source.completed_bytes

    def _check_positions(self, merge: LogMerge, source: PageSource) -> None:
        """No row of the logs may be passed over because its position lies behind the file's last row.

        Raises:
            CorruptFileError: It does.
        """
        last, rows = merge.last_position, _numbered(source).file_rows
        if rows is not None and last >= rows:
            raise CorruptFileError(
                f"the logs of {self._input.split.path} tell of its row {last} (counted from 0), and it has {rows} rows",
                HUDI_BAD_LOG_FILE,
            )

    def _mark_elsewhere(self, merge: LogMerge, columns: MergeColumns) -> None:
        """Notes the keys of the ranges of the base file that other splits merge."""
        split = self._input.split
        end = split.start + split.length
        keys = tuple(column for column in columns.read if column.name in columns.key_sources)
        for start, length in ((0, split.start), (end, split.file_size - end)):
            if length > 0:
                with closing(self._input.open_base(start, length, keys, TupleDomain.all())) as source:
                    for batch in source:
                        merge.mark(columns.keys(pa.Table.from_batches([batch])))

    def _prunable(self, columns: MergeColumns) -> TupleDomain[ColumnHandle]:
        """What of the filter may skip parts of the base file: what is about the keys alone.

        Rows of one key are all asked or none. By other columns a base row might be skipped whose log row is asked, or
        one that wins over a log row, which then would come in its place.
        """
        keys = columns.key_names
        return self._input.predicate.keep(lambda column: column.name in keys)

    def _output(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        for start in range(0, rows.num_rows, BATCH_ROWS):
            yield self._shaped(rows.slice(start, BATCH_ROWS))

    def _shaped(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        if not self._columns:
            return constant_batch(self._schema, {}, rows.num_rows)
        constants = self._input.constants
        arrays = [
            constant_array(constants[field.name], field.type, rows.num_rows)
            if field.name in constants
            else _narrowed(rows.column(field.name), field)
            for field in self._schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _positions(source: PageSource, rows: int) -> pa.Array:
    first = _numbered(source).first_row
    return pa.array(np.arange(first, first + rows))


def _numbered(source: PageSource) -> FilePageSource[ParquetFile]:
    if not isinstance(source, FilePageSource):
        raise InternalError(f"rows of {type(source).__name__} have no numbers to merge by")
    return source


def _narrowed(array: pa.Array, field: pa.Field) -> pa.Array:
    if array.type == field.type:
        return array
    adapter = SchemaAdapter(pa.schema([pa.field(field.name, array.type)]), (ColumnHandle(field.name, field.type),))
    [made] = adapter.adapt([array], len(array))
    return made
