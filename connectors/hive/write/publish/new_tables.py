"""Makes tables with the rows of a query: files first, then what the metastore has of them. Driver side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from types import TracebackType

from catalog.metastore.error_codes import CONNECTION_FAILED, TIMED_OUT
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Parameters, Partition, Table
from connector_spi.errors import ConnectorError, MetastoreError
from connectors.hive.definitions.table_formats import table_location
from connectors.hive.error_codes import HIVE_COMMIT_UNKNOWN
from connectors.hive.transactions.conflicts import write_conflict
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle
from connectors.hive.write.publish.acid_publishing import AcidInsert
from connectors.hive.write.publish.bucket_files import move_fragments
from connectors.hive.write.publish.moved_files import MovedFiles
from connectors.hive.write.publish.publishing import HiveInsert
from connectors.hive.write.publish.recorded_statistics import OF_TABLE
from connectors.hive.write.publish.row_counts import by_partitions, with_counts
from connectors.hive.write.publish.target_partitions import PartitionKey, TargetPartitions
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["NewAcidInsert", "NewHiveInsert"]


class _NewTargets(TargetPartitions):
    """The partitions of a table that is not there yet: it has none."""

    def __init__(self, metastore: Metastore, handle: HiveInsertHandle, entry: Table) -> None:
        super().__init__(metastore, handle)
        self._entry = entry

    def table(self) -> Table:
        return self._entry

    def known(self, table: Table, fragments: Iterable[HiveFragment]) -> Mapping[PartitionKey, Partition]:
        return {}

    def add_new(self, partitions: Mapping[PartitionKey, Parameters], made: int) -> None:
        """Adds all partitions of the table; what is of the table itself is passed over.

        Raises:
            MetastoreError: Another writer has added some (code ``HIVE_WRITE_CONFLICT``).
        """

        def conflict(added_since: Sequence[Partition]) -> None:
            if added_since:
                name = self.name(added_since[0].values)
                raise write_conflict(self._handle.name, f"has added {name} meanwhile")

        self.add([self.entry(self._entry, *one, made) for one in partitions.items() if one[0]], conflict)

    def by_name(self, counts: Mapping[PartitionKey, Parameters]) -> dict[str, Parameters]:
        """Properties of partitions by their names; an empty one is the table's."""
        return {self.name(values) if values else OF_TABLE: one for values, one in counts.items()}


@dataclass(slots=True)
class _Creation:
    """A block in which a table is made. Where it fails, there is no table, and its files are gone.

    Where it is not known whether the metastore has committed, all stays.

    Attributes:
        metastore: The metastore.
        files: Storage.
        planned: The table.
        moved: The files.
        is_made: The table is there.
        is_unknown: It cannot be told: what was written stays.
    """

    metastore: Metastore
    files: FileSystem
    planned: Table
    moved: MovedFiles = field(init=False)
    is_made: bool = False
    is_unknown: bool = False

    def __post_init__(self) -> None:
        self.moved = MovedFiles(self.files)

    def __enter__(self) -> _Creation:
        return self

    def create(self, entry: Table) -> None:
        """Makes the table.

        Raises:
            MetastoreError: There is one, or the metastore refused; or, with a code of its own, it is not known.
        """
        self.files.create_folder(table_location(entry))
        try:
            self.metastore.writes.create_table(entry)
        except ConnectorError as error:
            if error.code not in (CONNECTION_FAILED, TIMED_OUT) or not self._is_there(entry, error):
                raise
        self.is_made = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.is_unknown = isinstance(error, ConnectorError) and error.code == HIVE_COMMIT_UNKNOWN
        if self.is_unknown:
            return
        if kind is not None and self.is_made:
            with suppress(ConnectorError):  # the first error is the one to tell
                self.metastore.writes.drop_table(self.planned.database, self.planned.name, delete_data=False)
                self.is_made = False
        self.moved.__exit__(kind, error, trace)

    def delete_directory(self) -> None:
        """Deletes the directory of a table that was not made, unless others have put something there."""
        location = table_location(self.planned)
        if self.is_made or self.planned.table_type != "MANAGED_TABLE" or not self.files.exists(location):
            return
        if not any(True for _ in self.files.list(location)):
            self.files.delete_folder(location)

    def _is_there(self, entry: Table, error: ConnectorError) -> bool:
        """Whether the metastore has made the table, though its answer was lost.

        Raises:
            MetastoreError: It cannot be told, or may be made yet.
        """
        why = error.message
        try:
            found = self.metastore.reads.get_table(entry.database, entry.name)
        except ConnectorError as second:
            found, why = None, f"{why}; {second.message}"
        else:
            if found is not None or error.code == CONNECTION_FAILED:
                return found is not None and _is_alike(found, entry)
        raise MetastoreError(
            f"the metastore did not say whether it has made table {entry.database}.{entry.name} ({why}); look whether "
            "it is there before you make it again",
            HIVE_COMMIT_UNKNOWN,
        ) from error


