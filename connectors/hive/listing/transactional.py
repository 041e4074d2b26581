"""The data files of a transactional table's or partition's folder, as a snapshot sees them. Driver side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from connector_spi.errors import FileMissingError
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import CHANGE_TYPE, ChangeType
from connectors.hive import error_codes
from connectors.hive.acid.changes import ChangeSpan, FileChange, RowChanges
from connectors.hive.acid.directories.changes import changed_files
from connectors.hive.acid.directories.directory import AcidFolder, acid_files, insert_only_files, list_acid_folder
from connectors.hive.acid.directories.metastore_marks import ListedFolder
from connectors.hive.acid.file import AcidFile
from connectors.hive.acid.valid_ids import MAX_ID, AcidSnapshot
from connectors.hive.handles import HiveTableHandle
from connectors.hive.listing.directories import missing_folder
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem

__all__ = ["DataFile", "TransactionalLister", "snapshot_text"]

_SHOWN_IDS = 10


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file with rows of a table.

    Attributes:
        info: The file; its size is what of it counts.
        acid: Of a full ACID table: which rows count; ``None`` where all do and row ids are not asked for.
        changes: Of a read of changes: what became of the rows.
    """

    info: FileInfo
    acid: AcidFile | None = None
    changes: RowChanges | FileChange | None = None


@dataclass(frozen=True, slots=True)
class TransactionalLister:
    """Lists folders by one snapshot.

    Attributes:
        files: Storage.
        table: The table.
        snapshot: What is visible.
        confirm: Told of each folder after it was listed, to say whether it may be read.
        row_ids_needed: Columns that tell row ids are read.
        ignore_absent: A folder that is not there has no files.
    """

    files: FileSystem
    table: HiveTableHandle
    snapshot: AcidSnapshot
    confirm: Callable[[SchemaTableName, ListedFolder], None]
    row_ids_needed: bool
    ignore_absent: bool

    def data_files(self, location: str, partition: str) -> list[DataFile]:
        """Files with rows, sorted by path.

        Raises:
            FileMissingError: The folder is not there (code ``HIVE_MISSING_PARTITION_FOLDER``), or a file was cleaned
                away (code ``HIVE_FILE_CLEANED``).
            InvalidArgumentError: The version asked for is compacted away.
            NotSupportedError: The folder is laid out in a way that is not understood.
        """
        insert_only = self.table.insert_only
        try:
            folder = list_acid_folder(self.files, location, self.snapshot, insert_only=insert_only)
        except FileMissingError as error:
            if error.code == error_codes.HIVE_FILE_CLEANED:
                raise
            if self.ignore_absent:
                return []
            raise missing_folder(location, self.table.name, partition) from error
        self.confirm(self.table.name, ListedFolder.of(folder))
        if self.table.changes is not None:
            return self._changed_files(folder, self.table.changes)
        if insert_only:
            return [DataFile(info) for info in insert_only_files(folder)]
        found = acid_files(self.files, folder, row_ids_needed=self.row_ids_needed)
        return [_data_file(one, self.row_ids_needed) for one in found]

    def _changed_files(self, folder: AcidFolder, span: ChangeSpan) -> list[DataFile]:
        domains = {column.name: domain for column, domain in (self.table.constraint.domains or {}).items()}
        domain = domains.get(CHANGE_TYPE)
        wanted = frozenset(one for one in ChangeType if domain is None or domain.includes_value(one.value))
        if span.inserts_only:
            wanted = frozenset({ChangeType.INSERT})
        found = changed_files(self.files, folder, span, wanted, row_ids_needed=self.row_ids_needed)
        if span.inserts_only and self.table.insert_only:
            return [DataFile(one.info) for one in found]
        return [DataFile(one.info, one.acid, one.change) for one in found]


def snapshot_text(snapshot: AcidSnapshot | None, changes: ChangeSpan | None = None) -> str | None:
    """A snapshot, or what is read of its history, in words, for ``EXPLAIN``."""
    if snapshot is None:
        return None
    if changes is not None:
        # Whoever asks for the changes after this span next time will not see them.
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
