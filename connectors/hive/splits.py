"""From a table handle to splits: selects partitions, fetches them in batches, lists them in threads. Driver side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice

from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.properties import PropertyValues
from connector_spi.session import ConnectorSession
from connector_spi.splits import ListSplitSource, ScanSummary, SplitManager, SplitSource
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS
from connectors.hive.config import (
    FOOTER_CACHE,
    IGNORE_ABSENT_PARTITIONS,
    MAX_SPLIT_SIZE,
    ORC_BY_NAME,
    PARQUET_BY_NAME,
    PARQUET_ZONE,
    RECURSIVE_DIRECTORIES,
    SPLIT_LOADER_CONCURRENCY,
)
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.hive.listing.bucket_selection import BucketSelection
from connectors.hive.listing.cache import ListingCache
from connectors.hive.listing.file_lister import FileLister
from connectors.hive.listing.file_splits import Lister, LocationSplits, ScanLocation, SplitLoader
from connectors.hive.listing.first_rows import FirstRows
from connectors.hive.listing.transactional import DataFile, TransactionalLister, snapshot_text
from connectors.hive.native_reading import NativeFiles
from connectors.hive.partitions.alternatives import fits_one, may_fit
from connectors.hive.partitions.selection import PrunedPartitions, prune_partitions
from connectors.hive.scan_guards import check_partition_count, check_partition_filter
from connectors.hive.schema.footer_facts import FooterFacts
from connectors.hive.transaction import HiveTransaction, hive_transaction
from connectors.toolkit.read.aggregation import file_columns
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HiveSplitManager"]

_LOCATION_BATCH = 64


class HiveSplitManager(SplitManager[HiveTableHandle, HiveSplit]):
    """Makes splits of tables.

    Args:
        config: The catalog's settings.
        files: Storage.
        pages: Reads footers of files.
        listings: Cached directory listings.
    """

    def __init__(
        self, config: PropertyValues, files: FileSystem, pages: PageSourceProvider, listings: ListingCache
    ) -> None:
        self._config = config
        self._files = files
        self._pages = pages
        self._listings = listings

    def get_splits(
        self,
        transaction: ConnectorTransaction,
        session: ConnectorSession,
        table: HiveTableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> SplitSource[HiveSplit]:
        if table.aggregation is not None:
            columns = file_columns(table.aggregation, frozenset(table.partition_keys))
        hive = hive_transaction(transaction)
        constraint = table.constraint.intersect(dynamic_filter)
        if constraint.is_none:
            return ListSplitSource((), ScanSummary(files_kept=0, notes=("the filter is never true",)))
        check_partition_filter(table, session, self._config)
        pruned: PrunedPartitions | None = None
        if table.partition_keys:
            pruned = prune_partitions(hive.client, table, constraint, count_all=session.is_explained)
            known = [(one, dict(one.values)) for one in pruned.kept]
            kept = tuple(
                one
                for one, values in known
                if fits_one(table.alternatives, values) and may_fit(table.conditions, values)
            )
            pruned = replace(pruned, kept=kept)
            check_partition_count(table, len(kept), self._config)
        ignore_absent = session.get(IGNORE_ABSENT_PARTITIONS) and bool(table.partition_keys)
        zone = self._config.get(PARQUET_ZONE) or session.time_zone
        footers = FooterFacts(self._files, session.get(FOOTER_CACHE), zone)
        loader = SplitLoader(
            transaction=hive,
            table=table,
            constraint=constraint,
            columns=columns,
            data_files=self._lister(hive, table, columns, ignore_absent),
            native=NativeFiles(
                self._files,
                table,
                columns,
                footers,
                orc_by_name=self._config.get(ORC_BY_NAME),
                parquet_by_name=self._config.get(PARQUET_BY_NAME),
                opened_formats=session.opened_formats,
            ),
            max_split_bytes=session.get(MAX_SPLIT_SIZE),
            files=self._files,
            buckets=BucketSelection.of(table, constraint, session),
        )
        first = None
        if table.top_n is not None and dynamic_filter.is_all:
            first = FirstRows(self._pages, session, table, table.top_n.count, table.top_n.item)
        return _HiveSplitSource(loader, pruned, self._config.get(SPLIT_LOADER_CONCURRENCY), first)

    def _lister(
        self, hive: HiveTransaction, table: HiveTableHandle, columns: tuple[ColumnHandle, ...], ignore_absent: bool
    ) -> Lister:
        if table.snapshot is None:
            recursive = self._config.get(RECURSIVE_DIRECTORIES)
            plain = FileLister(self._files, recursive, ignore_absent, self._listings)
            return lambda location, partition: [
                DataFile(info) for info in plain.data_files(location, table.name, partition)
            ]
        snapshot = hive.protect(table.name, table.snapshot)
        row_ids_needed = any(column in ACID_HIDDEN_COLUMNS for column in columns)
        lister = TransactionalLister(
            self._files,
            table,
            snapshot,
            confirm=hive.confirm,
            row_ids_needed=row_ids_needed,
            ignore_absent=ignore_absent,
        )
        return lister.data_files


class _HiveSplitSource(SplitSource[HiveSplit]):
    def __init__(
        self, loader: SplitLoader, pruned: PrunedPartitions | None, threads: int, first: FirstRows | None
    ) -> None:
        self._first = first
        self._not_first = 0
        self._loader = loader
        self._pruned = pruned
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._files_kept = self._files_total = self._with_deletes = self._other_buckets = 0

    def __iter__(self) -> Iterator[Sequence[HiveSplit]]:
        if self._first is None:
            yield from self._batches()
            return
        found = [split for batch in self._batches() for split in batch]
        kept = self._first.chosen(found)
        self._not_first = len({split.path for split in found} - {split.path for split in kept})
        self._files_kept -= self._not_first
        yield kept

    def _batches(self) -> Iterator[Sequence[HiveSplit]]:
        locations = self._locations()
        while batch := list(islice(locations, _LOCATION_BATCH)):
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
        if self._not_first:
            notes.append(f"{self._not_first} files hold none of the first rows")
        if self._pruned is not None and self._pruned.by_metastore:
            notes.append("partitions found by the metastore")
        notes.append(f"metastore: {self._loader.transaction.calls.total()}")
        return ScanSummary(
            snapshot=snapshot_text(self._loader.table.snapshot, self._loader.table.changes),
            partitions_kept=None if self._pruned is None else len(self._pruned.kept),
            partitions_total=None if self._pruned is None else self._pruned.total,
            files_kept=self._files_kept,
            files_total=self._files_total,
            notes=tuple(notes),
        )

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _locations(self) -> Iterator[ScanLocation]:
        if self._pruned is None:
            yield ScanLocation(self._loader.table.location, self._loader.table.storage)
            return
        yield from self._loader.locations(self._pruned.kept)

    def _list(self, locations: list[ScanLocation]) -> Iterator[LocationSplits]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="hive-listing")
        if len(locations) == 1:
            return iter([self._loader.load(locations[0], self._pool)])
        return self._pool.map(self._loader.load, locations)
