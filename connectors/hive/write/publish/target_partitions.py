"""Where rows of an insert go: the table's partitions, those that are there and those to be added. Driver side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Parameters, Partition, Table
from catalog.metastore.partitions.names import make_partition_name
from connector_spi.errors import MetastoreError, NotSupportedError, TableNotFoundError
from connectors.hive.definitions.columns import bucketed_alike
from connectors.hive.definitions.table_formats import table_location
from connectors.hive.partitions.definitions import write_in_batches
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle
from connectors.toolkit.storage.filesystem import join_path

__all__ = ["PartitionKey", "TargetPartitions"]

PartitionKey = tuple[str, ...]
"""Texts of a partition's key values, in the order of the keys; empty where the table has none."""


class TargetPartitions:
    """The partitions of one insert.

    Args:
        metastore: The metastore.
        handle: The insert.
    """

    def __init__(self, metastore: Metastore, handle: HiveInsertHandle) -> None:
        self._metastore = metastore
        self._handle = handle

    def table(self) -> Table:
        """The metastore's entry of the table, as it is now.

        Raises:
            TableNotFoundError: It is gone.
        """
        name = self._handle.name
        found = self._metastore.reads.get_table(name.schema, name.table)
        if found is None:
            raise TableNotFoundError(f"table {name} is not in the metastore")
        return found

    def known(self, table: Table, fragments: Iterable[HiveFragment]) -> Mapping[PartitionKey, Partition]:
        """The partitions of the fragments that are there.

        Raises:
            NotSupportedError: A partition is written in another way than the table.
        """
        if not self._handle.partition_keys:
            return {}
        names = sorted({self.name(fragment.partition) for fragment in fragments})
        found = self._metastore.reads.get_partitions_by_names(table.database, table.name, names)
        for partition in found:
            same = partition.storage.serde.serialization_lib == table.storage.serde.serialization_lib
            if not same or partition.storage.input_format != table.storage.input_format:
                raise NotSupportedError(
                    f"rows cannot be added to partition {self.name(partition.values)} of {self._handle.name}: its "
                    f"SerDe is {partition.storage.serde.serialization_lib}, the table's "
                    f"{table.storage.serde.serialization_lib}"
                )
            if self._handle.buckets is not None and not bucketed_alike(partition, table):
                raise NotSupportedError(
                    f"rows cannot be added to partition {self.name(partition.values)} of {self._handle.name}: it has "
                    "other buckets than the table, which ALTER TABLE has changed; write the partition anew in Hive"
                )
        return {partition.values: partition for partition in found}

    def add(self, partitions: Sequence[Partition], on_conflict: Callable[[Sequence[Partition]], None]) -> None:
        """Adds partitions, in batches.

        Args:
            partitions: The partitions.
            on_conflict: Called with the partitions of a batch of which another writer has added some since; those
                are there afterwards.
        """
        if not partitions:
            return
        database, table = partitions[0].database, partitions[0].table

        def add(batch: Sequence[Partition]) -> None:
            try:
                self._metastore.writes.add_partitions(database, table, batch)
            except MetastoreError as error:
                if error.code != metastore_codes.ALREADY_EXISTS:
                    raise
                names = [self.name(one.values) for one in batch]
                there = {one.values for one in self._metastore.reads.get_partitions_by_names(database, table, names)}
                on_conflict([one for one in batch if one.values in there])
                missing = [one for one in batch if one.values not in there]
                if missing:
                    self._metastore.writes.add_partitions(database, table, missing)

        write_in_batches(partitions, add)

    def entry(self, table: Table, values: PartitionKey, parameters: Parameters, made: int) -> Partition:
        """A partition to be added, below the table's directory.

        Args:
            table: The table.
            values: Texts of its key values.
            parameters: What is known of its rows.
            made: When, in seconds since 1970.
        """
        storage = replace(table.storage, location=self.location(table, {}, values))
        return Partition(table.database, table.name, values, storage, parameters, create_time=made)

    def add_missing(self, values: Sequence[PartitionKey], made: int) -> None:
        """Adds those of some partitions that are not there; of their rows nothing is known."""
        if not values:
            return
        table, names = self.table(), [self.name(one) for one in values]
        found = self._metastore.reads.get_partitions_by_names(table.database, table.name, names)
        there = {one.values for one in found}
        missing = [one for one in values if one not in there]
        self.add([self.entry(table, one, Parameters(), made) for one in missing], lambda added_since: None)

    def location(self, table: Table, known: Mapping[PartitionKey, Partition], values: PartitionKey) -> str:
        """The directory of a partition; where it is not there yet, below the table's."""
        found = known[values].storage.location if values in known else None
        if found:
            return found
        return join_path(table_location(table), self.name(values)) if values else table_location(table)

    def name(self, values: PartitionKey) -> str:
        """The name of a partition, such as ``ds=2024-01-01``."""
        return make_partition_name([key.name for key in self._handle.partition_keys], values)
