"""From a table handle to splits: partitions chosen, fetched in batches, listed in threads. Driver side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import cast

import pyarrow as pa

from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import Partition, Table
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import InternalError, MetastoreError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.predicate import TupleDomain, Value
from connector_spi.session import ConnectorSession
from connector_spi.splits import ListSplitSource, ScanSummary, SplitManager, SplitSource
from connectors.hive import error_codes
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS
from connectors.hive.bucket_selection import BucketSelection
from connectors.hive.buckets import BucketCheck
from connectors.hive.columns import bucketed_alike
from connectors.hive.config import IGNORE_ABSENT_PARTITIONS, MAX_SPLIT_SIZE, HiveConfig
from connectors.hive.file_columns import declared_columns
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.registry import format_named
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.hive.listing import FolderLister, file_ranges
from connectors.hive.listing_cache import ListingCache
from connectors.hive.partition_schemas import check_unions, partition_columns, partition_text_rules, partition_types
from connectors.hive.partitions import PartitionName, fetch_partitions, prune_partitions
from connectors.hive.plainness import PlainFiles
from connectors.hive.scan_guards import check_partition_count, check_partition_filter
from connectors.hive.table_formats import is_transactional, partition_storage
from connectors.hive.text_types import TextRule
from connectors.hive.transaction import HiveTransaction, hive_transaction
from connectors.hive.transactional_listing import DataFile, TransactionalLister, snapshot_text
from connectors.toolkit.filesystem import FileSystem

__all__ = ["HiveSplitManager"]

_FOLDER_BATCH = 64


_Lister = Callable[[str, str], list[DataFile]]
_ROW_ID_COLUMNS = frozenset(column.name for column in ACID_HIDDEN_COLUMNS)


@dataclass(frozen=True, slots=True)
class _Listed:
    """Splits of a folder, its files that are kept and that were found, those with deletes, those of other buckets."""

    splits: list[HiveSplit]
    kept: int
    found: int
    with_deletes: int
    other_buckets: int


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to be listed."""

    location: str
    storage: FileStorage
    partition: str = ""
    values: tuple[tuple[str, Value | None], ...] = ()
    columns: tuple[str, ...] | None = None
    types: tuple[pa.DataType, ...] | None = None
    bucketed: bool = True
    rules: tuple[tuple[str, TextRule], ...] = ()


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
        scan = _Scan(
            hive,
            table,
            constraint,
            columns,
            self._lister(hive, table, columns, ignore_absent),
            PlainFiles(
                self._files,
                table,
                columns,
                orc_by_name=self._config.orc_by_name,
                parquet_by_name=self._config.parquet_by_name,
                parquet_zone=self._config.parquet_zone or session.time_zone,
            ),
            cast(int, session.get_property(MAX_SPLIT_SIZE)),
            self._files,
            BucketSelection.of(table, constraint, session),
        )
        return _HiveSplitSource(scan, partitions, total, self._config.split_loader_concurrency)

    def _lister(
        self, hive: HiveTransaction, table: HiveTableHandle, columns: tuple[ColumnHandle, ...], ignore_absent: bool
    ) -> _Lister:
        if table.snapshot is None:
            recursive = self._config.recursive_directories
            lister = FolderLister(self._files, recursive, ignore_absent, self.listings)
            return lambda location, partition: [
                DataFile(info) for info in lister.data_files(location, table.name, partition)
            ]
        snapshot = hive.protect(table.name, table.snapshot)
        row_ids_needed = any(column.name in _ROW_ID_COLUMNS for column in columns)
        return TransactionalLister(self._files, table, snapshot, hive.confirm, row_ids_needed, ignore_absent).data_files


