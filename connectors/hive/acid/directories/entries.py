"""The rows of ``t$acid``: what a location holds, and why each part is read or not. Driver side; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from connector_spi.errors import InternalError
from connectors.hive.acid.directories.location import AcidLocation
from connectors.hive.acid.directories.state import UnreadReason
from connectors.hive.acid.layout import DirectoryKind, is_flush_length_file, parse_directory
from connectors.toolkit.storage.filesystem import FileInfo

__all__ = ["ORIGINAL", "AcidEntry", "acid_entries"]

ORIGINAL = "original"
"""The kind of a file that is older than the table's transactions."""

_PARTLY = "in part: some of its transactions are not visible, so its rows are checked one by one"


@dataclass(frozen=True, slots=True)
class AcidEntry:
    """A base, delta or delete delta, or a file older than the transactions.

    Attributes:
        kind: ``base``, ``delta``, ``delete_delta`` or ``original``.
        path: The directory or file, relative to the location.
        first: The smallest write id; of a base and of an original file the same as ``last``.
        last: The greatest write id; 0 of an original file.
        statement: Number of the statement in its transaction, or ``None``.
        visibility: The transaction of the compaction that wrote it, or ``None``.
        files: Number of its data files.
        size: Bytes of these files.
        in_snapshot: Whether it is read.
        reason: Why it is not read, or only in part; ``None`` where all of it is read.
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


def acid_entries(listed: AcidLocation) -> list[AcidEntry]:
    """Everything in a location, sorted by path."""
    state = listed.state
    reasons = {one.directory.name: f"{one.reason.value} {one.by}".rstrip() for one in state.unread}
    entries = []
    for name, content in listed.listing.directories.items():
        reason = reasons.get(name) or (_PARTLY if name in state.partial else None)
        entries.append(_directory_entry(name, content.files, name not in reasons, reason))
        for nested in sorted(content.nested):
            why = f"{UnreadReason.NESTED.value} {name}"
            entries.append(_directory_entry(f"{name}/{nested}", (), False, why))
    hidden_by = None if state.base is None else f"{UnreadReason.OBSOLETE.value} {state.base.name}"
    for info in listed.listing.originals:
        path = listed.listing.relative(info.path)
        entries.append(
            AcidEntry(
                ORIGINAL,
                path,
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


def _directory_entry(path: str, files: Sequence[FileInfo], in_snapshot: bool, reason: str | None) -> AcidEntry:
    directory = parse_directory(path.rpartition("/")[2])
    if directory is None:
        raise InternalError(f"{path} is not a directory of a transactional table")
    with_rows = [info for info in files if info.size > 0 and not is_flush_length_file(info.name)]
    return AcidEntry(
        directory.kind.value,
        path,
        first=directory.first,
        last=directory.last,
        statement=None if directory.statement < 0 or directory.kind is DirectoryKind.BASE else directory.statement,
        visibility=directory.visibility or None,
        files=len(with_rows),
        size=sum(info.size for info in with_rows),
        in_snapshot=in_snapshot,
        reason=reason,
    )
