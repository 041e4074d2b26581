"""Makes the files of an insert visible: moves them to where the table's readers look. Driver side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Parameters, Partition, Table
from catalog.metastore.partitions.names import make_partition_name
from connector_spi.errors import MetastoreError, NotSupportedError, TableNotFoundError, UserError
from connectors.hive.definitions.table_formats import table_location
from connectors.hive.partitions.definitions import write_in_batches
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle
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
        self._fragments: tuple[HiveFragment, ...] = ()

    def finish(self, fragments: Sequence[HiveFragment]) -> None:
        """All files are written.

        Raises:
            NotSupportedError: A partition is written in another way than the table.
        """
        self._fragments = tuple(fragments)
        self._known(self._table())

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
        table = self._table()
        known = self._known(table)
        by_partition: dict[tuple[str, ...], list[HiveFragment]] = {}
        for fragment in self._fragments:
            by_partition.setdefault(fragment.partition, []).append(fragment)
        new = {values: fragments for values, fragments in by_partition.items() if values and values not in known}
        self._check_free(table, new)
        # Before the files: Hive answers count(*) from counts that are said to be exact.
        self._add_counts(table, known, by_partition)
        moved: list[str] = []
        try:
            for values, fragments in by_partition.items():
                location = known[values].storage.location if values in known else self._location(table, values)
                for fragment in fragments:
                    target = join_path(location or table_location(table), fragment.file_name)
                    self._files.move(fragment.path, target)
                    moved.append(target)
            self._add_partitions(table, new)
        except BaseException:
            for path in moved:
                self._files.delete_file(path)
            raise

    def _table(self) -> Table:
        name = self._handle.name
        found = self._metastore.reads.get_table(name.schema, name.table)
        if found is None:
            raise TableNotFoundError(f"table {name} is not in the metastore")
        return found

    def _known(self, table: Table) -> Mapping[tuple[str, ...], Partition]:
        """The partitions of the fragments that are there, by their values."""
        if not self._handle.partition_keys:
            return {}
        names = sorted({self._name(fragment.partition) for fragment in self._fragments})
        found = self._metastore.reads.get_partitions_by_names(table.database, table.name, names)
        for partition in found:
            same = partition.storage.serde.serialization_lib == table.storage.serde.serialization_lib
            if not same or partition.storage.input_format != table.storage.input_format:
                raise NotSupportedError(
                    f"rows cannot be added to partition {self._name(partition.values)} of {self._handle.name}: its "
                    f"SerDe is {partition.storage.serde.serialization_lib}, the table's "
                    f"{table.storage.serde.serialization_lib}"
                )
        return {partition.values: partition for partition in found}

    def _add_counts(
        self,
        table: Table,
        known: Mapping[tuple[str, ...], Partition],
        by_partition: Mapping[tuple[str, ...], Sequence[HiveFragment]],
    ) -> None:
        writes = self._metastore.writes
        changed = {
            self._name(values): _with_counts(one.parameters, by_partition[values]) for values, one in known.items()
        }
        if changed:
            writes.set_partition_parameters(table.database, table.name, changed)
        parameters = _with_counts(table.parameters, () if self._handle.partition_keys else self._fragments)
        if parameters != table.parameters:
            writes.alter_table(table.database, table.name, replace(table, parameters=parameters))

    def _add_partitions(self, table: Table, new: Mapping[tuple[str, ...], Sequence[HiveFragment]]) -> None:
        partitions = {
            values: Partition(
                table.database,
                table.name,
                values,
                replace(table.storage, location=self._location(table, values)),
                _with_counts(Parameters.of({"numFiles": "0", "numRows": "0", "totalSize": "0"}), fragments),
                self._made,
            )
            for values, fragments in new.items()
        }

        def add(batch: Sequence[Partition]) -> None:
            try:
                self._metastore.writes.add_partitions(table.database, table.name, batch)
            except MetastoreError as error:
                if error.code != metastore_codes.ALREADY_EXISTS:
                    raise
                # Another writer has added some since, over the same folders, where our files are now.
                there = self._known(table)
                self._add_counts(table, {one.values: there[one.values] for one in batch if one.values in there}, new)
                missing = [one for one in batch if one.values not in there]
                if missing:
                    self._metastore.writes.add_partitions(table.database, table.name, missing)

        write_in_batches(list(partitions.values()), add)

    def _check_free(self, table: Table, new: Iterable[tuple[str, ...]]) -> None:
        """Files that lie in the folder of a partition that is not there would become rows of it."""
        for values in new:
            location = self._location(table, values)
            info = self._files.info(location)
            if info is not None and any(not is_hidden(one.name) for one in self._files.list(location)):
                raise UserError(
                    f"rows cannot be added to the new partition {self._name(values)} of {self._handle.name}: there are "
                    f"files in {location}; add the partition with ALTER TABLE, or delete them"
                )

    def _location(self, table: Table, values: tuple[str, ...]) -> str:
        return join_path(table_location(table), self._name(values)) if values else table_location(table)

    def _name(self, values: tuple[str, ...]) -> str:
        return make_partition_name([key.name for key in self._handle.partition_keys], values)


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
