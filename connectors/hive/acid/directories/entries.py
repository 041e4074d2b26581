"""What a folder of a transactional table holds, and why each part of it is read or not. Driver side; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from connector_spi.errors import InternalError
from connectors.hive.acid.directories.directory import AcidFolder
from connectors.hive.acid.directories.state import UnreadReason
from connectors.hive.acid.layout import DirectoryKind, is_flush_length_file, parse_directory
from connectors.toolkit.storage.filesystem import FileInfo

__all__ = ["ORIGINAL", "FolderEntry", "folder_entries"]

ORIGINAL = "original"
"""The kind of a file that is older than the table's transactions."""

_PARTLY = "in part: some of its transactions are not visible, so its rows are checked one by one"


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A base, delta or delete delta, or a file older than the transactions.

    Attributes:
        kind: ``base``, ``delta``, ``delete_delta`` or ``original``.
        path: The folder, or the file, from the folder that all are in.
        first: The smallest write id; of a base and of an original file the same as ``last``.
        last: The greatest write id; 0 of an original file.
        statement: Number of the statement in its transaction, or ``None``.
        visibility: The transaction of the compaction that wrote it, or ``None``.
        files: Its data files.
        size: Bytes of them.
        in_snapshot: Whether it is read.
        reason: Why not, or in what part; ``None`` where it is read as it stands.
    """

    kind: str
    path: str
    first: int
    last: int
    statement: int | None
    visibility: int | None
    files: int
    size: int
    in_snapshot: bool
    reason: str | None


def folder_entries(folder: AcidFolder) -> list[FolderEntry]:
    """Everything in a folder, in the order of paths."""
    state = folder.state
    reasons = {one.directory.name: f"{one.reason.value} {one.by}".rstrip() for one in state.unread}
    entries = []
    for name, content in folder.listing.directories.items():
        reason = reasons.get(name) or (_PARTLY if name in state.partial else None)
        entries.append(_directory_entry(name, content.files, name not in reasons, reason))
        for nested in sorted(content.nested):
            why = f"{UnreadReason.NESTED.value} {name}"
            entries.append(_directory_entry(f"{name}/{nested}", (), False, why))
    hidden_by = None if state.base is None else f"{UnreadReason.OBSOLETE.value} {state.base.name}"
    for info in folder.listing.originals:
        path = folder.listing.relative(info.path)
        entries.append(
            FolderEntry(
                kind=ORIGINAL,
                path=path,
                first=0,
                last=0,
                statement=None,
                visibility=None,
                files=1,
                size=info.size,
                in_snapshot=state.base is None,
                reason=hidden_by,
            )
        )
    return sorted(entries, key=lambda entry: entry.path)


def _directory_entry(path: str, files: Sequence[FileInfo], in_snapshot: bool, reason: str | None) -> FolderEntry:
    directory = parse_directory(path.rpartition("/")[2])
    if directory is None:
        raise InternalError(f"{path} is no folder of a transactional table")
    with_rows = [info for info in files if info.size > 0 and not is_flush_length_file(info.name)]
    return FolderEntry(
        kind=directory.kind.value,
        path=path,
        first=directory.first,
        last=directory.last,
        statement=None if directory.statement < 0 or directory.kind is DirectoryKind.BASE else directory.statement,
        visibility=directory.visibility or None,
        files=len(with_rows),
        size=sum(info.size for info in with_rows),
        in_snapshot=in_snapshot,
        reason=reason,
    )
