"""Ends what killed writers of a streaming query's batch have left half done. Driver side."""

from __future__ import annotations

from collections.abc import Callable

from connector_spi.errors import MetastoreError
from connector_spi.names import SchemaTableName
from connectors.hive import error_codes
from connectors.hive.acid.layout import DirectoryKind, parse_directory
from connectors.hive.write.publish.stream_journal import StreamAttempt, StreamJournal
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["end_killed_transactions", "take_back_killed_moves", "unknown_batch"]


def take_back_killed_moves(journal: StreamJournal, files: FileSystem, table: SchemaTableName) -> None:
    """Takes the files of a plain table back that killed writers of the batch have moved.

    First the decision, then the folder of what is not yet moved, then what was moved: a writer that is only slow moves
    nothing behind our back.

    Args:
        journal: Of the batch.
        files: Storage.
        table: The table.

    Raises:
        MetastoreError: Files are gone that no writer has taken (code ``HIVE_STREAM_BATCH_UNKNOWN``).
        StorageError: Storage refused.
    """
    for attempt, is_undone in journal.left():
        if not is_undone:
            gone = [target for source, target in attempt.moves if not (files.exists(source) or files.exists(target))]
            if gone:
                raise unknown_batch(
                    journal, attempt, table, f"{gone[0]} is gone, which another writer may have rewritten"
                )
            if not journal.record_undone(attempt):
                continue
        files.delete_folder(attempt.staging)
        for _, target in attempt.moves:
            files.delete_file(target)
        journal.clear(attempt)


def end_killed_transactions(
    journal: StreamJournal, files: FileSystem, table: SchemaTableName, is_committed: Callable[[int], bool]
) -> None:
    """Finds out whether the transactions of killed writers of the batch were committed; open ones are aborted.

    The metastore forgets aborted transactions once they are cleaned up, and then takes them for committed. So the files
    are looked at, too.

    Args:
        journal: Of the batch.
        files: Storage.
        table: The table.
        is_committed: Whether the metastore takes a transaction for committed, after it was aborted if it was open.

    Raises:
        MetastoreError: It cannot be told (code ``HIVE_STREAM_BATCH_UNKNOWN``), or the metastore failed.
        StorageError: Storage refused.
    """
    for attempt, is_undone in journal.left():
        if not is_undone:
            if is_committed(attempt.transaction) and _has_rows(journal, files, table, attempt):
                journal.record_committed(attempt)
                continue
            journal.record_undone(attempt)
        files.delete_folder(attempt.staging)
        journal.clear(attempt)


def unknown_batch(journal: StreamJournal, attempt: StreamAttempt, table: SchemaTableName, why: str) -> MetastoreError:
    """The error that says that it is not known whether a batch is there.

    Args:
        journal: Of the batch.
        attempt: A writer that was killed.
        table: The table.
        why: It is not known.
    """
    return MetastoreError(
        f"a writer of batch {attempt.epoch} of a streaming query into {table} was killed, and it is not known whether "
        f"its rows are there: {why}. See whether they are. If not, delete {journal.path_of(attempt)}, and the batch is "
        "written again; if so, write the word committed into a file of the same name that ends in .ended",
        error_codes.HIVE_STREAM_BATCH_UNKNOWN,
    )


def _has_rows(journal: StreamJournal, files: FileSystem, table: SchemaTableName, attempt: StreamAttempt) -> bool:
    there = [files.exists(target) for _, target in attempt.moves]
    if all(there):
        return True
    # Without the name of the file, and that of its delta.
    partitions = sorted({target.rsplit("/", 2)[0] for _, target in attempt.moves})
    compacted = [found for one in partitions for found in _directories_over(files, one, attempt.write_id)]
    if any(there) or compacted:
        what = f"{compacted[0]} may have its rows" if compacted else "some of its files are gone"
        raise unknown_batch(
            journal, attempt, table, f"{what}, and the metastore may have forgotten that it was aborted"
        )
    return False


def _directories_over(files: FileSystem, location: str, write_id: int) -> list[str]:
    found = []
    for one in files.list(location) if files.exists(location) else ():
        parsed = parse_directory(one.name) if one.is_directory else None
        if parsed is None or parsed.last < write_id:
            continue
        if parsed.kind is DirectoryKind.BASE or parsed.first <= write_id:
            found.append(one.path)
    return found
