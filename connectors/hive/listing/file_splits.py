"""From a location of a table to the splits of its files. Driver side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import Partition, Table
from connector_spi.errors import InternalError, MetastoreError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain, Value
from connectors.hive import error_codes
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS
from connectors.hive.buckets.layout import BucketCheck
from connectors.hive.definitions.columns import bucketed_alike
from connectors.hive.definitions.table_formats import is_transactional, partition_storage
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.registry import format_named
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.hive.listing.bucket_selection import BucketSelection
from connectors.hive.listing.transactional import DataFile
from connectors.hive.native_reading import NativeFiles
from connectors.hive.partitions.alternatives import may_fit
from connectors.hive.partitions.schemas import check_unions, partition_columns, partition_text_rules, partition_types
from connectors.hive.partitions.selection import PartitionName, fetch_partitions
from connectors.hive.schema.file_columns import declared_columns
from connectors.hive.schema.text_types import TextRule
from connectors.hive.transaction import HiveTransaction
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["Lister", "LocationSplits", "ScanLocation", "SplitLoader"]

Lister = Callable[[str, str], list[DataFile]]
# Files per task of a thread: few, since remote storage has a high latency.
_FILES_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class LocationSplits:
    """The splits of one location, and counts of its files.

    Attributes:
        splits: Splits of the files that are read.
        kept: Number of files that are read.
        found: Number of all files.
        with_deletes: Number of files that deletes may apply to.
        other_buckets: Number of files of buckets that are not read.
    """

    splits: list[HiveSplit]
    kept: int
    found: int
    with_deletes: int
    other_buckets: int


@dataclass(frozen=True, slots=True)
class ScanLocation:
    """A location to be listed.

    Attributes:
        path: The directory.
        storage: How its files are written.
        partition: Name of its partition; empty where the table has no partition keys.
        values: Typed value of each partition key, by name.
        columns: The partition's own names of its columns, as in ``HiveSplit``.
        types: Its own types of them.
        bucketed: Its rows are bucketed as the table's are.
        rules: Rules for its own char and varchar columns.
    """

    path: str
    storage: FileStorage
    partition: str = ""
    values: tuple[tuple[str, Value | None], ...] = ()
    columns: tuple[str, ...] | None = None
    types: tuple[pa.DataType, ...] | None = None
    bucketed: bool = True
    rules: tuple[tuple[str, TextRule], ...] = ()


@dataclass(frozen=True, slots=True)
class SplitLoader:
    """Makes the splits of one scan, location by location. Thread-safe.

    Attributes:
        transaction: The transaction of the statement.
        table: The table.
        constraint: Files whose constants do not satisfy it get no splits.
        columns: Columns to read.
        data_files: Lists the files of a location and partition name (empty for the table itself).
        native: Decides which files the engine's own reader may read.
        max_split_bytes: Most bytes of a split.
        files: Storage.
        buckets: Buckets to read.
    """

    transaction: HiveTransaction
    table: HiveTableHandle
    constraint: TupleDomain[ColumnHandle]
    columns: tuple[ColumnHandle, ...]
    data_files: Lister
    native: NativeFiles
    max_split_bytes: int
    files: FileSystem
    buckets: BucketSelection

    @property
    def client(self) -> MetastoreClient:
        return self.transaction.client

    def locations(self, names: Sequence[PartitionName]) -> Iterator[ScanLocation]:
        """The locations of partitions."""
        entry = self.transaction.table(self.table.name)
        for name, partition in fetch_partitions(self.client, self.table, names):
            yield self._location(entry, name, partition)

    def load(self, location: ScanLocation, pool: Executor | None = None) -> LocationSplits:
        """The splits of a location. Runs in threads.

        Args:
            location: The location.
            pool: Threads to process several files at once; must not be the pool that runs this call.
        """
        file_format = format_named(location.storage.format)
        found = [
            replace(file, info=info)
            for file in self.data_files(location.path, location.partition)
            for info in file_format.data_files(self.files, file.info)
        ]
        buckets, wanted = self.buckets.choose([file.info.path for file in found], location.bucketed, location.partition)
        chosen = [one for one in zip(found, buckets, strict=True) if wanted is None or one[1] in wanted]
        each = map if pool is None or self.files.is_local(location.path) else pool.map
        # Few files are for as many threads: a footer on far storage is two requests.
        size = max(1, min(_FILES_AT_ONCE, len(chosen) // _FILES_AT_ONCE))
        parts = [chosen[at : at + size] for at in range(0, len(chosen), size)]
        made = [one for part in each(partial(self._splits, location, wanted is not None), parts) for one in part]
        return LocationSplits(
            [split for splits in made for split in splits],
            kept=sum(map(bool, made)),
            found=len(found),
            with_deletes=sum(bool(splits and splits[0].acid and splits[0].acid.deletes) for splits in made),
            other_buckets=len(found) - len(chosen),
        )

    def _splits(
        self, location: ScanLocation, in_bucket: bool, files: Sequence[tuple[DataFile, int | None]]
    ) -> list[list[HiveSplit]]:
        return [
            self._file_splits(location, file, bucket, self.buckets.check(bucket, chosen=in_bucket))
            for file, bucket in files
        ]

    def _location(self, entry: Table, name: PartitionName, partition: Partition) -> ScanLocation:
        where = f"partition {name.name} of {self.table.name}"
        if not partition.storage.location:
            raise MetastoreError(f"the metastore has no location for {where}", error_codes.HIVE_BAD_PARTITION)
        if self.table.snapshot is None and is_transactional(partition.parameters):
            raise InternalError(f"{where} is transactional, but its table is not")
        storage = partition_storage(partition, entry, name.name)
        if self.table.full_acid and storage.format != self.table.format:
            raise MetastoreError(
                f"{where} has the format {storage.format}; expected {self.table.format}, the table's, since the "
                "table is transactional: drop the partition",
                error_codes.HIVE_BAD_PARTITION,
            )
        columns, types = None, None
        rules: tuple[tuple[str, TextRule], ...] = ()
        file_format = format_named(storage.format)
        if file_format.asks_partition_columns:
            columns = partition_columns(partition, entry)
            types = partition_types(partition, entry, name.name)
            check_unions(partition, entry, name.name, {column.name for column in self.columns})
            rules = partition_text_rules(partition, entry)
        if storage != self.table.storage or columns is not None or types is not None:
            file_format.check(storage, declared_columns(self.table.data_columns, columns, types), where)
        return ScanLocation(
            partition.storage.location,
            storage,
            partition=name.name,
            values=name.values,
            columns=columns,
            types=types,
            bucketed=bucketed_alike(partition, entry),
            rules=rules,
        )

    def _file_splits(
        self, location: ScanLocation, file: DataFile, bucket: int | None, check: BucketCheck
    ) -> list[HiveSplit]:
        info = file.info
        whole = HiveSplit(
            info.path,
            start=0,
            length=info.size,
            file_size=info.size,
            modified_millis=info.modified_millis,
            format=location.storage.format,
            partition=location.partition,
            partition_values=location.values,
            partition_columns=location.columns,
            partition_types=location.types,
            partition_rules=location.rules,
            storage=None if location.storage == self.table.storage else location.storage,
            acid=file.acid,
            changes=file.changes,
            bucket=bucket,
            bucket_check=check if file.changes is None else BucketCheck.NONE,
        )
        constants = whole.constants()
        domains = dict(self.constraint.domains or {})
        if self.table.full_acid:
            domains = {column: domain for column, domain in domains.items() if column not in ACID_HIDDEN_COLUMNS}
        if not all(d.includes_value(constants[c.name]) for c, d in domains.items() if c.name in constants):
            return []
        hidden = {column.name for column in ACID_HIDDEN_COLUMNS} if self.table.full_acid else set()
        if not may_fit(self.table.conditions, {name: constants[name] for name in constants.keys() - hidden}):
            return []
        native = file.acid is None and file.changes is None and whole.bucket_check is BucketCheck.NONE
        native = native and self.table.aggregation is None
        native = native and self.native.is_native(info, location.storage)
        names = tuple(column.name for column in self.columns if column.name in constants) if native else ()
        cut = format_named(location.storage.format).splittable(info.path, location.storage)
        made = replace(whole, native=native, native_constants=names, splittable=cut)
        return made.ranges(self.max_split_bytes)
