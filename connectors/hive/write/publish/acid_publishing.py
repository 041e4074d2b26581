"""Moves the files of an insert into a transactional table to where its write id makes them visible. Driver side."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Parameters, Partition, Table
from connectors.hive.acid.layout import parse_directory
from connectors.hive.transactions.conflicts import write_conflict
from connectors.hive.transactions.writes import WriteTransaction
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle
from connectors.hive.write.publish.bucket_files import one_file_per_bucket
from connectors.hive.write.publish.journaled_attempt import JournaledAttempt
from connectors.hive.write.publish.moved_files import MovedFiles
from connectors.hive.write.publish.recorded_statistics import OF_TABLE, RecordedStatistics, WrittenTo
from connectors.hive.write.publish.replaced_partitions import ReplacedPartitions
from connectors.hive.write.publish.row_counts import CountedWrite, by_partitions, with_counts
from connectors.hive.write.publish.storage_requests import for_each
from connectors.hive.write.publish.stream_journal import StreamJournal
from connectors.hive.write.publish.stream_recovery import end_killed_transactions
from connectors.hive.write.publish.target_partitions import PartitionKey, TargetPartitions
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["VERSION", "VERSION_FILE", "AcidInsert"]

VERSION_FILE = "_orc_acid_version"
VERSION = b"2"


@dataclass(slots=True)
class AcidInsert:
    """The files of one insert into a transactional table.

    No file is visible before the metastore's transaction commits. New partitions are added before it, as Hive does:
    where it is rolled back, they stay and are empty. Files of a writer that was killed are below partitions that are
    there, where their write id hides them, so that the next write to the same partition is none the worse.

    Attributes:
        metastore: The metastore.
        files: Storage.
        handle: The insert.
        made: When the statement began, in seconds since 1970.
        transaction: The metastore's transaction, which is committed after ``publish``.
        replaced: What loses its rows; ``None`` where rows are added.
        fragments: What was written.
        journal: Of the batch of a streaming query that the rows are; ``None`` for others.
        statistics: Of columns, with the insert.
    """

    metastore: Metastore
    files: FileSystem
    handle: HiveInsertHandle
    made: int
    transaction: WriteTransaction
    replaced: ReplacedPartitions | None
    fragments: tuple[HiveFragment, ...] = field(default=())
    journal: StreamJournal | None = None
    statistics: RecordedStatistics = field(init=False)

    def __post_init__(self) -> None:
        self.statistics = RecordedStatistics(self.metastore, self.files, self.handle)

    def begin_epoch(self, journal: StreamJournal) -> bool:
        """The rows are a batch of a streaming query: call before ``finish``.

        Returns:
            Whether they are to be written; not where they are there.

        Raises:
            MetastoreError: It cannot be told (code ``HIVE_STREAM_BATCH_UNKNOWN``).
        """
        end_killed_transactions(journal, self.files, self.handle.name, self.transaction.end_other)
        self.journal = journal
        return not journal.is_written()

    def finish(self, fragments: Sequence[HiveFragment]) -> None:
        """All files are written.

        Raises:
            MetastoreError: The metastore has ended the transaction.
            NotSupportedError: A partition is written in another way than the table.
        """
        self.transaction.check()
        self.fragments = tuple(one_file_per_bucket(self.files, self.handle, fragments))
        targets = self.targets()
        self._check_there(targets, targets.known(targets.table(), fragments))

    def publish(self, undo: ExitStack) -> None:
        """Moves all files to where they belong; they are visible when the transaction commits.

        Args:
            undo: A block that the transaction is committed in.

        Raises:
            ConnectorError: The metastore or storage failed.
        """
        self.transaction.check()
        if self.fragments or self.replaced is not None:
            self._publish(undo)

    def record_statistics(self) -> None:
        """To be called when the transaction is committed: sets the statistics of columns, where they are known."""
        if self.fragments and self.journal is None:
            self.statistics.record(self.fragments)

    def discard(self) -> None:
        """Deletes what was not moved."""
        self.files.delete_folder(self.handle.staging)

    def targets(self) -> TargetPartitions:
        """Where the rows go."""
        return TargetPartitions(self.metastore, self.handle)

    def _check_there(self, targets: TargetPartitions, known: Mapping[PartitionKey, Partition]) -> None:
        """Rows cannot be deleted from a partition that is gone, nor may it come back for them."""
        for fragment in self.fragments:
            if fragment.deletes and fragment.partition and fragment.partition not in known:
                raise write_conflict(
                    self.handle.name, f"has dropped partition {targets.name(fragment.partition)} meanwhile"
                )

    def _publish(self, undo: ExitStack) -> None:
        targets = self.targets()
        table = targets.table()
        known = targets.known(table, self.fragments)
        self._check_there(targets, known)
        written = list(dict.fromkeys(fragment.partition for fragment in self.fragments))
        replaced = {} if self.replaced is None else self.replaced.find(self.metastore, written)
        new = [
            targets.entry(table, values, Parameters(), self.made)
            for values in written
            if values and values not in known
        ]
        # Not every metastore makes it, and readers take a partition without one for damage.
        for_each(self.files, [targets.location(table, {}, one.values) for one in new], self.files.create_folder, str)
        others: list[Partition] = []
        targets.add(new, others.extend)
        taken = {one.values for one in others}
        self.statistics.add({targets.name(one.values): one.parameters for one in new if one.values not in taken})
        # Who has added some meanwhile may have placed them elsewhere.
        known = targets.known(table, self.fragments) if new else known
        there = {**known, **{values: one for values, one in replaced.items() if one is not None}}
        locations = {values: targets.location(table, there, values) for values in (*written, *replaced)}
        for_each(self.files, list(locations.values()), self._check_not_hidden, str)
        counted = self._count(targets, table, there, replaced)
        undo.enter_context(counted)
        self._drop_statistics(targets, counted, there, replaced)
        with MovedFiles(self.files) as moved:
            self.move(moved, locations, replaced, undo)
        if self.handle.partition_keys and locations:
            self.transaction.add_partitions(self.handle.name, [targets.name(one) for one in locations])

    def _count(
        self,
        targets: TargetPartitions,
        table: Table,
        there: Mapping[PartitionKey, Partition],
        replaced: Container[PartitionKey],
    ) -> CountedWrite:
        """The counts with the write; new partitions have none, since they stay where it is rolled back."""
        by_partition = by_partitions(self.fragments)
        partitions = {
            targets.name(values): (
                one.parameters,
                with_counts(one.parameters, by_partition.get(values, ()), replaced=values in replaced),
            )
            for values, one in there.items()
        }
        of_table = with_counts(table.parameters, by_partition.get((), ()), replaced=() in replaced)
        return CountedWrite(self.metastore, table, of_table, partitions)

    def _drop_statistics(
        self,
        targets: TargetPartitions,
        counted: CountedWrite,
        there: Mapping[PartitionKey, Partition],
        replaced: Container[PartitionKey],
    ) -> None:
        table = counted.table
        written = {
            name: WrittenTo(there[values].storage.location, *counted.partitions[name], replaced=values in replaced)
            for name, values in ((targets.name(values), values) for values in there if values)
        }
        if not self.handle.partition_keys:
            written[OF_TABLE] = WrittenTo(table.storage.location, table.parameters, counted.counted, () in replaced)
        self.statistics.drop(table, written)

    def move(
        self,
        moved: MovedFiles,
        locations: Mapping[PartitionKey, str],
        replaced: Container[PartitionKey],
        undo: ExitStack,
    ) -> None:
        """Moves all files to the directories of their partitions, where their write id hides them."""
        acid = self.handle.acid
        assert acid is not None, "of a transactional table"
        targets = []
        for fragment in self.fragments:
            name = fragment.name
            if acid.base and fragment.partition not in replaced:
                name = f"{acid.delta}/{name.rpartition('/')[2]}"
            targets.append(join_path(locations[fragment.partition], name))
        moves = [(fragment.path, target) for fragment, target in zip(self.fragments, targets, strict=True)]
        if self.journal is not None:
            transaction = self.transaction.transaction
            attempt = self.journal.new_attempt(
                self.handle.staging, moves, transaction=transaction, write_id=acid.write_id
            )
            undo.enter_context(JournaledAttempt(self.journal, attempt))
        moved.move_all(moves)
        marked = {
            target.rpartition("/")[0]
            for fragment, target in zip(self.fragments, targets, strict=True)
            if acid.row_ids and not fragment.original
        }
        written = {fragment.partition for fragment in self.fragments}
        # By it readers that list files alone find a directory that has no others.
        marked |= {join_path(locations[one], acid.directory) for one in locations if one not in written}
        for directory in sorted(marked):
            moved.write(join_path(directory, VERSION_FILE), VERSION)

    def _check_not_hidden(self, location: str) -> None:
        """Rows in a base of a later write id would be all that is seen: its writer has not known of ours."""
        assert self.handle.acid is not None, "of a transactional table"
        for one in self.files.list(location) if self.files.exists(location) else ():
            found = parse_directory(one.name) if one.is_directory and one.name.startswith("base_") else None
            if found is not None and found.last > self.handle.acid.write_id:
                raise write_conflict(self.handle.name, f"has replaced the rows of {location} meanwhile, by {one.name}")
