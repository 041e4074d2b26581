"""What the hive connector's metadata has for statistics: those that there are, and those that were collected."""

from __future__ import annotations

from collections.abc import Sequence

from catalog.metastore.factory import Metastore
from connector_spi.handles import ColumnHandle, Split
from connector_spi.optional.statistics_collection import CollectedStatistics, StatisticsCollection
from connector_spi.page_source import PageSourceProvider
from connector_spi.properties import PropertyMetadata
from connector_spi.session import ConnectorSession
from connector_spi.statistics import TableStatistics
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.hive.statistics.collection import keep_collected, statistics_collection
from connectors.hive.statistics.file_counts import keep_file_counts
from connectors.hive.statistics.footer_statistics import FooterStatistics
from connectors.hive.statistics.table_statistics import column_statistics, table_statistics
from connectors.hive.transaction import HiveTransaction
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HiveStatistics"]


class HiveStatistics:
    """Statistics of the metastore.

    Args:
        metastore: The metastore to keep them in.
        files: Storage.
        transaction: Of the reads.
        pages: Reads footers of files.
        memory: Session property: most bytes of what the process keeps of footers.
    """

    def __init__(
        self,
        metastore: Metastore,
        files: FileSystem,
        transaction: HiveTransaction,
        pages: PageSourceProvider,
        memory: PropertyMetadata[int],
    ) -> None:
        self._kept_in = metastore
        self._counted_files = files
        self._transaction = transaction
        self._footers = pages
        self._footer_memory = memory

    def get_table_statistics(self, session: ConnectorSession, table: HiveTableHandle) -> TableStatistics:
        if table.changes is not None:
            return TableStatistics()
        entry = self._transaction.table(table.name)
        return table_statistics(self._transaction.client, table, entry, count_all=session.is_explained)

    def get_column_statistics(self, session: ConnectorSession, table: HiveTableHandle) -> TableStatistics:
        if table.changes is not None:
            return TableStatistics()
        entry = self._transaction.table(table.name)
        return column_statistics(self._transaction.client, table, entry, count_all=session.is_explained)

    def get_footer_statistics(
        self,
        session: ConnectorSession,
        table: HiveTableHandle,
        splits: Sequence[Split],
        columns: Sequence[ColumnHandle],
    ) -> TableStatistics | None:
        if table.changes is not None or table.aggregation is not None:
            return None
        found = [split for split in splits if isinstance(split, HiveSplit)]
        memory = session.get(self._footer_memory)
        return FooterStatistics(self._counted_files, self._footers, session, memory).of(table, found, columns)

    def get_statistics_collection(self, session: ConnectorSession, table: HiveTableHandle) -> StatisticsCollection:
        metastore = self._kept_in.as_user(session.user)
        metastore.writes.check_allowed(f"ANALYZE TABLE {table.name}")
        return statistics_collection(table)

    def finish_statistics_collection(
        self, session: ConnectorSession, table: HiveTableHandle, collected: Sequence[CollectedStatistics]
    ) -> None:
        """As the metastore's entry is now: only its counts of rows are replaced."""
        keep_collected(self._kept_in.as_user(session.user), table, collected)

    def collect_file_statistics(self, session: ConnectorSession, table: HiveTableHandle) -> None:
        metastore = self._kept_in.as_user(session.user)
        metastore.writes.check_allowed(f"ANALYZE TABLE {table.name}")
        keep_file_counts(metastore, self._transaction, self._counted_files, table)
