"""The data files of the chosen directories of a full ACID table. Driver side; reads side files and a few footers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from connector_spi.errors import FileMissingError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.directories.listing import AcidListing, DirectoryContent
from connectors.hive.acid.directories.originals import OriginalFiles, keyed_files
from connectors.hive.acid.directories.state import AcidState
from connectors.hive.acid.file import AcidFile, DeleteFile
from connectors.hive.acid.key_columns import has_acid_columns
from connectors.hive.acid.layout import (
    FLUSH_LENGTH_SUFFIX,
    AcidDirectory,
    DirectoryKind,
    bucket_of_file,
    is_acid_file_name,
    is_flush_length_file,
    is_original_name,
)
from connectors.toolkit.orc.footer import read_orc_footer
from connectors.toolkit.orc.reader import read_orc_schema
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem

__all__ = ["cleaned_away", "data_files", "delete_files"]

_LENGTH_BYTES = 8

DeletesByBucket = dict[int, tuple[DeleteFile, ...]]


def data_files(
    files: FileSystem, listing: AcidListing, state: AcidState, compacted: frozenset[str], *, row_ids_needed: bool
) -> list[AcidFile]:
    """The files with rows, sorted by path, each with the delete files whose events may refer to its rows.

    Raises:
        FileMissingError: Hive's cleaner removed a file (code ``HIVE_FILE_CLEANED``).
        NotSupportedError: A file's name or directory is not supported, or row ids are needed for a file without a
            bucket.
    """
    deletes = delete_files(listing, state)
    found: list[AcidFile] = []
    originals: list[OriginalFiles] = []
    with cleaned_away(listing.location):
        for directory in [*([] if state.base is None else [state.base]), *state.deltas]:
            content = listing.directories[directory.name]
            if _is_raw(files, content, directory.visibility > 0 or directory.name in compacted):
                originals.append(_loaded_files(content, deletes))
            else:
                found += _acid_format_files(files, content, directory.name in state.partial, deletes)
        if state.base is None and listing.originals:
            _check_originals(files, listing)
            originals.append(OriginalFiles(tuple(listing.originals), "", 0, -1, deletes))
        found += keyed_files(originals, row_ids_needed=row_ids_needed, count_rows=lambda path: _count_rows(files, path))
    return sorted(found, key=lambda file: file.path)


def delete_files(listing: AcidListing, state: AcidState) -> DeletesByBucket:
    """The files of delete events in the directories that are read, by bucket.

    Raises:
        NotSupportedError: A file's name is not supported.
    """
    by_bucket: dict[int, list[DeleteFile]] = {}
    for directory in state.delete_deltas:
        for info in listing.directories[directory.name].files:
            if is_flush_length_file(info.name):
                continue
            if not is_acid_file_name(info.name):
                raise _unknown_file(info, directory)
            if info.size > 0:
                deletes = DeleteFile(
                    info.path,
                    info.size,
                    info.modified_millis,
                    first=directory.first,
                    last=directory.last,
                    statement=directory.statement,
                    check_write_ids=directory.name in state.partial,
                )
                by_bucket.setdefault(bucket_of_file(info.name), []).append(deletes)
    return {bucket: tuple(found) for bucket, found in by_bucket.items()}


@contextmanager
def cleaned_away(location: str) -> Iterator[None]:
    """Raises for a file that disappeared after it was listed that Hive's cleaner may have removed it."""
    try:
        yield
    except FileMissingError as error:
        raise FileMissingError(
            f"a file of {location} disappeared while it was read; Hive's cleaner probably removed it after a "
            f"compaction: {error.message}; run the statement again",
            error_codes.HIVE_FILE_CLEANED,
        ) from error


def _qualified(deletes: Iterable[DeleteFile], directory: AcidDirectory) -> tuple[DeleteFile, ...]:
    """Delete files that may refer to rows of a directory: not those of statements that ended before it was written.

    Statements inside a range that compaction merged cannot be distinguished, so those files are kept
    (``isQualifiedDeleteDeltaForSplit`` takes a missing statement as 0, which loses them).
    """
    if directory.kind is DirectoryKind.BASE:
        return tuple(deletes)
    return tuple(
        one
        for one in deletes
        if one.last > directory.first
        or (
            one.last == directory.first
            and (min(one.statement, directory.statement) < 0 or one.statement > directory.statement)
        )
    )