def _is_alike(found: Table, entry: Table) -> bool:
    return (
        table_location(found).rstrip("/") == table_location(entry).rstrip("/")
        and found.storage.columns == entry.storage.columns
        and found.partition_keys == entry.partition_keys
    )


class NewHiveInsert(HiveInsert):
    """The files of a plain table that is made with them: readers see no table, or all rows.

    Where it has partitions, they come after the table, in batches, as those of any insert.

    Args:
        metastore: The metastore.
        files: Storage.
        handle: The insert.
        made: When the statement began, in seconds since 1970.
        entry: The table.
    """

    def __init__(
        self, metastore: Metastore, files: FileSystem, handle: HiveInsertHandle, made: int, entry: Table
    ) -> None:
        super().__init__(metastore, files, handle, made)
        self._targets = self._new = _NewTargets(metastore, handle, entry)
        self._creation = _Creation(metastore, files, entry)

    def publish(self, undo: ExitStack) -> None:
        """As of other inserts; the table is made without rows, too."""
        entry, new = self._new.table(), by_partitions(self._fragments)
        self._fill_buckets(entry, {}, new, ())
        creation = undo.enter_context(self._creation)
        places = [(self._new.location(entry, {}, values), some) for values, some in new.items()]
        move_fragments(creation.moved, self._files, places)
        counts = _counts(entry, new)
        creation.create(replace(entry, parameters=counts.get((), entry.parameters)))
        self._new.add_new(counts, self._made)
        self._statistics.begin_new(entry, self._new.by_name(counts))

    def discard(self) -> None:
        """As of other inserts."""
        if not self._creation.is_unknown:
            super().discard()
            self._creation.delete_directory()


@dataclass(slots=True)
class NewAcidInsert(AcidInsert):
    """The files of a transactional table that is made with them: as in Hive, before the transaction commits.

    Attributes:
        entry: The table.
    """

    entry: Table = field(kw_only=True)
    _creation: _Creation = field(init=False)

    def __post_init__(self) -> None:
        AcidInsert.__post_init__(self)
        self._creation = _Creation(self.metastore, self.files, self.entry)

    def targets(self) -> _NewTargets:
        return _NewTargets(self.metastore, self.handle, self.entry)

    def publish(self, undo: ExitStack) -> None:
        """As of other inserts; the table is made without rows, too."""
        self.transaction.check()
        targets, new = self.targets(), by_partitions(self.fragments)
        creation = undo.enter_context(self._creation)
        self.move(creation.moved, {one: targets.location(self.entry, {}, one) for one in new}, (), undo)
        # Partitions of a transaction that is rolled back stay, and are empty.
        is_parted = bool(self.entry.partition_keys)
        counts = dict.fromkeys(new, Parameters()) if is_parted else _counts(self.entry, new)
        creation.create(replace(self.entry, parameters=counts.get((), self.entry.parameters)))
        targets.add_new(counts, self.made)
        self.statistics.begin_new(self.entry, targets.by_name(counts))
        if is_parted and counts:
            self.transaction.add_partitions(self.handle.name, list(targets.by_name(counts)))

    def discard(self) -> None:
        """As of other inserts."""
        if not self._creation.is_unknown:
            AcidInsert.discard(self)
            self._creation.delete_directory()


def _counts(entry: Table, fragments: Mapping[PartitionKey, Sequence[HiveFragment]]) -> dict[PartitionKey, Parameters]:
    """The properties, with counts, of new partitions, or of a table that has none."""
    before = Parameters() if entry.partition_keys else entry.parameters
    return {values: with_counts(before, some, replaced=True) for values, some in fragments.items()}
