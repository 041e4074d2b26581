"""From a split to record batches. Executor side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, NativeFile, Split, TableHandle
from connector_spi.optional.native_files import MergedFile, OpenedFile
from connector_spi.page_source import PageSource, PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connectors.hudi.changes.handles import HudiChangesHandle, HudiChangeSplit
from connectors.hudi.handles import HudiSplit, HudiTableHandle
from connectors.hudi.merge.config import MERGE_CACHE, MERGE_MEMORY
from connectors.hudi.read.changes.feed_page_source import change_feed_page_source
from connectors.hudi.read.changes.group_changes import GroupChanges
from connectors.hudi.read.changes.page_source import change_page_source
from connectors.hudi.read.merged_rows import merged_rows
from connectors.hudi.read.slice_page_source import slice_page_source
from connectors.hudi.read.slice_read import SliceRead
from connectors.toolkit.read.aggregation import AggregatedPageSource, file_columns
from connectors.toolkit.storage.filesystem import FileSystem
from connectors.toolkit.storage.opened_file import open_native_file

__all__ = ["HudiPageSourceProvider"]


@dataclass(frozen=True, slots=True)
class HudiPageSourceProvider(PageSourceProvider):
    """Reads file slices, and what writes changed in file groups.

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
        memory = session.get(MERGE_MEMORY)
        if isinstance(split, HudiChangeSplit) and isinstance(table, HudiChangesHandle):
            changes = GroupChanges(self.files, split, table.table, memory)
            return (change_feed_page_source if table.is_feed else change_page_source)(changes, columns)
        if not isinstance(split, HudiSplit) or not isinstance(table, HudiTableHandle):
            raise InternalError(f"expected a Hudi split and table, met {type(split).__name__}, {type(table).__name__}")
        if table.aggregation is not None:
            read = file_columns(table.aggregation, frozenset())
            rows = replace(table, aggregation=None)
            source = self.create_page_source(session, split, rows, read, TupleDomain.all())
            return AggregatedPageSource(source, table.aggregation, columns, {})
        slice_read = self._read(session, split, table, columns)
        return slice_page_source(slice_read.with_columns(columns, table.constraint.intersect(dynamic_filter)))

    def merged_files(
        self, session: ConnectorSession, splits: Sequence[Split], table: TableHandle, columns: tuple[ColumnHandle, ...]
    ) -> Sequence[MergedFile] | None:
        if not isinstance(table, HudiTableHandle) or table.aggregation is not None or table.written_in is not None:
            return None
        found: list[MergedFile] = []
        for split in splits:
            if not isinstance(split, HudiSplit) or (split.has_base and not split.native):
                return None
            if split.logs and table.history is not None:
                # Columns by their ids: rows of such files are not numbered.
                return None
            merge = partial(merged_rows, self._read(session, split, table, columns)) if split.logs else None
            found.append(MergedFile(split.base_file, merge))
        # All rows of the logs will be in memory together.
        logs = {log for split in splits if isinstance(split, HudiSplit) for log in split.logs}
        return found if sum(log.size for log in logs) <= session.get(MERGE_CACHE) else None

    def open_file(self, session: ConnectorSession, table: TableHandle, file: NativeFile) -> OpenedFile:
        return open_native_file(self.files, file)

    def _read(
        self, session: ConnectorSession, split: HudiSplit, table: HudiTableHandle, columns: tuple[ColumnHandle, ...]
    ) -> SliceRead:
        return SliceRead(
            files=self.files,
            split=split,
            table=table,
            columns=columns,
            predicate=table.constraint,
            merge_memory=session.get(MERGE_MEMORY),
            merge_cache=session.get(MERGE_CACHE),
        )