def _is_raw(files: FileSystem, content: DirectoryContent, compacted: bool) -> bool:
    """Whether LOAD DATA or IMPORT wrote files without ACID columns (``MetaDataFile.isRawFormat``)."""
    named = [info for info in content.files if is_original_name(info.name) and info.size > 0]
    if not named:
        return False
    directory = content.directory
    one_write = not compacted if directory.kind is DirectoryKind.BASE else directory.first == directory.last
    mixed = [info for info in content.files if is_acid_file_name(info.name)]
    if not one_write or mixed:
        raise _unknown_file(named[0], directory)
    # One file stands for all: one statement writes a directory.
    if has_acid_columns(read_orc_schema(files, named[0].path)):
        raise _unknown_file(named[0], directory)
    return True


def _check_originals(files: FileSystem, listing: AcidListing) -> None:
    for info in listing.originals:
        if is_acid_file_name(info.name) and has_acid_columns(read_orc_schema(files, info.path)):
            raise NotSupportedError(
                f"{info.path} has the ACID columns, but is in no directory of a transaction: expected it in one such "
                f"as delta_1_1_0000 below {listing.location}; move it to its directory, or remove it",
                error_codes.HIVE_ACID_LAYOUT,
            )


def _loaded_files(content: DirectoryContent, deletes: DeletesByBucket) -> OriginalFiles:
    directory = content.directory
    rows = tuple(info for info in content.files if info.size > 0)
    for info in rows:
        # A base may hold files of any name, as Hive lists all of them.
        if directory.kind is not DirectoryKind.BASE and not is_original_name(info.name):
            raise _unknown_file(info, directory)
    qualified = {bucket: _qualified(found, directory) for bucket, found in deletes.items()}
    return OriginalFiles(rows, directory.name, directory.last, directory.statement, qualified)


def _acid_format_files(
    files: FileSystem, content: DirectoryContent, check_write_ids: bool, deletes: DeletesByBucket
) -> list[AcidFile]:
    directory = content.directory
    # Only the transaction batch of a streaming writer has files open while a part of it is committed.
    streaming = directory.kind is DirectoryKind.DELTA and directory.first != directory.last and not directory.visibility
    side_files = {info.path: info for info in content.files if is_flush_length_file(info.name)}
    found = []
    for info in content.files:
        if info.path in side_files:
            continue
        if not is_acid_file_name(info.name):
            if info.size == 0:
                continue
            raise _unknown_file(info, directory)
        side_file = side_files.get(info.path + FLUSH_LENGTH_SUFFIX) if streaming else None
        size = info.size if side_file is None else _flushed_length(files, side_file.path)
        if size > 0:
            bucket = bucket_of_file(info.name)
            found.append(
                AcidFile(
                    info.path,
                    size,
                    info.modified_millis,
                    bucket,
                    directory.name,
                    check_write_ids=check_write_ids,
                    deletes=_qualified(deletes.get(bucket, ()), directory),
                )
            )
    return found


def _flushed_length(files: FileSystem, path: str) -> int:
    """The last whole number in a side file (``OrcAcidUtils.getLastFlushLength``); 0 before the first one."""
    content = files.read_bytes(path)
    whole = len(content) // _LENGTH_BYTES * _LENGTH_BYTES
    return int.from_bytes(content[whole - _LENGTH_BYTES : whole], "big", signed=True) if whole else 0


def _count_rows(files: FileSystem, path: str) -> int:
    with files.open(path) as file:
        return read_orc_footer(file, path).rows


def _unknown_file(info: FileInfo, directory: AcidDirectory) -> NotSupportedError:
    return NotSupportedError(
        f"{info.path} is not a file that Hive writes into {directory.name}: expected bucket_N or bucket_N_ATTEMPT with "
        "the ACID columns, or in a delta or base of one LOAD DATA only files such as 000000_0 without them; another "
        "program wrote it: move it away",
        error_codes.HIVE_ACID_LAYOUT,
    )
