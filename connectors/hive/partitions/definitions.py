"""Adding partitions to a table and dropping them. Driver side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
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
from connector_spi.partition_names import DEFAULT_PARTITION
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.definitions.table_formats import is_hudi_entry, is_transactional, table_location
from connectors.hive.registration.discovery import discover_partitions
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["PartitionDefinitions", "value_text"]

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
            TableNotFoundError: There is none.
            InvalidArgumentError: It has no partitions.
            NotSupportedError: Its partitions are not the metastore's alone: a view, a Hudi or a transactional table.
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
            raise InvalidArgumentError(f"{name} is no partitioned table of plain files")
        return table

    def add(self, session: ConnectorSession, table: Table, partitions: Sequence[PartitionDefinition]) -> None:
        """Adds partitions, all of them or none.

        Raises:
            UserError: One of them is there.
            FileMissingError: The folder of one is not there.
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
                    f"the folder {location} of the new partition {name} of {table.database}.{table.name} is not there"
                )
            found.append((location, values))
        self.add_folders(session, table, found)

    def add_folders(
        self, session: ConnectorSession, table: Table, found: Sequence[tuple[str, tuple[str, ...]]]
    ) -> None:
        """Adds partitions by the URI of the folder and the texts of the values of each, in batches."""
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

        _write_in_batches(found, add)

    def drop(self, table: Table, names: Sequence[str]) -> None:
        """Drops partitions by their names; files stay.

        Raises:
            UserError: One of them is not there; then none is dropped.
        """
        known = set(self._metastore.reads.get_partition_names(table.database, table.name))
        missing = [name for name in names if name not in known]
        if missing:
            raise UserError(
                f"{table.database}.{table.name} has no partition {missing[0]}", error_codes.HIVE_PARTITION_NOT_FOUND
            )
        writes = self._metastore.writes
        _write_in_batches(names, lambda batch: writes.drop_partitions(table.database, table.name, batch))

    def sync(
        self, session: ConnectorSession, table: Table, *, add: bool, drop: bool, case_sensitive: bool
    ) -> tuple[int, int]:
        """Brings the metastore's partitions in line with the folders of a table.

        A partition is dropped when its folder, wherever it is, is not there.

        Returns:
            How many were added and dropped.

        Raises:
            FileMissingError: The table's own folder is not there.
            InvalidArgumentError: Folders are partitioned by other keys.
        """
        location = table_location(table)
        keys = [key.name for key in table.partition_keys]
        found = discover_partitions(self._files, location, keys, case_sensitive=case_sensitive)
        names = self._metastore.reads.get_partition_names(table.database, table.name)
        known = {tuple(value for _, value in parse_partition_name(name)): name for name in names}
        fresh = [(join_path(location, folder), values) for folder, values in found if values not in known]
        gone = self._without_folder(table, known, {values for _, values in found}) if drop else []
        if add:
            self.add_folders(session, table, fresh)
        if gone:
            self.drop(table, gone)
        return len(fresh) if add else 0, len(gone)

    def _without_folder(
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


def value_text(value: object) -> str:
    """A partition key's value as Hive writes it into the metastore."""
    if value is None or value == "":
        return DEFAULT_PARTITION
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        text = value.replace(tzinfo=None).isoformat(" ")
        return text.rstrip("0") if value.microsecond else text
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value)


def _write_in_batches(items: Sequence[ItemT], write: Callable[[Sequence[ItemT]], None]) -> None:
    """Writes in batches, each whole or not at all, and in smaller ones where the metastore refuses.

    Databases bound the terms of a statement and its parameters, and each release of the metastore makes other
    statements of a batch: Hive's own repair goes down in size, too (``ExponentiallyDecayingBatchWork``).
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
