"""The folder of a transactional table or partition, listed and judged by a snapshot. Driver side."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from connector_spi.errors import CorruptFileError, FileMissingError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.directories.data_files import cleaned_away, data_files
from connectors.hive.acid.directories.history import check_merged, check_version, part_merged
from connectors.hive.acid.directories.listing import AcidListing, DirectoryContent, part_listing
from connectors.hive.acid.directories.state import AcidState, UnreadDirectory, UnreadReason, choose
from connectors.hive.acid.file import AcidFile
from connectors.hive.acid.key_columns import has_acid_columns
from connectors.hive.acid.layout import (
    FLUSH_LENGTH_SUFFIX,
    AcidDirectory,
    DirectoryKind,
    is_acid_file_name,
    is_flush_length_file,
)
from connectors.hive.acid.valid_ids import AcidSnapshot, RangeValidity, ValidIds
from connectors.toolkit.orc.reader import read_orc_schema
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem

__all__ = ["AcidFolder", "acid_files", "insert_only_files", "list_acid_folder"]

_METADATA_VERSION = "0"
_COMPACTED = "compacted"
_ORC = b"ORC"
# What the metastore leaves of TRUNCATE, and of a partition that was dropped without a lock: empty, and no history.
_EMPTIED = ("truncated", "dropped")


@dataclass(frozen=True, slots=True)
class AcidFolder:
    """What a folder holds, and what of it is read.

    Attributes:
        location: The folder.
        insert_only: It is of an insert-only table.
        snapshot: What it is judged by.
        listing: All of it.
        compacted: Names of bases that hold history, by their marker file.
        state: What of it the snapshot reads.
    """

    location: str
    insert_only: bool
    snapshot: AcidSnapshot
    listing: AcidListing
    compacted: frozenset[str]
    state: AcidState


def list_acid_folder(files: FileSystem, location: str, snapshot: AcidSnapshot, *, insert_only: bool) -> AcidFolder:
    """Lists a folder once, and chooses what of it the snapshot reads.

    Raises:
        FileMissingError: The folder is not there; with the code ``HIVE_FILE_CLEANED``, something in it went away
            while it was listed, or is older than what compaction has left: list again with a new snapshot.
        InvalidArgumentError: The snapshot's version cannot be read any more (code ``HIVE_ACID_HISTORY``).
        NotSupportedError: The folder is laid out in a way that is not understood (code ``HIVE_ACID_LAYOUT``).
    """
    listing = part_listing(location, _list(files, location))
    contents = listing.directories.values()
    with cleaned_away(location):
        compacted = frozenset(one.directory.name for one in contents if _is_marked_compacted(files, one))
    directories = [one.directory for one in contents]
    merged: list[AcidDirectory] = []
    if insert_only:
        _check_insert_only(files, listing)
        directories, merged = part_merged(directories, snapshot)
    state = choose(directories, compacted, snapshot, location)
    origin_known = not insert_only and not listing.originals
    check_version(directories, compacted, snapshot, state, location, origin_known=origin_known, mergeable=insert_only)
    if insert_only:
        check_merged(merged, directories, snapshot, state, location)
        _check_whole(state, snapshot.visible, location)
        state = replace(state, unread=(*state.unread, *(UnreadDirectory(one, UnreadReason.LATER) for one in merged)))
    return AcidFolder(
        location=location, insert_only=insert_only, snapshot=snapshot, listing=listing, compacted=compacted, state=state
    )


def acid_files(files: FileSystem, folder: AcidFolder, *, row_ids_needed: bool) -> list[AcidFile]:
    """The data files of a full ACID folder, sorted by path, with the delete files that may be of their rows.

    Args:
        files: Storage: footers of original files are read, each once, where row ids are needed for them.
        folder: What was listed.
        row_ids_needed: Row ids are selected, so files without them need synthetic ones in any case.

    Raises:
        FileMissingError: A file was cleaned away (code ``HIVE_FILE_CLEANED``): list again with a new snapshot.
        NotSupportedError: A file's name or position is not understood, or row ids are needed of a file whose name tells
            no bucket.
    """
    return data_files(files, folder.listing, folder.state, folder.compacted, row_ids_needed=row_ids_needed)


def insert_only_files(folder: AcidFolder) -> list[FileInfo]:
    """The data files of an insert-only folder, of any format, sorted by path."""
    state, listing = folder.state, folder.listing
    chosen = [*([] if state.base is None else [state.base]), *state.deltas]
    found = [info for one in chosen for info in listing.directories[one.name].files if info.size > 0]
    if state.base is None:
        found += listing.originals
    return sorted(found, key=lambda info: info.path)


def _list(files: FileSystem, location: str) -> list[FileInfo]:
    try:
        return files.list(location, recursive=True)
    except FileMissingError:
        if not files.exists(location):
            raise
        with cleaned_away(location):
            raise


def _is_marked_compacted(files: FileSystem, content: DirectoryContent) -> bool:
    if content.directory.kind is not DirectoryKind.BASE or content.metadata is None:
        return False
    try:
        marker = json.loads(files.read_text(content.metadata))
        version, data_format = str(marker["thisFileVersion"]), str(marker["dataFormat"]).lower()
    except (ValueError, LookupError, TypeError) as error:
        raise CorruptFileError(
            f"{content.metadata} cannot be read: {error}; expected JSON with thisFileVersion and dataFormat",
            error_codes.HIVE_ACID_LAYOUT,
        ) from error
    if version != _METADATA_VERSION or data_format not in (_COMPACTED, *_EMPTIED):
        raise NotSupportedError(
            f"{content.metadata} is of version {version} and tells of {data_format!r} data: expected version "
            f"{_METADATA_VERSION}, and one of {', '.join((_COMPACTED, *_EMPTIED))}",
            error_codes.HIVE_ACID_LAYOUT,
        )
    return data_format == _COMPACTED


def _check_insert_only(files: FileSystem, listing: AcidListing) -> None:
    for content in listing.directories.values():
        name = content.directory.name
        if content.directory.kind is DirectoryKind.DELETE_DELTA:
            raise _not_insert_only(listing, f"{name} holds deletes")
        for nested in content.nested:
            # A copy that a race of two compactions left (HIVE-25600) has its folder's own name.
            if nested != name:
                raise _not_insert_only(listing, f"{name}/{nested} lies inside of another such folder")
        for info in content.files:
            if is_flush_length_file(info.name) and is_acid_file_name(info.name.removesuffix(FLUSH_LENGTH_SUFFIX)):
                raise _not_insert_only(listing, f"{name}/{info.name} is of a streaming writer of full ACID files")
        # Rows of such files would come with NULL in all columns. One file tells of all: one statement wrote them.
        named = next((info for info in content.files if is_acid_file_name(info.name) and info.size > 0), None)
        if named is not None and _has_acid_columns(files, named.path, listing.location):
            raise _not_insert_only(listing, f"{name}/{named.name} has the columns of full ACID files")


def _has_acid_columns(files: FileSystem, path: str, location: str) -> bool:
    with cleaned_away(location):
        with files.open(path) as file:
            is_orc = file.read(len(_ORC)) == _ORC
        return is_orc and has_acid_columns(read_orc_schema(files, path))


def _check_whole(state: AcidState, write_ids: ValidIds, location: str) -> None:
    """Rows of an insert-only table hold no write id, so a folder is visible as a whole or not at all.

    Compaction has left out the rows of aborted transactions.
    """
    unaborted = replace(write_ids, aborted=())
    for one in state.directories:
        whole = one.visibility > 0 and unaborted.range_validity(one.first, one.last) is RangeValidity.ALL
        if one.name in state.partial and not whole:
            raise NotSupportedError(
                f"{location}/{one.name} is of an insert-only table, and only some of its write ids are visible; its "
                "rows do not tell theirs: expected a folder of one write id, or of a compaction of ended transactions",
                error_codes.HIVE_ACID_LAYOUT,
            )


def _not_insert_only(listing: AcidListing, what: str) -> NotSupportedError:
    return NotSupportedError(
        f"{listing.location} is of an insert-only table, and {what}, which none has; correct the table's property "
        "'transactional_properties', or move the folder away",
        error_codes.HIVE_ACID_LAYOUT,
    )
