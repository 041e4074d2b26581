"""Where rows of an insert go: the table's partitions, those that are there and those to be added. Driver side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Parameters, Partition, Table
from catalog.metastore.partitions.names import make_partition_name
from connector_spi.errors import MetastoreError, NotSupportedError, TableNotFoundError, UserError
from connectors.hive.definitions.columns import bucketed_alike
from connectors.hive.definitions.table_formats import table_location
from connectors.hive.partitions.definitions import write_in_batches
from connectors.hive.transactions.conflicts import write_conflict
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle
from connectors.hive.write.publish.storage_requests import for_each
from connectors.toolkit.storage.filesystem import FileSystem, is_hidden, join_path

__all__ = ["PartitionKey", "TargetPartitions"]

MOST_WAITED_SECONDS = 5.0
"""How long the folder of a new partition may have files before the partition is there."""
_LOOK_SECONDS = 0.05
_MOST_ASKED_FOR = 50
"""Names of partitions that may be missing; for more, all names of the table are listed first."""

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
            MetastoreError: Another one is in its place, in another directory (code ``HIVE_WRITE_CONFLICT``).
        """
        name = self._handle.name
        found = self._metastore.reads.get_table(name.schema, name.table)
        if found is None:
            raise TableNotFoundError(f"table {name} is not in the metastore")
        staging = self._handle.staging
        # Made from the table's location when the insert began.
        if join_path(table_location(found), staging.rpartition("/")[2]) != staging:
            raise write_conflict(name, "has replaced the table meanwhile")
        return found

    def known(self, table: Table, fragments: Iterable[HiveFragment]) -> Mapping[PartitionKey, Partition]:
        """The partitions of the fragments that are there.

        Raises:
            NotSupportedError: A partition is written in another way than the table.
        """
        if not self._handle.partition_keys:
            return {}
        names = sorted({self.name(fragment.partition) for fragment in fragments})
        reads = self._metastore.reads
        if len(names) > _MOST_ASKED_FOR:
            # Hive 4.0 takes 40 s to find out that a thousand names are missing.
            there = set(reads.get_partition_names(table.database, table.name))
            names = [name for name in names if name in there]
        found = reads.get_partitions_by_names(table.database, table.name, names)
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

    def known_for(
        self, files: FileSystem, table: Table, fragments: Iterable[HiveFragment], *, waits: bool
    ) -> Mapping[PartitionKey, Partition]:
        """As ``known``, for files that are about to be moved to their partitions.

        Another writer moves its files before it adds their partition. So where files lie in the folder of a partition
        that is not there, it is asked for again for a while.

        Args:
            files: Storage.
            table: The table's entry.
            fragments: The files.
            waits: Whether rows are added to what others have written.

        Raises:
            UserError: Files lie in such a folder: they would become rows of the partition.
            NotSupportedError: As of ``known``.
        """
        fragments = tuple(fragments)
        end = time.monotonic() + MOST_WAITED_SECONDS
        while True:
            known = self.known(table, fragments)
            new = dict.fromkeys(one.partition for one in fragments if one.partition and one.partition not in known)
            occupied = self._occupied(files, {self.location(table, {}, one): self.name(one) for one in new})
            if not occupied:
                return known
            if not waits or time.monotonic() > end:
                location, name = min(occupied.items())
                raise UserError(
                    f"rows cannot be added to the new partition {name} of {self._handle.name}: there are files in "
                    f"{location}; add the partition with ALTER TABLE, or delete them"
                )
            time.sleep(_LOOK_SECONDS)

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

    @staticmethod
    def _occupied(files: FileSystem, names: Mapping[str, str]) -> dict[str, str]:
        """The folders in which there are files."""
        found: dict[str, str] = {}

        def look(location: str) -> None:
            info = files.info(location)
            if info is not None and any(not is_hidden(one.name) for one in files.list(location)):
                found[location] = names[location]

        for_each(files, list(names), look, str)
        return found
