"""What the files of a transactional table tell of it where no metastore does. Driver side; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.key_columns import ROW, has_acid_columns
from connectors.hive.acid.layout import (
    AcidDirectory,
    DirectoryKind,
    is_acid_file_name,
    is_directory_name,
    is_flush_length_file,
    parse_directory,
)
from connectors.hive.schema.file_columns import has_position_names
from connectors.toolkit.storage.filesystem import FileInfo, is_hidden

__all__ = ["TransactionFolders", "table_schema", "transaction_folders"]


@dataclass(frozen=True, slots=True)
class TransactionFolders:
    """The bases, deltas and delete deltas below a table's folder, in all of its partitions.

    Attributes:
        location: The table's folder.
        directories: Each by its path; empty where the table is not laid out as a transactional one.
    """

    location: str
    directories: dict[str, AcidDirectory]

    @property
    def has_deletes(self) -> bool:
        """Whether there are delete deltas, which only full ACID tables have."""
        return any(one.kind is DirectoryKind.DELETE_DELTA for one in self.directories.values())

    def newest_files(self, found: Sequence[FileInfo]) -> list[FileInfo]:
        """The files that can tell the table's columns, best first.

        Those with the ACID columns, by their names, from the greatest write id down; then the other files in these
        folders, and then those outside of them.

        Args:
            found: Data files of the table, not empty.

        Raises:
            InvalidArgumentError: There is none with rows.
        """
        # A file that a streaming writer holds open may have bytes behind its footer.
        opened = {info.path.rpartition("_flush_length")[0] for info in found if is_flush_length_file(info.name)}
        aged = [(self._age(info), info) for info in found if not is_flush_length_file(info.name)]
        rows = [(age, info) for age, info in aged if age is not None and info.path not in opened]
        if not rows:
            raise InvalidArgumentError(
                f"{self.location} holds no files with rows that tell the table's columns; expected one in a base or "
                "a delta that no writer holds open"
            )
        return [info for _, info in sorted(rows, key=lambda one: one[0], reverse=True)]

    def _age(self, info: FileInfo) -> tuple[bool, bool, int, int, str] | None:
        folder = _folder(info.path, self.location)
        if folder is None:
            return False, False, 0, 0, info.path
        directory = self.directories[folder]
        if directory.kind is DirectoryKind.DELETE_DELTA:
            return None
        return is_acid_file_name(info.name), True, directory.last, directory.statement, info.path


def transaction_folders(location: str, listed: Iterable[FileInfo]) -> TransactionFolders:
    """Finds the folders of transactions in a recursive listing, also those without files.

    Raises:
        NotSupportedError: The name of one is not understood.
    """
    found: dict[str, AcidDirectory] = {}
    for info in listed:
        folder = _folder(info.path, location, itself=info.is_directory)
        if folder is not None and folder not in found:
            directory = parse_directory(folder.rpartition("/")[2])
            if directory is not None:
                found[folder] = directory
    return TransactionFolders(location, found)


def table_schema(schema: pa.Schema, path: str) -> tuple[pa.Schema, bool]:
    """The table's own columns in a file, by position.

    Returns:
        The columns, and whether the file has the ACID columns around them.

    Raises:
        NotSupportedError: Hive wrote the columns as ``_col0``, ``_col1``, ...
    """
    acid = has_acid_columns(schema)
    inner = pa.schema(list(schema.field(ROW).type)) if acid else schema
    if has_position_names(inner):
        raise NotSupportedError(
            f"{path} calls the columns {inner.names[0]} to {inner.names[-1]}, as old Hive did, so their names are not "
            "in the files; read the table through the metastore that it belongs to, which knows them",
            error_codes.HIVE_BAD_TABLE,
        )
    return inner, acid


def _folder(path: str, location: str, *, itself: bool = False) -> str | None:
    start = len(location.rstrip("/")) + 1
    parts = path[start:].split("/")
    for depth, part in enumerate(parts if itself else parts[:-1], 1):
        if is_hidden(part):
            return None
        if is_directory_name(part):
            return path[:start] + "/".join(parts[:depth])
    return None
