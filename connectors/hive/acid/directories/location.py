"""The location of a transactional table or partition, listed and evaluated by a snapshot. Driver side."""

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

__all__ = ["AcidLocation", "acid_files", "insert_only_files", "list_acid_location"]

_METADATA_VERSION = "0"
_COMPACTED = "compacted"
_ORC = b"ORC"
# What the metastore writes for TRUNCATE, and for a partition dropped without a lock: an empty base without history.
_EMPTIED = ("truncated", "dropped")


@dataclass(frozen=True, slots=True)
class AcidLocation:
    """A location as listed, and the part of it that a snapshot reads.

    Attributes:
        location: Path of the table or partition.
        insert_only: Whether the table is insert-only.
        snapshot: What the statement sees.
        listing: Everything in the location.
        compacted: Names of compacted bases, by their marker file.
        state: The directories that the snapshot reads.
    """

    location: str
    insert_only: bool
    snapshot: AcidSnapshot
    listing: AcidListing
    compacted: frozenset[str]
    state: AcidState


def list_acid_location(files: FileSystem, location: str, snapshot: AcidSnapshot, *, insert_only: bool) -> AcidLocation:
    """Lists a location once, and chooses the directories that the snapshot reads.

    Raises:
        FileMissingError: The location is missing. With the code ``HIVE_FILE_CLEANED``: a file in it disappeared
            during the listing, or compaction has removed what the snapshot needs; list again with a new snapshot.
        InvalidArgumentError: The snapshot's version can no longer be read (code ``HIVE_ACID_HISTORY``).
        NotSupportedError: The location has a layout that is not supported (code ``HIVE_ACID_LAYOUT``).
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
    return AcidLocation(
        location,
        insert_only=insert_only,
        snapshot=snapshot,
        listing=listing,
        compacted=compacted,
        state=state,
    )


def acid_files(files: FileSystem, listed: AcidLocation, *, row_ids_needed: bool) -> list[AcidFile]:
    """The data files of a full ACID location, sorted by path, with the delete files that may refer to their rows.

    Args:
        files: Storage: footers of original files are read, each once, where row ids are needed for them.
        listed: The location.
        row_ids_needed: Row ids are selected, so files without them need synthetic ones in any case.

    Raises:
        FileMissingError: Hive's cleaner removed a file (code ``HIVE_FILE_CLEANED``): list again with a new snapshot.
        NotSupportedError: A file's name or directory is not supported, or row ids are needed for a file whose name
            has no bucket.
    """
    return data_files(files, listed.listing, listed.state, listed.compacted, row_ids_needed=row_ids_needed)


def insert_only_files(listed: AcidLocation) -> list[FileInfo]:
    """The data files of an insert-only location, of any format, sorted by path."""
    state, listing = listed.state, listed.listing
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
            f"{content.metadata} has version {version} and the data format {data_format!r}: expected version "
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
            # A copy that a race of two compactions left (HIVE-25600) has the name of its parent directory.
            if nested != name:
                raise _not_insert_only(listing, f"{name}/{nested} is nested in another such directory")
        for info in content.files:
            if is_flush_length_file(info.name) and is_acid_file_name(info.name.removesuffix(FLUSH_LENGTH_SUFFIX)):
                raise _not_insert_only(listing, f"{name}/{info.name} belongs to a streaming writer of full ACID files")
        # Rows of such files would be NULL in all columns. One file stands for all: one statement wrote them.
        named = next((info for info in content.files if is_acid_file_name(info.name) and info.size > 0), None)
        if named is not None and _has_acid_columns(files, named.path, listing.location):
            raise _not_insert_only(listing, f"{name}/{named.name} has the columns of full ACID files")


def _has_acid_columns(files: FileSystem, path: str, location: str) -> bool:
    with cleaned_away(location):
        with files.open(path) as file:
            is_orc = file.read(len(_ORC)) == _ORC
        return is_orc and has_acid_columns(read_orc_schema(files, path))


def _check_whole(state: AcidState, write_ids: ValidIds, location: str) -> None:
    """Checks that each directory is visible as a whole: rows of an insert-only table hold no write id.

    Compaction leaves out the rows of aborted transactions.
    """
    unaborted = replace(write_ids, aborted=())
    for one in state.directories:
        whole = one.visibility > 0 and unaborted.range_validity(one.first, one.last) is RangeValidity.ALL
        if one.name in state.partial and not whole:
            raise NotSupportedError(
                f"{location}/{one.name} is of an insert-only table, and only some of its write ids are visible; its "
                "rows hold no write ids: expected a directory of one write id, or of a compaction of ended "
                "transactions",
                error_codes.HIVE_ACID_LAYOUT,
            )


def _not_insert_only(listing: AcidListing, what: str) -> NotSupportedError:
    return NotSupportedError(
        f"{listing.location} belongs to an insert-only table, but {what}, which insert-only tables do not have; "
        "correct the table's property 'transactional_properties', or move the directory away",
        error_codes.HIVE_ACID_LAYOUT,
    )
