"""From a folder of a table to the splits of its files. Driver side."""

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
from connectors.hive.listing.directories import file_ranges
from connectors.hive.listing.transactional import DataFile
from connectors.hive.native_reading import PlainFiles
from connectors.hive.partitions.schemas import check_unions, partition_columns, partition_text_rules, partition_types
from connectors.hive.partitions.selection import PartitionName, fetch_partitions
from connectors.hive.schema.file_columns import declared_columns
from connectors.hive.schema.text_types import TextRule
from connectors.hive.transaction import HiveTransaction
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["Folder", "FolderScan", "Listed", "Lister"]

Lister = Callable[[str, str], list[DataFile]]
# Threads take files by so many at once: few, since storage that is far away is waited for.
_FILES_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Listed:
    """What became of the files of a folder.

    Attributes:
        splits: Of the files that are kept.
        kept: Number of these files.
        found: Files that are there.
        with_deletes: Files of which deletes may take rows.
        other_buckets: Files of buckets that are not read.
    """

    splits: list[HiveSplit]
    kept: int
    found: int
    with_deletes: int
    other_buckets: int


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to be listed.

    Attributes:
        location: Its path.
        storage: How its files are written.
        partition: Name of its partition; empty where the table has no partition keys.
        values: Typed value of each partition key, by name.
        columns: The partition's own names of its columns, as in ``HiveSplit``.
        types: Its own types of them.
        bucketed: Its rows were dealt out to files as the table's are.
        rules: What happens to texts of its own char and varchar columns.
    """

    location: str
    storage: FileStorage
    partition: str = ""
    values: tuple[tuple[str, Value | None], ...] = ()
    columns: tuple[str, ...] | None = None
    types: tuple[pa.DataType, ...] | None = None
    bucketed: bool = True
    rules: tuple[tuple[str, TextRule], ...] = ()


@dataclass(frozen=True, slots=True)
class FolderScan:
    """Makes the splits of one scan, folder by folder. Used by several threads.

    Attributes:
        transaction: The metastore's.
        table: The table.
        constraint: Files whose constants are not in it have no splits.
        columns: What is read.
        data_files: Lists a folder of a partition (or of the table, called "").
        plain: Tells which files the engine's own reader may have.
        max_split_bytes: Most bytes of a split.
        files: Storage.
        buckets: Which buckets are read.
    """

    transaction: HiveTransaction
    table: HiveTableHandle
    constraint: TupleDomain[ColumnHandle]
    columns: tuple[ColumnHandle, ...]
    data_files: Lister
    plain: PlainFiles
    max_split_bytes: int
    files: FileSystem
    buckets: BucketSelection

    @property
    def client(self) -> MetastoreClient:
        return self.transaction.client

    def folders(self, names: Sequence[PartitionName]) -> Iterator[Folder]:
        """The folders of partitions."""
        entry = self.transaction.table(self.table.name)
        for name, partition in fetch_partitions(self.client, self.table, names):
            yield self._folder(entry, name, partition)

    def list_folder(self, folder: Folder, pool: Executor | None = None) -> Listed:
        """Splits of a folder. Runs in threads.

        Args:
            folder: The folder.
            pool: Threads that may look into several files at once; none of them runs this.
        """
        file_format = format_named(folder.storage.format)
        found = [
            replace(file, info=info)
            for file in self.data_files(folder.location, folder.partition)
            for info in file_format.data_files(self.files, file.info)
        ]
        buckets, wanted = self.buckets.choose([file.info.path for file in found], folder.bucketed, folder.partition)
        chosen = [one for one in zip(found, buckets, strict=True) if wanted is None or one[1] in wanted]
        each = map if pool is None or self.files.is_local(folder.location) else pool.map
        parts = [chosen[at : at + _FILES_AT_ONCE] for at in range(0, len(chosen), _FILES_AT_ONCE)]
        made = [one for part in each(partial(self._splits, folder, wanted is not None), parts) for one in part]
        return Listed(
            [split for splits in made for split in splits],
            sum(map(bool, made)),
            len(found),
            sum(bool(splits and splits[0].acid and splits[0].acid.deletes) for splits in made),
            len(found) - len(chosen),
        )

    def _splits(
        self, folder: Folder, in_bucket: bool, files: Sequence[tuple[DataFile, int | None]]
    ) -> list[list[HiveSplit]]:
        return [
            self._file_splits(folder, file, bucket, self.buckets.check(bucket, chosen=in_bucket))
            for file, bucket in files
        ]

    def _folder(self, entry: Table, name: PartitionName, partition: Partition) -> Folder:
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
        if file_format.asks_partition_columns:
            columns = partition_columns(partition, entry)
            types = partition_types(partition, entry, name.name)
            check_unions(partition, entry, name.name, {column.name for column in self.columns})
            rules = partition_text_rules(partition, entry)
        if storage != self.table.storage or columns is not None or types is not None:
            file_format.check(storage, declared_columns(self.table.data_columns, columns, types), where)
        return Folder(
            location=partition.storage.location,
            storage=storage,
            partition=name.name,
            values=name.values,
            columns=columns,
            types=types,
            bucketed=bucketed_alike(partition, entry),
            rules=rules,
        )

    def _file_splits(self, folder: Folder, file: DataFile, bucket: int | None, check: BucketCheck) -> list[HiveSplit]:
        info = file.info
        whole = HiveSplit(
            path=info.path,
            start=0,
            length=info.size,
            file_size=info.size,
            modified_millis=info.modified_millis,
            format=folder.storage.format,
            partition=folder.partition,
            partition_values=folder.values,
            partition_columns=folder.columns,
            partition_types=folder.types,
            partition_rules=folder.rules,
            storage=None if folder.storage == self.table.storage else folder.storage,
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
        plain = file.acid is None and file.changes is None and whole.bucket_check is BucketCheck.NONE
        plain = plain and self.plain.is_plain(info.path, info.size, folder.storage)
        names = tuple(column.name for column in self.columns if column.name in constants) if plain else ()
        cut = format_named(folder.storage.format).splittable(info.path, folder.storage)
        ranges = file_ranges(info.size, self.max_split_bytes) if cut else [(0, info.size)]
        return [
            replace(whole, start=start, length=length, plain=plain, plain_constants=names) for start, length in ranges
        ]
