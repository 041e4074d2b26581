"""The files of a location as streams of rows, or of delete events, in the order of their keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connectors.hive.acid.delete_set import KeyRuns
from connectors.hive.acid.file import AcidFile, DeleteFile
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS, ROW_ID, int64_values
from connectors.hive.acid.key_range import Key
from connectors.hive.acid.layout import DirectoryKind, parse_directory
from connectors.hive.acid.read.delete_files import open_delete_file
from connectors.hive.acid.valid_ids import ValidIds
from connectors.hive.compaction.merging import KeyedBatch, SortedStream
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.hive.write.sink.file_values import file_columns
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["TableSources"]

_LEAST = -(2**63)
_EVENTS_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True)
class TableSources:
    """Makes streams of a table's files.

    Attributes:
        pages: Reads rows: what readers of the table see is what is written again.
        session: In whose name.
        files: Storage.
        table: The table, with the snapshot that its files are read by.
    """

    pages: PageSourceProvider
    session: ConnectorSession
    files: FileSystem
    table: HiveTableHandle

    def rows(self, file: AcidFile) -> SortedStream:
        """The rows of a data file, less those that its delete files name."""
        return SortedStream(file.path, _least(file), lambda: self._rows(file))

    def events(self, file: DeleteFile, visible: ValidIds) -> SortedStream:
        """The delete events of a file, with the write id of each."""
        return SortedStream(file.path, None, lambda: self._events(file, visible))

    def _rows(self, file: AcidFile) -> Iterator[KeyedBatch]:
        [row_id] = [column for column in ACID_HIDDEN_COLUMNS if column.name == ROW_ID]
        columns: tuple[ColumnHandle, ...] = (*self.table.data_columns, row_id)
        names = [column.name for column in self.table.data_columns]
        rules = dict(self.table.text_rules)
        split = HiveSplit(
            file.path,
            start=0,
            length=file.size,
            file_size=file.size,
            modified_millis=file.modified_millis,
            format=self.table.format,
            acid=file,
        )
        every: TupleDomain[ColumnHandle] = TupleDomain.all()
        with self.pages.create_page_source(self.session, split, self.table, columns, every) as source:
            for batch in source:
                if batch.num_rows:
                    ids = batch.column(len(names)).flatten()
                    keys = [int64_values(part, file.path) for part in ids]
                    rows = file_columns(batch.select(names), rules, self.table.format)
                    yield KeyedBatch(keys[0], keys[1], keys[2], rows)

    def _events(self, file: DeleteFile, visible: ValidIds) -> Iterator[KeyedBatch]:
        opened = open_delete_file(self.files, file)
        try:
            for runs, dates in opened.read_dated(visible, after=_LEAST):
                yield from _event_batches(runs, dates)
        finally:
            opened.close()


def _event_batches(runs: KeyRuns, dates: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Iterator[KeyedBatch]:
    counts = runs.counts
    writes, buckets = np.repeat(runs.write_ids, counts), np.repeat(runs.buckets, counts)
    for start in range(0, len(dates), _EVENTS_AT_ONCE):
        part = slice(start, start + _EVENTS_AT_ONCE)
        rows = pa.RecordBatch.from_arrays([pa.array(dates[part])], ["currentTransaction"])
        yield KeyedBatch(writes[part], buckets[part], runs.row_ids[part], rows)


def _least(file: AcidFile) -> Key | None:
    """A key that no row of a file is below."""
    if file.keys is not None:
        return file.keys.write_id, file.keys.bucket_property, file.keys.first_row_id
    directory = parse_directory(file.directory)
    if directory is None or directory.kind is DirectoryKind.BASE:
        return None
    return directory.first, _LEAST, _LEAST
