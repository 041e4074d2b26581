"""Batches of streaming queries in plain tables of object stores: what has begun is finished. Driver side.

Of two that write a file of one name, an object store lets the last one win, so that no file can decide what has become
of a batch. Nor can copies be taken back safely: one that was asked for may be done late. But a copy that is done twice
is one copy. So the file by which a batch begins says all that is to be copied, and whoever finds it does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from connector_spi.names import SchemaTableName
from connectors.hive.write.publish.storage_requests import for_each
from connectors.hive.write.publish.stream_journal import StreamAttempt, StreamJournal
from connectors.hive.write.publish.stream_recovery import unknown_batch
from connectors.hive.write.publish.target_partitions import PartitionKey
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["copy_batch", "finish_killed_copies"]


def copy_batch(files: FileSystem, moves: Sequence[tuple[str, str]]) -> None:
    """Copies staged files to where they go, those that are not there yet, and deletes the staged ones.

    Args:
        files: Storage.
        moves: Each file, and where it goes.

    Raises:
        FileMissingError: Another one has finished the batch meanwhile.
        StorageError: Storage refused; what was copied stays.
    """

    def copy(move: tuple[str, str]) -> None:
        path, target = move
        if not files.exists(target):
            files.copy(path, target)
        # So it is known later that it was copied, also where another program has rewritten its rows.
        files.delete_file(path)

    for_each(files, moves, copy, lambda one: one[1])


def finish_killed_copies(
    journal: StreamJournal,
    files: FileSystem,
    table: SchemaTableName,
    before: Callable[[Sequence[PartitionKey]], None],
    after: Callable[[Sequence[PartitionKey]], None],
) -> None:
    """Finishes what a killed writer of a batch has begun.

    Args:
        journal: Of the batch.
        files: Storage.
        table: The table.
        before: Is called with the partitions that get rows, before they are visible.
        after: Is called with them when all files are there.

    Raises:
        MetastoreError: It cannot be told what has become of the batch (code ``HIVE_STREAM_BATCH_UNKNOWN``).
        StorageError: Storage refused.
    """
    left = journal.left()
    begun = [attempt for attempt, is_undone in left if not is_undone]
    if journal.is_written():
        # The others have seen that they were not alone, and have copied nothing.
        for attempt in begun:
            journal.record_undone(attempt)
    elif len(begun) > 1:
        raise unknown_batch(journal, begun[0], table, "another writer has begun it, too, and one of them may go on")
    else:
        for attempt in begun:
            before(attempt.partitions)
            _finish(journal, files, table, attempt)
            after(attempt.partitions)
            journal.record_committed(attempt)
    for attempt, _ in left:
        files.delete_folder(attempt.staging)
        journal.clear(attempt)


def _finish(journal: StreamJournal, files: FileSystem, table: SchemaTableName, attempt: StreamAttempt) -> None:
    gone = [target for path, target in attempt.moves if not (files.exists(path) or files.exists(target))]
    if gone:
        raise unknown_batch(journal, attempt, table, f"{gone[0]} is gone, which another writer may have rewritten")
    copy_batch(files, attempt.moves)
