"""The data files of a table's or partition's location. Driver side; its only I/O is the listing."""

from __future__ import annotations

from dataclasses import dataclass, field

from connector_spi.errors import FileMissingError, NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.hive import error_codes
from connectors.hive.acid.layout import is_directory_name
from connectors.hive.listing.cache import ListingCache, ListingPolicy
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem, is_hidden

__all__ = ["FileLister", "missing_location"]


@dataclass(frozen=True, slots=True)
class FileLister:
    """Lists the data files of locations of tables that are not transactional.

    Attributes:
        files: Storage.
        recursive: Files in subdirectories belong to the location.
        ignore_absent: Take a missing location as empty.
        cache: Cached listings.
    """

    files: FileSystem
    recursive: bool
    ignore_absent: bool
    cache: ListingCache = field(default_factory=lambda: ListingCache(ListingPolicy()))

    def data_files(self, location: str, table: SchemaTableName, partition: str) -> list[FileInfo]:
        """Files with rows, sorted by path.

        Empty files are left out. So are files whose name, or a directory between them and ``location``, begins with
        ``_`` or ``.``, as in Hive; names above ``location`` do not matter.

        Raises:
            FileMissingError: The location is missing (code ``HIVE_MISSING_PARTITION_FOLDER``).
            NotSupportedError: The location has the layout of a transactional table.
        """
        try:
            found = self.cache.list(self.files, table, location, self.recursive)
        except FileMissingError as error:
            if self.ignore_absent:
                return []
            raise missing_location(location, table, partition) from error
        kept = []
        for info in found:
            parts = info.path[len(location.rstrip("/")) + 1 :].split("/")
            folders = parts if info.is_directory else parts[:-1]
            if any(is_hidden(part) for part in parts):
                continue
            _check_layout(folders, location, table)
            if not info.is_directory and info.size > 0:
                kept.append(info)
        return kept


def missing_location(location: str, table: SchemaTableName, partition: str) -> FileMissingError:
    """The error for the missing location of a table, or of a partition where ``partition`` names one."""
    what = f"partition {partition} of {table}" if partition else f"table {table}"
    return FileMissingError(
        f"the directory of {what} does not exist: {location}; restore it, drop the partition, or set "
        "hive.ignore-absent-partitions=true to take it as empty",
        error_codes.HIVE_MISSING_PARTITION_FOLDER,
    )


def _check_layout(folders: list[str], location: str, table: SchemaTableName) -> None:
    for folder in folders:
        if is_directory_name(folder):
            raise NotSupportedError(
                f"{location} holds the directory {folder} of a transactional table, but {table} is not transactional "
                "in the metastore; which of its rows are valid is not known: correct the table's property "
                "'transactional'",
                error_codes.HIVE_ACID_LAYOUT,
            )