@dataclass(frozen=True, slots=True)
class _Scan:
    transaction: HiveTransaction
    table: HiveTableHandle
    constraint: TupleDomain[ColumnHandle]
    columns: tuple[ColumnHandle, ...]
    data_files: _Lister
    plain: PlainFiles
    max_split_bytes: int
    files: FileSystem
    buckets: BucketSelection

    @property
    def client(self) -> MetastoreClient:
        return self.transaction.client

    def folders(self, names: Sequence[PartitionName]) -> Iterator[_Folder]:
        """The folders of partitions."""
        entry = self.transaction.table(self.table.name)
        for name, partition in fetch_partitions(self.client, self.table, names):
            yield self._folder(entry, name, partition)

    def list_folder(self, folder: _Folder) -> _Listed:
        """Splits of a folder. Runs in threads."""
        file_format = format_named(folder.storage.format)
        found = [
            replace(file, info=info)
            for file in self.data_files(folder.location, folder.partition)
            for info in file_format.data_files(self.files, file.info)
        ]
        splits: list[HiveSplit] = []
        kept = deletes = others = 0
        buckets, wanted = self.buckets.choose([file.info.path for file in found], folder.bucketed, folder.partition)
        for file, bucket in zip(found, buckets, strict=True):
            if wanted is not None and bucket not in wanted:
                others += 1
                continue
            check = self.buckets.check(bucket, chosen=wanted is not None)
            made = self._file_splits(folder, file, bucket, check)
            splits += made
            kept += bool(made)
            deletes += bool(made and file.acid and file.acid.deletes)
        return _Listed(splits, kept, len(found), deletes, others)

    def _folder(self, entry: Table, name: PartitionName, partition: Partition) -> _Folder:
        where = f"partition {name.name} of {self.table.name}"
        if not partition.storage.location:
            raise MetastoreError(f"the metastore has no location for {where}", error_codes.HIVE_BAD_PARTITION)
        if self.table.snapshot is None and is_transactional(partition.parameters):
            raise InternalError(f"{where} says that it is transactional, and its table does not")
        storage = partition_storage(partition, entry, name.name)
        if self.table.full_acid and storage.format != self.table.format:
            raise MetastoreError(
                f"{where} is of the format {storage.format}; expected {self.table.format}, the table's, since the "
                "table is transactional: drop the partition",
                error_codes.HIVE_BAD_PARTITION,
            )
        columns, types = None, None
        rules: tuple[tuple[str, TextRule], ...] = ()
        file_format = format_named(storage.format)
        if file_format.partition_columns:
            columns = partition_columns(partition, entry)
            types = partition_types(partition, entry, name.name)
            check_unions(partition, entry, name.name, {column.name for column in self.columns})
            rules = partition_text_rules(partition, entry)
        if storage != self.table.storage or columns is not None or types is not None:
            file_format.check(storage, declared_columns(self.table.data_columns, columns, types), where)
        return _Folder(
            partition.storage.location,
            storage,
            name.name,
            name.values,
            columns,
            types,
            bucketed_alike(partition, entry),
            rules,
        )

    def _file_splits(self, folder: _Folder, file: DataFile, bucket: int | None, check: BucketCheck) -> list[HiveSplit]:
        info = file.info
        whole = HiveSplit(
            info.path,
            0,
            info.size,
            info.size,
            info.modified_millis,
            folder.storage.format,
            folder.partition,
            folder.values,
            folder.columns,
            folder.types,
            folder.rules,
            None if folder.storage == self.table.storage else folder.storage,
            acid=file.acid,
            changes=file.changes,
            bucket=bucket,
            bucket_check=check if file.changes is None else BucketCheck.NONE,
        )
        constants = whole.constants()
        domains = dict(self.constraint.domains or {})
        if self.table.full_acid:
            domains = {column: domain for column, domain in domains.items() if column.name not in _ROW_ID_COLUMNS}
        if not all(d.includes_value(constants[c.name]) for c, d in domains.items() if c.name in constants):
            return []
        plain = file.acid is None and file.changes is None and whole.bucket_check is BucketCheck.NONE
        plain = plain and self.plain.is_plain(info.path, info.size, folder.storage)
        names = tuple(column.name for column in self.columns if column.name in constants) if plain else ()
        cut = format_named(folder.storage.format).splittable(info.path, folder.storage)
        ranges = file_ranges(info.size, self.max_split_bytes) if cut else [(0, info.size)]
        return [
            replace(whole, start=start, length=length, plain=plain, plain_constants=names) for start, length in ranges
        ]


class _HiveSplitSource(SplitSource):
    def __init__(
        self, scan: _Scan, partitions: tuple[PartitionName, ...] | None, total: int | None, threads: int
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

    def _folders(self) -> Iterator[_Folder]:
        if self._partitions is None:
            yield _Folder(self._scan.table.location, self._scan.table.storage)
            return
        yield from self._scan.folders(self._partitions)

    def _list(self, folders: list[_Folder]) -> Iterator[_Listed]:
        if len(folders) == 1:
            return iter([self._scan.list_folder(folders[0])])
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="hive-listing")
        return self._pool.map(self._scan.list_folder, folders)
