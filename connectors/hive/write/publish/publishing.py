"""Makes the files of an insert into a plain table visible: moves them to where readers look. Driver side."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from contextlib import ExitStack, suppress

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Parameters, Partition, Table
from connector_spi.errors import ConnectorError
from connectors.hive.definitions.table_formats import table_location
from connectors.hive.transactions.conflicts import write_conflict
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle
from connectors.hive.write.publish.bucket_files import empty_buckets, free_targets, move_fragments
from connectors.hive.write.publish.journaled_attempt import JournaledAttempt
from connectors.hive.write.publish.moved_files import MovedFiles
from connectors.hive.write.publish.recorded_statistics import OF_TABLE, RecordedStatistics, WrittenTo
from connectors.hive.write.publish.replaced_files import ReplacedFiles
from connectors.hive.write.publish.replaced_partitions import ReplacedPartitions
from connectors.hive.write.publish.row_counts import CountedWrite, by_partitions, with_counts
from connectors.hive.write.publish.stream_copies import copy_batch, finish_killed_copies
from connectors.hive.write.publish.stream_journal import StreamJournal
from connectors.hive.write.publish.stream_recovery import take_back_killed_moves
from connectors.hive.write.publish.target_partitions import PartitionKey, TargetPartitions
from connectors.hive.write.statistics.stale_statistics import drop_stale_statistics
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["REPLACED", "HiveInsert"]

REPLACED = ".lakeport_replaced_"
"""Begins the name of a folder of files that others take the place of; with a dot, as that of new files."""


class HiveInsert:
    """The files of one insert into a table of plain files.

    Files are moved one by one, so that who lists the table meanwhile may see some of them; new partitions are added
    when their files are there. Files that are replaced go last, so that at no moment there are neither.

    Args:
        metastore: The metastore.
        files: Storage.
        handle: The insert.
        made: When the statement began, in seconds since 1970.
        replaced: What loses its rows; ``None`` where rows are added.
    """

    def __init__(
        self,
        metastore: Metastore,
        files: FileSystem,
        handle: HiveInsertHandle,
        made: int,
        replaced: ReplacedPartitions | None = None,
    ) -> None:
        self._metastore = metastore
        self._files = files
        self.handle = handle
        self._made = made
        self._replaced = replaced
        self._targets = TargetPartitions(metastore, handle)
        self._statistics = RecordedStatistics(metastore, files, handle)
        self._fragments: tuple[HiveFragment, ...] = ()
        self._journal: StreamJournal | None = None
        self._attempt: JournaledAttempt | None = None
        self._moved: MovedFiles | None = None

    def begin_epoch(self, journal: StreamJournal) -> bool:
        """The rows are a batch of a streaming query: call before ``finish``.

        Returns:
            Whether they are to be written; not where they are there.

        Raises:
            MetastoreError: It cannot be told (code ``HIVE_STREAM_BATCH_UNKNOWN``).
        """
        if journal.can_move:
            take_back_killed_moves(journal, self._files, self.handle.name)
        else:
            finish_killed_copies(
                journal,
                self._files,
                self.handle.name,
                before=self._drop_statistics,
                after=lambda values: self._targets.add_missing(values, self._made),
            )
        self._journal = journal
        return not journal.is_written()

    def finish(self, fragments: Sequence[HiveFragment]) -> None:
        """All files are written.

        Raises:
            NotSupportedError: A partition is written in another way than the table.
        """
        self._fragments = tuple(fragments)
        self._targets.known(self._targets.table(), fragments)

    def publish(self, undo: ExitStack) -> None:
        """Makes all files visible, or, after an error, none of them.

        Args:
            undo: A block at whose end nothing has failed, or all is taken back.

        Raises:
            MetastoreError: Another writer has changed what is replaced (code ``HIVE_WRITE_CONFLICT``).
            ConnectorError: The metastore or storage failed.
        """
        if self._fragments or self._replaced is not None:
            self._publish(undo)

    def record_statistics(self) -> None:
        """To be called when the transaction is committed: sets the statistics of columns, where they are known."""
        if self._fragments and self._journal is None:
            self._statistics.record(self._fragments)

    def delete_replaced(self) -> None:
        """To be called when the transaction is committed: deletes what an object store has kept until then.

        Raises:
            StorageError: Storage refused.
        """
        if self._moved is not None:
            self._moved.delete_replaced()

    def discard(self) -> None:
        """Deletes what was not published, but for a batch that another one has to finish."""
        if self._attempt is None or not self._attempt.is_left:
            self._files.delete_folder(self.handle.staging)

    def _publish(self, undo: ExitStack) -> None:
        table = self._targets.table()
        known = self._targets.known_for(self._files, table, self._fragments, waits=self._replaced is None)
        by_partition = by_partitions(self._fragments)
        replaced = {} if self._replaced is None else self._replaced.find(self._metastore, by_partition)
        there = {**known, **{values: one for values, one in replaced.items() if one is not None}}
        locations = [self._targets.location(table, there, values) for values in replaced]
        self._fill_buckets(table, there, by_partition, replaced)
        new = {values: fragments for values, fragments in by_partition.items() if values and values not in there}
        before = ReplacedFiles.of(self._files, self.handle.name, locations, table_location(table))
        # Before the files: Hive answers count(*) from counts that are said to be exact.
        self._set_statistics(table, there, by_partition, undo, replaced)
        places = [
            (self._targets.location(table, there, values), fragments) for values, fragments in by_partition.items()
        ]
        moved = self._move(table, places, undo)
        self._add_partitions(table, new, undo)
        before.replace(moved)

    def _move(self, table: Table, places: Sequence[tuple[str, Sequence[HiveFragment]]], undo: ExitStack) -> MovedFiles:
        """Moves the files of each directory to it."""
        aside = join_path(table_location(table), f"{REPLACED}{uuid.uuid4().hex}")
        if self._journal is None:
            moved = undo.enter_context(MovedFiles(self._files, aside))
            self._moved = moved
            move_fragments(moved, self._files, places)
            return moved
        moves = [move for location, some in places for move in free_targets(self._files, location, some)]
        partitions = dict.fromkeys(one.partition for _, some in places for one in some if one.partition)
        attempt = self._journal.new_attempt(self.handle.staging, moves, partitions=list(partitions))
        self._attempt = JournaledAttempt(self._journal, attempt)
        undo.enter_context(self._attempt)
        if not self._journal.can_move:
            copy_batch(self._files, moves)
            return MovedFiles(self._files)
        moved = undo.enter_context(MovedFiles(self._files, aside))
        for path, target in moves:
            moved.move(path, target)
        return moved

    def _fill_buckets(
        self,
        table: Table,
        there: Mapping[PartitionKey, Partition],
        by_partition: dict[PartitionKey, list[HiveFragment]],
        replaced: Collection[PartitionKey],
    ) -> None:
        """Adds files for buckets without rows, where the session wants them."""
        for values in dict.fromkeys((*by_partition, *replaced)):
            kept = None if values in replaced else self._targets.location(table, there, values)
            empty = empty_buckets(self._files, self.handle, values, by_partition.get(values, ()), kept)
            if empty:
                by_partition[values] = [*by_partition.get(values, ()), *empty]

    def _set_statistics(
        self,
        table: Table,
        known: Mapping[PartitionKey, Partition],
        by_partition: Mapping[PartitionKey, Sequence[HiveFragment]],
        undo: ExitStack,
        replaced: Container[PartitionKey] = (),
    ) -> None:
        counted = {
            self._targets.name(values): (
                one.parameters,
                with_counts(one.parameters, by_partition.get(values, ()), replaced=values in replaced),
            )
            for values, one in known.items()
        }
        added = () if self.handle.partition_keys else self._fragments
        parameters = with_counts(table.parameters, added, replaced=() in replaced)
        undo.enter_context(CountedWrite(self._metastore, table, parameters, counted))
        written = {
            self._targets.name(values): WrittenTo(
                one.storage.location, *counted[self._targets.name(values)], replaced=values in replaced
            )
            for values, one in known.items()
        }
        if not self.handle.partition_keys:
            written = {OF_TABLE: WrittenTo(table.storage.location, table.parameters, parameters, () in replaced)}
        self._statistics.drop(table, written)

    def _drop_statistics(self, partitions: Sequence[PartitionKey]) -> None:
        drop_stale_statistics(self._metastore, self._targets.table(), [self._targets.name(one) for one in partitions])

    def _add_partitions(
        self, table: Table, new: Mapping[PartitionKey, Sequence[HiveFragment]], undo: ExitStack
    ) -> None:
        partitions = [
            self._targets.entry(table, values, with_counts(Parameters(), fragments, replaced=True), self._made)
            for values, fragments in new.items()
        ]

        def count(added_since: Sequence[Partition]) -> None:
            if added_since and self._replaced is not None:
                name = self._targets.name(added_since[0].values)
                raise write_conflict(self.handle.name, f"has added {name} meanwhile")
            # They are over the same folders, where our files are now.
            fragments = [fragment for one in added_since for fragment in new[one.values]]
            self._set_statistics(table, self._targets.known(table, fragments), new, undo)

        self._targets.add(partitions, count)
        self._statistics.add({self._targets.name(one.values): one.parameters for one in partitions})
        undo.push(self._uncounted(table, [self._targets.name(values) for values in new]))

    def _uncounted(self, table: Table, names: Sequence[str]) -> Callable[..., None]:
        """New partitions stay where the write fails, and are empty, or have another writer's rows."""

        def forget(kind: type[BaseException] | None, *_: object) -> None:
            if kind is not None and names:
                with suppress(ConnectorError):  # the first error is the one to tell
                    counts = dict.fromkeys(names, Parameters())
                    self._metastore.writes.set_partition_parameters(table.database, table.name, counts)

        return forget
