"""The listing of a location, parted into directories of transactions and files older than these. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.layout import METADATA_FILE, AcidDirectory, is_directory_name, parse_directory
from connectors.toolkit.storage.filesystem import FileInfo, is_hidden

__all__ = ["AcidListing", "DirectoryContent", "part_listing"]

# How Hadoop's first connectors for object stores mark an empty directory.
_FOLDER_MARKER = "_$folder$"
_RUNNING = "-tmp."
"""Begins a directory in which a statement of Hive 4 that runs lists its files: ``-tmp.delta_.../000000_0.manifest``."""


@dataclass(slots=True)
class DirectoryContent:
    """The files of a base, delta or delete delta.

    Attributes:
        directory: The directory.
        files: Files that are not hidden, including empty ones, sorted by path.
        metadata: Path of its ``_metadata_acid``, or ``None``.
        nested: Directories of transactions inside it, by relative path: copies that a race of two compactions left
            (HIVE-25600). Their files are not in ``files``.
    """

    directory: AcidDirectory
    files: list[FileInfo] = field(default_factory=list)
    metadata: str | None = None
    nested: set[str] = field(default_factory=set)


@dataclass(slots=True)
class AcidListing:
    """The location of a transactional table or partition, as listed.

    Attributes:
        location: Its path.
        directories: Its bases, deltas and delete deltas by name, including those without files.
        originals: Files outside these, at any depth, without hidden and empty ones, sorted by path.
    """

    location: str
    directories: dict[str, DirectoryContent] = field(default_factory=dict)
    originals: list[FileInfo] = field(default_factory=list)

    def relative(self, path: str) -> str:
        """A path relative to the location."""
        return path[len(self.location.rstrip("/")) + 1 :]


def part_listing(location: str, found: Iterable[FileInfo]) -> AcidListing:
    """Parts a recursive listing.

    Directories of statements of Hive that run are skipped.
    Names that begin with ``_`` or ``.`` are skipped anywhere below ``location``, and nowhere above it. But a
    directory that holds nothing else still counts: the empty base of a TRUNCATE hides what is older.

    Raises:
        NotSupportedError: A directory has a name or parent that is not supported.
    """
    listing = AcidListing(location)
    for info in sorted(found, key=lambda info: info.path):
        parts = listing.relative(info.path).split("/")
        if not info.is_directory and info.size == 0 and parts[-1].endswith(_FOLDER_MARKER):
            parts[-1] = parts[-1].removesuffix(_FOLDER_MARKER)
            _add(listing, info, parts, is_directory=True)
        else:
            _add(listing, info, parts, is_directory=info.is_directory)
    return listing


def _add(listing: AcidListing, info: FileInfo, parts: list[str], is_directory: bool) -> None:
    if is_hidden(parts[0]) or parts[0].startswith(_RUNNING):
        return
    directory = parse_directory(parts[0]) if is_directory or len(parts) > 1 else None
    if directory is None:
        _add_original(listing, info, parts, is_directory)
        return
    content = listing.directories.setdefault(directory.name, DirectoryContent(directory))
    inner = parts[1:]
    folders = inner if is_directory else inner[:-1]
    if any(is_hidden(folder) for folder in folders):
        return
    for depth, folder in enumerate(folders):
        if is_directory_name(folder):
            content.nested.add("/".join(folders[: depth + 1]))
            return
    if is_directory:
        return
    if inner == [METADATA_FILE]:
        content.metadata = info.path
    elif not is_hidden(inner[-1]):
        content.files.append(info)


def _add_original(listing: AcidListing, info: FileInfo, parts: list[str], is_directory: bool) -> None:
    if any(is_hidden(part) for part in parts):
        return
    for folder in parts if is_directory else parts[:-1]:
        if is_directory_name(folder):
            raise NotSupportedError(
                f"{listing.location} has the directory {folder} of a transactional table below another directory: "
                f"{'/'.join(parts)}; it is a partition that the metastore does not know, or was put there by mistake",
                error_codes.HIVE_ACID_LAYOUT,
            )
    if not is_directory and info.size > 0:
        listing.originals.append(info)
