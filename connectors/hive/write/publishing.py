"""Makes the files of an insert into a plain table visible: moves them to where readers look. Driver side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Parameters, Partition, Table
from connector_spi.errors import UserError
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle
from connectors.hive.write.moved_files import MovedFiles
from connectors.hive.write.target_partitions import PartitionKey, TargetPartitions
from connectors.toolkit.storage.filesystem import FileSystem, is_hidden, join_path

__all__ = ["HiveInsert"]

_ACCURATE = "COLUMN_STATS_ACCURATE"
# Hive's size of the rows in memory, and what Spark has counted, would be of fewer rows.
_UNKNOWN_NOW = ("rawDataSize", "spark.sql.statistics.")


class HiveInsert:
    """The files of one insert into a table of plain files.

    Files are moved one by one, so that who lists the table meanwhile may see some of them; new partitions are added
    when their files are there.

    Args:
        metastore: The metastore.
        files: Storage.
        handle: The insert.
        made: When the statement began, in seconds since 1970.
    """

    def __init__(self, metastore: Metastore, files: FileSystem, handle: HiveInsertHandle, made: int) -> None:
        self._metastore = metastore
        self._files = files
        self._handle = handle
        self._made = made
        self._targets = TargetPartitions(metastore, handle)
        self._fragments: tuple[HiveFragment, ...] = ()

    def finish(self, fragments: Sequence[HiveFragment]) -> None:
        """All files are written.

        Raises:
            NotSupportedError: A partition is written in another way than the table.
        """
        self._fragments = tuple(fragments)
        self._targets.known(self._targets.table(), fragments)

    def publish(self) -> None:
        """Makes all files visible, or, after an error, none of them.

        Raises:
            ConnectorError: The metastore or storage failed.
        """
        try:
            if self._fragments:
                self._publish()
        finally:
            self.discard()

    def discard(self) -> None:
        """Deletes what was not published."""
        self._files.delete_folder(self._handle.staging)

    def _publish(self) -> None:
        table = self._targets.table()
        known = self._targets.known(table, self._fragments)
        by_partition: dict[PartitionKey, list[HiveFragment]] = {}
        for fragment in self._fragments:
            by_partition.setdefault(fragment.partition, []).append(fragment)
        new = {values: fragments for values, fragments in by_partition.items() if values and values not in known}
        self._check_free(table, new)
        # Before the files: Hive answers count(*) from counts that are said to be exact.
        self._add_counts(table, known, by_partition)
        with MovedFiles(self._files) as moved:
            for values, fragments in by_partition.items():
                location = self._targets.location(table, known, values)
                for fragment in fragments:
                    moved.move(fragment.path, join_path(location, fragment.name))
            self._add_partitions(table, new)

    def _add_counts(
        self,
        table: Table,
        known: Mapping[PartitionKey, Partition],
        by_partition: Mapping[PartitionKey, Sequence[HiveFragment]],
    ) -> None:
        writes = self._metastore.writes
        changed = {
            self._targets.name(values): _with_counts(one.parameters, by_partition[values])
            for values, one in known.items()
        }
        if changed:
            writes.set_partition_parameters(table.database, table.name, changed)
        parameters = _with_counts(table.parameters, () if self._handle.partition_keys else self._fragments)
        if parameters != table.parameters:
            writes.alter_table(table.database, table.name, replace(table, parameters=parameters))

    def _add_partitions(self, table: Table, new: Mapping[PartitionKey, Sequence[HiveFragment]]) -> None:
        no_rows = Parameters.of({"numFiles": "0", "numRows": "0", "totalSize": "0"})
        partitions = [
            Partition(
                table.database,
                table.name,
                values,
                replace(table.storage, location=self._targets.location(table, {}, values)),
                _with_counts(no_rows, fragments),
                self._made,
            )
            for values, fragments in new.items()
        ]

        def count(added_since: Sequence[Partition]) -> None:
            # They are over the same folders, where our files are now.
            fragments = [fragment for one in added_since for fragment in new[one.values]]
            self._add_counts(table, self._targets.known(table, fragments), new)

        self._targets.add(partitions, count)

    def _check_free(self, table: Table, new: Iterable[PartitionKey]) -> None:
        """Files that lie in the folder of a partition that is not there would become rows of it."""
        for values in new:
            location = self._targets.location(table, {}, values)
            info = self._files.info(location)
            if info is not None and any(not is_hidden(one.name) for one in self._files.list(location)):
                raise UserError(
                    f"rows cannot be added to the new partition {self._targets.name(values)} of {self._handle.name}: "
                    f"there are files in {location}; add the partition with ALTER TABLE, or delete them"
                )


def _with_counts(parameters: Parameters, fragments: Sequence[HiveFragment]) -> Parameters:
    """Properties whose counts are estimates of the rows with those of fragments, and no longer said to be exact."""
    added = {
        "numFiles": len(fragments),
        "numRows": sum(fragment.rows for fragment in fragments),
        "totalSize": sum(fragment.size for fragment in fragments),
    }
    kept = {key: value for key, value in parameters.items() if key != _ACCURATE and not key.startswith(_UNKNOWN_NOW)}
    for key, count in added.items():
        before = kept.get(key, "")
        if fragments and before.isdecimal():
            kept[key] = str(int(before) + count)
    return Parameters.of(kept)
