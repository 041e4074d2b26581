"""Which files the new ones of an overwrite take the place of, and whether another writer is at them, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from connector_spi.errors import FileMissingError, NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.hive.transactions.conflicts import write_conflict
from connectors.hive.write.publish.moved_files import MovedFiles
from connectors.hive.write.publish.storage_requests import for_each
from connectors.toolkit.storage.filesystem import FileSystem, is_hidden

__all__ = ["ReplacedFiles"]


@dataclass(frozen=True, slots=True)
class ReplacedFiles:
    """The files of partitions before new ones come. Of two overwrites at once one is refused, or both.

    Attributes:
        files: Storage.
        table: The table.
        by_location: The files by directory of a partition, or of the table.
    """

    files: FileSystem
    table: SchemaTableName
    by_location: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, files: FileSystem, table: SchemaTableName, locations: Iterable[str], root: str) -> ReplacedFiles:
        """The files that are there now.

        Args:
            files: Storage.
            table: The table.
            locations: Directories of the partitions, or of the table where it has none.
            root: The table's own directory.

        Raises:
            NotSupportedError: A partition has a directory in which there may be others.
        """
        found: dict[str, frozenset[str]] = {}

        def look(location: str) -> None:
            found[location] = _data_files(files, location)

        given = tuple(dict.fromkeys(locations))
        for location in given:
            if location.rstrip("/") != root.rstrip("/") and f"{root.rstrip('/')}/".startswith(
                f"{location.rstrip('/')}/"
            ):
                raise NotSupportedError(
                    f"rows of {table} cannot be replaced: a partition is in {location}, above the table's directory "
                    f"{root}; give it a directory of its own"
                )
        for_each(files, given, look, str)
        return cls(files, table, found)

    def replace(self, moved: MovedFiles) -> None:
        """Takes them away, after the new files have come.

        Raises:
            MetastoreError: Another writer has added or replaced rows meanwhile (code ``HIVE_WRITE_CONFLICT``).
            StorageError: Storage refused.
        """
        for_each(self.files, list(self.by_location), lambda one: self._check(one, moved.there), str)
        for before in self.by_location.values():
            for path in sorted(before):
                try:
                    moved.replace(path)
                except FileMissingError as error:
                    raise write_conflict(self.table, f"has removed {path} meanwhile") from error

    def _check(self, location: str, moved: frozenset[str]) -> None:
        before = self.by_location[location]
        # Whoever has moved files in before our look sees ours in his, or we see his.
        now = _data_files(self.files, location)
        others = now - before - moved
        if others:
            raise write_conflict(self.table, f"has added {min(others)} meanwhile")
        if before - now:
            raise write_conflict(self.table, f"has removed {min(before - now)} meanwhile")
        if not now - before and not self.files.has_folders(location):
            # Readers take a directory that is not there for damage; this one was there by its files alone.
            self.files.create_folder(location)


def _data_files(files: FileSystem, location: str) -> frozenset[str]:
    if not files.exists(location):
        return frozenset()
    skipped = len(location.rstrip("/")) + 1
    return frozenset(
        one.path
        for one in files.list(location, recursive=True)
        if not one.is_directory and not any(map(is_hidden, one.path[skipped:].split("/")))
    )
