"""Which batches of streaming queries a table has, in hidden files beside its rows. Driver side."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from connector_spi.errors import ConnectorError, InvalidArgumentError, StorageError
from connector_spi.names import SchemaTableName
from connector_spi.optional.streaming import StreamEpoch
from connectors.hive.transactions.conflicts import write_conflict
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["JOURNAL", "StreamAttempt", "StreamJournal", "left_folders"]

JOURNAL = ".lakeport_stream_"
"""Begins the name of a query's folder; with a dot, so that no reader looks into it."""
_QUERY = re.compile(r"[0-9A-Za-z-]{1,64}")
_NAME = re.compile(r"([0-9]{20})-([0-9a-f]{32})\.(begun|ended)")
_COMMITTED, _UNDONE = b"committed", b"undone"


@dataclass(frozen=True, slots=True)
class StreamAttempt:
    """One writer of a batch, which has begun to make its files visible.

    Attributes:
        epoch: Number of the batch.
        writer: Tells it from other writers of the same batch.
        staging: Folder of its files.
        moves: Each file, and where it goes.
        transaction: The metastore's, of a transactional table; else 0.
        write_id: Of the rows, of a transactional table; else 0.
        partitions: Texts of the key values of the partitions of a plain table that have rows in it.
    """

    epoch: int
    writer: str
    staging: str
    moves: tuple[tuple[str, str], ...]
    transaction: int = 0
    write_id: int = 0
    partitions: tuple[tuple[str, ...], ...] = ()


