"""The folder of a transactional table or partition, listed and judged by a snapshot. Driver side."""

from __future__ import annotations

from dataclasses import dataclass

from connectors.hive.acid.acid_file import AcidFile
from connectors.hive.acid.valid_ids import AcidSnapshot
from connectors.toolkit.filesystem import FileInfo, FileSystem

__all__ = ["AcidFolder", "acid_files", "insert_only_files", "list_acid_folder"]


@dataclass(frozen=True, slots=True)
class AcidFolder:
    """What a folder holds.

    Attributes:
        location: The folder.
        insert_only: It is of an insert-only table.
        snapshot: What it is judged by.
    """

    location: str
    insert_only: bool
    snapshot: AcidSnapshot


def list_acid_folder(files: FileSystem, location: str, snapshot: AcidSnapshot, *, insert_only: bool) -> AcidFolder:
    """Lists a folder once, and chooses what of it the snapshot reads.

    Raises:
        FileMissingError: The folder is not there; with the code ``HIVE_FILE_CLEANED``, something in it went away
            while it was listed: list again with a new snapshot.
        InvalidArgumentError: The snapshot's version cannot be read any more (code ``HIVE_ACID_HISTORY``).
        NotSupportedError: The folder is laid out in a way that is not understood (code ``HIVE_ACID_LAYOUT``).
    """
    raise NotImplementedError


def acid_files(files: FileSystem, folder: AcidFolder, *, row_ids_needed: bool) -> list[AcidFile]:
    """The data files of a full ACID folder, with the files of deletes that may be of their rows.

    Args:
        files: Storage: footers of original files are read, each once, where row ids are needed for them.
        folder: What was listed.
        row_ids_needed: Row ids are selected, so files without them need synthetic ones in any case.

    Raises:
        FileMissingError: A file was cleaned away (code ``HIVE_FILE_CLEANED``): list again with a new snapshot.
        NotSupportedError: Row ids are needed of a file whose name tells no bucket.
    """
    raise NotImplementedError


def insert_only_files(folder: AcidFolder) -> list[FileInfo]:
    """The data files of an insert-only folder, of any format, sorted by path."""
    raise NotImplementedError
