"""Adds partitions to a table and drops them. Driver side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.definitions import location_uri
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Partition, StorageDescriptor, Table
from catalog.metastore.partitions.names import make_partition_name, parse_partition_name
from connector_spi.errors import (
    FileMissingError,
    InvalidArgumentError,
    MetastoreError,
    NotSupportedError,
    TableNotFoundError,
    UserError,
)
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import PartitionDefinition
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.definitions.table_formats import is_hudi_entry, is_transactional, table_location
from connectors.hive.partitions.key_texts import value_text
from connectors.hive.registration.discovery import discover_partitions
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["PartitionDefinitions", "write_in_batches"]

_BATCH = 200
_SMALLEST_BATCH = 50

ItemT = TypeVar("ItemT")


class PartitionDefinitions:
    """Changes the partitions of tables of plain files.

    Args:
        metastore: The metastore.
        files: Storage.
    """

    def __init__(self, metastore: Metastore, files: FileSystem) -> None:
        self._metastore = metastore
        self._files = files

    def table(self, name: SchemaTableName) -> Table:
        """A table whose partitions can be changed.

        Raises:
            TableNotFoundError: The table does not exist.
            InvalidArgumentError: It is not partitioned.
            NotSupportedError: It is a view, a Hudi table or a transactional table.
        """
        table = self._metastore.reads.get_table(name.schema, name.table)
        if table is None:
            raise TableNotFoundError(f"table {name} is not in the metastore")
        if is_transactional(table.parameters):
            raise NotSupportedError(
                f"{name} is a transactional table: only Hive can add partitions to it or drop them, since each belongs "
                "to a transaction; use Hive's ALTER TABLE or MSCK REPAIR TABLE",
                error_codes.HIVE_TRANSACTIONAL_TABLE,
            )
        if table.is_view or is_hudi_entry(table):
            kind = "a view" if table.is_view else "a Hudi table, which keeps its partitions itself"
            raise NotSupportedError(f"the partitions of {name} cannot be changed: it is {kind}")
        if not table.partition_keys:
            raise InvalidArgumentError(f"{name} is not a partitioned table of plain files")
        return table

    def add(self, session: ConnectorSession, table: Table, partitions: Sequence[PartitionDefinition]) -> None:
        """Adds partitions, all of them or none.

        Raises:
            UserError: One of them exists already.
            FileMissingError: The location of one does not exist.
        """
        keys = [key.name for key in table.partition_keys]
        found = []
        for partition in partitions:
            values = tuple(value_text(value) for value in partition.values)
            name = make_partition_name(keys, values)
            location = partition.location or join_path(table_location(table), name)
            location = location_uri(location)
            if not self._files.exists(location):
                raise FileMissingError(
                    f"the directory {location} of the new partition {name} of {table.database}.{table.name} does not "
                    "exist"
                )
            found.append((location, values))
        self.add_locations(session, table, found)

    def add_locations(
        self, session: ConnectorSession, table: Table, found: Sequence[tuple[str, tuple[str, ...]]]
    ) -> None:
        """Adds partitions, given the URI and the key values as text of each, in batches."""
        storage = table.storage
        made = int(session.start.timestamp())

        def add(batch: Sequence[tuple[str, tuple[str, ...]]]) -> None:
            partitions = [
                Partition(
                    table.database,
                    table.name,
                    values,
                    StorageDescriptor(
                        storage.columns, location, storage.input_format, storage.output_format, serde=storage.serde
                    ),
                    create_time=made,
                )
                for location, values in batch
            ]
            self._metastore.writes.add_partitions(table.database, table.name, partitions)

        write_in_batches(found, add)

    def drop(self, table: Table, names: Sequence[str]) -> None:
        """Drops partitions by their names; files stay.

        Raises:
            UserError: One of them does not exist; then none is dropped.
        """
        known = set(self._metastore.reads.get_partition_names(table.database, table.name))
        missing = [name for name in names if name not in known]
        if missing:
            raise UserError(
                f"{table.database}.{table.name} has no partition {missing[0]}", error_codes.HIVE_PARTITION_NOT_FOUND
            )
        writes = self._metastore.writes
        write_in_batches(names, lambda batch: writes.drop_partitions(table.database, table.name, batch))

    def sync(
        self, session: ConnectorSession, table: Table, *, add: bool, drop: bool, case_sensitive: bool
    ) -> tuple[int, int]:
        """Brings the metastore's partitions in line with the directories of a table.

        A partition is dropped when its location, wherever it is, does not exist.

        Returns:
            The numbers of partitions added and dropped.

        Raises:
            FileMissingError: The table's own directory does not exist.
            InvalidArgumentError: The directories are partitioned by other keys.
        """
        location = table_location(table)
        keys = [key.name for key in table.partition_keys]
        found = discover_partitions(self._files, location, keys, case_sensitive=case_sensitive)
        names = self._metastore.reads.get_partition_names(table.database, table.name)
        known = {tuple(value for _, value in parse_partition_name(name)): name for name in names}
        fresh = [(join_path(location, folder), values) for folder, values in found if values not in known]
        gone = self._without_location(table, known, {values for _, values in found}) if drop else []
        if add:
            self.add_locations(session, table, fresh)
        if gone:
            self.drop(table, gone)
        return len(fresh) if add else 0, len(gone)

    def _without_location(
        self, table: Table, known: Mapping[tuple[str, ...], str], found: set[tuple[str, ...]]
    ) -> list[str]:
        doubtful = [name for values, name in known.items() if values not in found]
        gone: list[str] = []
        for batch in _batches(doubtful):
            partitions = self._metastore.reads.get_partitions_by_names(table.database, table.name, batch)
            by_values = {partition.values: partition.storage.location for partition in partitions}
            for name in batch:
                folder = by_values.get(tuple(value for _, value in parse_partition_name(name)))
                if folder is not None and not self._files.exists(folder):
                    gone.append(name)
        return gone


def write_in_batches(items: Sequence[ItemT], write: Callable[[Sequence[ItemT]], None]) -> None:
    """Writes in batches, each completely or not at all, and in smaller ones where the metastore refuses.

    Args:
        items: What is written.
        write: Writes some of them, all or none.

    Databases limit the terms and parameters of a statement, and releases of the metastore differ in the statements
    they make of a batch. Hive's own repair also reduces the size (``ExponentiallyDecayingBatchWork``).
    """
    size, start = _BATCH, 0
    while start < len(items):
        batch = items[start : start + size]
        try:
            write(batch)
        except MetastoreError as error:
            if error.code != metastore_codes.REFUSED_REQUEST or len(batch) <= _SMALLEST_BATCH:
                raise
            size = max(_SMALLEST_BATCH, len(batch) // 4)
        else:
            start += len(batch)


def _batches(items: Sequence[ItemT]) -> Iterator[list[ItemT]]:
    remaining = iter(items)
    while batch := list(islice(remaining, _BATCH)):
        yield batch