class StreamJournal:
    """What is known of one batch: two files for each of its writers, one when it begins and one when it has ended.

    The second one, of which there can be no other, decides what has become of the first: whoever writes it first,
    the writer or who finds it dead. In object stores nothing can be the only one: there the metastore decides of
    transactional tables, and a batch of a plain one that has begun is finished by whoever comes.

    Args:
        files: Storage.
        table: The table.
        location: Its directory.
        epoch: The batch.

    Raises:
        InvalidArgumentError: The query's name is not one of letters, digits and hyphens.
    """

    def __init__(self, files: FileSystem, table: SchemaTableName, location: str, epoch: StreamEpoch) -> None:
        if not _QUERY.fullmatch(epoch.query):
            raise InvalidArgumentError(
                f"the streaming query {epoch.query!r} cannot be recorded in {table}: expected an id of letters, digits "
                "and hyphens"
            )
        self._files = files
        self._table = table
        self._epoch = epoch
        self._folder = join_path(location, f"{JOURNAL}{epoch.query}")
        self.can_move = files.has_folders(location)
        """Whether files are moved in one step; in object stores they are not."""

    def is_written(self) -> bool:
        """Whether the rows of this batch, or of a later one of the query, are committed."""
        return any(
            number >= self._epoch.number and self._files.read_bytes(self._path(number, writer, "ended")) == _COMMITTED
            for number, writer, kind in self._entries()
            if kind == "ended"
        )

    def left(self) -> list[tuple[StreamAttempt, bool]]:
        """Writers of this batch that have not committed, and whether it is decided that they never will."""
        found = {(writer, kind) for number, writer, kind in self._entries() if number == self._epoch.number}
        left = []
        for writer in sorted(writer for writer, kind in found if kind == "begun"):
            path = self._path(self._epoch.number, writer, "ended")
            ended = self._files.read_bytes(path) if (writer, "ended") in found else None
            if ended != _COMMITTED:
                left.append((self._attempt(writer), ended == _UNDONE))
        return left

    def record_committed(self, attempt: StreamAttempt) -> None:
        """A writer's rows are visible.

        Raises:
            MetastoreError: Another writer of the batch has taken it for dead (code ``HIVE_WRITE_CONFLICT``).
            StorageError: Storage refused.
        """
        if not self._end(attempt, _COMMITTED):
            raise write_conflict(self._table, f"of the same streaming query writes its batch {attempt.epoch}, too")
        with suppress(ConnectorError):  # what is left of older batches does no harm
            for number, writer, kind in self._entries():
                if number < attempt.epoch:
                    self._files.delete_file(self._path(number, writer, kind))

    def record_undone(self, attempt: StreamAttempt) -> bool:
        """Decides that a writer's rows will never be visible; ``False`` where it has committed meanwhile."""
        return self._end(attempt, _UNDONE)

    def clear(self, attempt: StreamAttempt) -> None:
        """Nothing of a writer is left. That it has ended stays known, since it may only be slow."""
        self._files.delete_file(self._path(attempt.epoch, attempt.writer, "begun"))

    def new_attempt(
        self,
        staging: str,
        moves: Sequence[tuple[str, str]],
        *,
        transaction: int = 0,
        write_id: int = 0,
        partitions: Sequence[tuple[str, ...]] = (),
    ) -> StreamAttempt:
        """A new writer of the batch; see ``StreamAttempt``."""
        return StreamAttempt(
            self._epoch.number,
            uuid.uuid4().hex,
            staging,
            tuple(moves),
            transaction=transaction,
            write_id=write_id,
            partitions=tuple(partitions),
        )

    def record_begun(self, attempt: StreamAttempt) -> None:
        """Before the first file is moved.

        Raises:
            StorageError: Storage refused.
        """
        fields = {
            "staging": attempt.staging,
            "moves": attempt.moves,
            "transaction": attempt.transaction,
            "write_id": attempt.write_id,
            "partitions": attempt.partitions,
        }
        if not self._write(self._path(attempt.epoch, attempt.writer, "begun"), json.dumps(fields).encode()):
            raise StorageError(f"{self._folder}: there is a writer {attempt.writer} already")

    def check_alone(self, attempt: StreamAttempt) -> None:
        """After ``record_begun``: each of two writers of one batch looks when its own file is there, so one sees both.

        Raises:
            MetastoreError: Another writer has begun the batch, or has written it (code ``HIVE_WRITE_CONFLICT``).
            StorageError: Storage refused.
        """
        entries = self._entries()
        ended = {writer for _, writer, kind in entries if kind == "ended"}
        begun = {writer for number, writer, kind in entries if (number, kind) == (attempt.epoch, "begun")}
        if begun - ended - {attempt.writer} or self.is_written():
            raise write_conflict(self._table, f"of the same streaming query writes its batch {attempt.epoch}, too")

    def path_of(self, attempt: StreamAttempt) -> str:
        """The file that says what a writer has begun, for messages."""
        return self._path(attempt.epoch, attempt.writer, "begun")

    def _end(self, attempt: StreamAttempt, how: bytes) -> bool:
        path = self._path(attempt.epoch, attempt.writer, "ended")
        return self._write(path, how) or self._files.read_bytes(path) == how

    def _write(self, path: str, content: bytes) -> bool:
        """A file in one step; ``False`` where there is one of the name, which stays."""
        new = join_path(self._folder, f"{uuid.uuid4().hex}.tmp")
        self._files.write_bytes(new, content)
        if not self.can_move:
            # Whole by the copy. That there is no other yet is likely, and nothing rests on it.
            is_new = not self._files.exists(path)
            if is_new:
                self._files.copy(new, path)
            self._files.delete_file(new)
            return is_new
        try:
            self._files.move(new, path)
        except StorageError:
            if not self._files.exists(path):
                raise
            self._files.delete_file(new)
            return False
        return True

    def _attempt(self, writer: str) -> StreamAttempt:
        path = self._path(self._epoch.number, writer, "begun")
        try:
            fields = json.loads(self._files.read_bytes(path))
            moves = tuple((str(source), str(target)) for source, target in fields["moves"])
            numbers = (int(fields["transaction"]), int(fields["write_id"]))
            partitions = tuple(tuple(map(str, one)) for one in fields.get("partitions", ()))
            return StreamAttempt(self._epoch.number, writer, str(fields["staging"]), moves, *numbers, partitions)
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(f"{path} is not what Lakeport writes: {error}") from error

    def _entries(self) -> list[tuple[int, str, str]]:
        found = self._files.list(self._folder) if self._files.exists(self._folder) else ()
        named = [_NAME.fullmatch(one.name) for one in found]
        return [(int(one[1]), one[2], one[3]) for one in named if one is not None]

    def _path(self, number: int, writer: str, kind: str) -> str:
        return join_path(self._folder, f"{number:020d}-{writer}.{kind}")


def left_folders(files: FileSystem, location: str) -> frozenset[str]:
    """Folders of files that are needed to finish batches of streaming queries, in an object store.

    Args:
        files: Storage.
        location: Directory of the table.

    Raises:
        StorageError: Storage refused.
    """
    if files.has_folders(location) or not files.exists(location):
        return frozenset()
    found: set[str] = set()
    for folder in [one for one in files.list(location) if one.is_directory and one.name.startswith(JOURNAL)]:
        paths = {one.path for one in files.list(folder.path)}
        begun = [path for path in paths if path.endswith(".begun") and path[: -len("begun")] + "ended" not in paths]
        found |= {str(json.loads(files.read_bytes(path))["staging"]) for path in begun}
    return frozenset(found)
