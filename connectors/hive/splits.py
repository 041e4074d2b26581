"""From a table handle to splits: partitions chosen, fetched in batches, listed in threads. Driver side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import cast

from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connector_spi.splits import ListSplitSource, ScanSummary, SplitManager, SplitSource
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS
from connectors.hive.config import IGNORE_ABSENT_PARTITIONS, MAX_SPLIT_SIZE, HiveConfig
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.hive.listing.bucket_selection import BucketSelection
from connectors.hive.listing.cache import ListingCache
from connectors.hive.listing.directories import FolderLister
from connectors.hive.listing.file_splits import Folder, FolderScan, Listed, Lister
from connectors.hive.listing.transactional import DataFile, TransactionalLister, snapshot_text
from connectors.hive.native_reading import PlainFiles
from connectors.hive.partitions.selection import PartitionName, prune_partitions
from connectors.hive.scan_guards import check_partition_count, check_partition_filter
from connectors.hive.transaction import HiveTransaction, hive_transaction
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HiveSplitManager"]

_FOLDER_BATCH = 64


class HiveSplitManager(SplitManager):
    """Makes splits of tables.

    Args:
        config: The catalog's settings.
        files: Storage.

    Attributes:
        listings: Listings of folders that are kept.
    """

    def __init__(self, config: HiveConfig, files: FileSystem) -> None:
        self._config = config
        self._files = files
        self.listings = ListingCache(config.listings)

    def get_splits(
        self,
        transaction: ConnectorTransaction,
        session: ConnectorSession,
        table: TableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> SplitSource:
        if not isinstance(table, HiveTableHandle):
            raise InternalError(f"expected a Hive table, met a {type(table).__name__}")
        hive = hive_transaction(transaction)
        constraint = table.constraint.intersect(dynamic_filter)
        if constraint.is_none:
            return ListSplitSource((), ScanSummary(files_kept=0, notes=("the filter is never true",)))
        check_partition_filter(table, session, self._config)
        partitions: tuple[PartitionName, ...] | None = None
        total = None
        if table.partition_keys:
            pruned = prune_partitions(hive.client, table, constraint)
            partitions, total = pruned.kept, pruned.total
            check_partition_count(table, len(partitions), self._config)
        ignore_absent = session.flag(IGNORE_ABSENT_PARTITIONS) and bool(table.partition_keys)
        scan = FolderScan(
            transaction=hive,
            table=table,
            constraint=constraint,
            columns=columns,
            data_files=self._lister(hive, table, columns, ignore_absent),
            plain=PlainFiles(
                self._files,
                table,
                columns,
                orc_by_name=self._config.orc_by_name,
                parquet_by_name=self._config.parquet_by_name,
                parquet_zone=self._config.parquet_zone or session.time_zone,
            ),
            max_split_bytes=cast(int, session.get_property(MAX_SPLIT_SIZE)),
            files=self._files,
            buckets=BucketSelection.of(table, constraint, session),
        )
        return _HiveSplitSource(scan, partitions, total, self._config.split_loader_concurrency)

    def _lister(
        self, hive: HiveTransaction, table: HiveTableHandle, columns: tuple[ColumnHandle, ...], ignore_absent: bool
    ) -> Lister:
        if table.snapshot is None:
            recursive = self._config.recursive_directories
            lister = FolderLister(self._files, recursive, ignore_absent, self.listings)
            return lambda location, partition: [
                DataFile(info) for info in lister.data_files(location, table.name, partition)
            ]
        snapshot = hive.protect(table.name, table.snapshot)
        row_ids_needed = any(column in ACID_HIDDEN_COLUMNS for column in columns)
        return TransactionalLister(
            files=self._files,
            table=table,
            snapshot=snapshot,
            confirm=hive.confirm,
            row_ids_needed=row_ids_needed,
            ignore_absent=ignore_absent,
        ).data_files


class _HiveSplitSource(SplitSource):
    def __init__(
        self, scan: FolderScan, partitions: tuple[PartitionName, ...] | None, total: int | None, threads: int
    ) -> None:
        self._scan = scan
        self._partitions = partitions
        self._total = total
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._files_kept = self._files_total = self._with_deletes = self._other_buckets = 0

    def __iter__(self) -> Iterator[Sequence[Split]]:
        folders = self._folders()
        while batch := list(islice(folders, _FOLDER_BATCH)):
            splits: list[HiveSplit] = []
            for listed in self._list(batch):
                splits += listed.splits
                self._files_kept += listed.kept
                self._files_total += listed.found
                self._with_deletes += listed.with_deletes
                self._other_buckets += listed.other_buckets
            yield splits

    def summary(self) -> ScanSummary:
        notes = [f"deletes may apply to {self._with_deletes} files"] if self._with_deletes else []
        if self._other_buckets:
            notes.append(f"{self._other_buckets} files are of other buckets")
        if self._partitions is not None and self._total is None:
            notes.append("partitions found by the metastore")
        notes.append(f"metastore: {self._scan.transaction.calls.total()}")
        return ScanSummary(
            snapshot=snapshot_text(self._scan.table.snapshot, self._scan.table.changes),
            partitions_kept=None if self._partitions is None else len(self._partitions),
            partitions_total=self._total,
            files_kept=self._files_kept,
            files_total=self._files_total,
            notes=tuple(notes),
        )

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _folders(self) -> Iterator[Folder]:
        if self._partitions is None:
            yield Folder(self._scan.table.location, self._scan.table.storage)
            return
        yield from self._scan.folders(self._partitions)

    def _list(self, folders: list[Folder]) -> Iterator[Listed]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="hive-listing")
        if len(folders) == 1:
            return iter([self._scan.list_folder(folders[0], self._pool)])
        return self._pool.map(self._scan.list_folder, folders)
