"""The data files of a transactional table's or partition's location, as a snapshot sees them. Driver side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from connector_spi.errors import FileMissingError
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import CHANGE_TYPE, ChangeType
from connectors.hive import error_codes
from connectors.hive.acid.changes import ChangeSpan, FileChange, RowChanges
from connectors.hive.acid.directories.changes import changed_files
from connectors.hive.acid.directories.location import AcidLocation, acid_files, insert_only_files, list_acid_location
from connectors.hive.acid.directories.unknown_ids import UnknownIds
from connectors.hive.acid.file import AcidFile
from connectors.hive.acid.valid_ids import MAX_ID, AcidSnapshot
from connectors.hive.handles import HiveTableHandle
from connectors.hive.listing.file_lister import missing_location
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem

__all__ = ["DataFile", "TransactionalLister", "snapshot_text"]

_SHOWN_IDS = 10


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file with rows of a table.

    Attributes:
        info: The file; its size is the bytes that are read.
        acid: Of a full ACID table: which rows are read; ``None`` for all, without row ids.
        changes: In a read of changes: what happened to the rows.
    """

    info: FileInfo
    acid: AcidFile | None = None
    changes: RowChanges | FileChange | None = None


@dataclass(frozen=True, slots=True)
class TransactionalLister:
    """Lists the locations of a transactional table by one snapshot.

    Attributes:
        files: Storage.
        table: The table.
        snapshot: What is visible.
        confirm: Called after each listing with the unknown ids of the location; raises where it must not be read.
        row_ids_needed: Columns with row ids are read.
        ignore_absent: Take a missing location as empty.
    """

    files: FileSystem
    table: HiveTableHandle
    snapshot: AcidSnapshot
    confirm: Callable[[SchemaTableName, UnknownIds], None]
    row_ids_needed: bool
    ignore_absent: bool

    def data_files(self, location: str, partition: str) -> list[DataFile]:
        """Files with rows, sorted by path.

        Raises:
            FileMissingError: The location is missing (code ``HIVE_MISSING_PARTITION_FOLDER``), or Hive's cleaner
                removed a file (code ``HIVE_FILE_CLEANED``).
            InvalidArgumentError: The version asked for is compacted away.
            NotSupportedError: The location has a layout that is not supported.
        """
        insert_only = self.table.insert_only
        try:
            listed = list_acid_location(self.files, location, self.snapshot, insert_only=insert_only)
        except FileMissingError as error:
            if error.code == error_codes.HIVE_FILE_CLEANED:
                raise
            if self.ignore_absent:
                return []
            raise missing_location(location, self.table.name, partition) from error
        self.confirm(self.table.name, UnknownIds.of(listed))
        if self.table.changes is not None:
            return self._changed_files(listed, self.table.changes)
        if insert_only:
            return [DataFile(info) for info in insert_only_files(listed)]
        found = acid_files(self.files, listed, row_ids_needed=self.row_ids_needed)
        return [_data_file(one, self.row_ids_needed) for one in found]

    def _changed_files(self, listed: AcidLocation, span: ChangeSpan) -> list[DataFile]:
        domains = {column.name: domain for column, domain in (self.table.constraint.domains or {}).items()}
        types = domains.get(CHANGE_TYPE)
        wanted = frozenset(one for one in ChangeType if types is None or types.includes_value(one.value))
        if span.inserts_only:
            wanted = frozenset({ChangeType.INSERT})
        found = changed_files(self.files, listed, span, wanted, row_ids_needed=self.row_ids_needed)
        if span.inserts_only and self.table.insert_only:
            return [DataFile(one.info) for one in found]
        return [DataFile(one.info, one.acid, one.change) for one in found]


def snapshot_text(snapshot: AcidSnapshot | None, changes: ChangeSpan | None = None) -> str | None:
    """A snapshot, or the changes that are read, in words, for ``EXPLAIN``."""
    if snapshot is None:
        return None
    if changes is not None:
        # A reader that continues after this span will not see them.
        running = [str(one) for one in snapshot.write_ids.open if changes.after < one <= changes.last]
        more = f" and {len(running) - _SHOWN_IDS} more" if len(running) > _SHOWN_IDS else ""
        without = f", without those of open write ids {' '.join(running[:_SHOWN_IDS])}{more}" if running else ""
        return f"{changes}{without}"
    if snapshot.version is not None:
        return f"version {snapshot.version}"
    ids = snapshot.write_ids
    hidden = [f"{len(ids.open)} open"] * bool(ids.open) + [f"{len(ids.aborted)} aborted"] * bool(ids.aborted)
    upto = "all write ids" if ids.high_watermark == MAX_ID else f"write id {ids.high_watermark}"
    return f"{upto} without {' and '.join(hidden)}" if hidden else upto


def _data_file(file: AcidFile, row_ids_needed: bool) -> DataFile:
    info = FileInfo(file.path, file.size, file.modified_millis, is_directory=False)
    whole = file.original and not file.deletes and not file.check_write_ids and not row_ids_needed
    return DataFile(info, None if whole else file)
