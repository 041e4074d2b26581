"""Which folders of a transactional table a snapshot reads (``AcidUtils.getAcidState``). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from connector_spi.errors import FileMissingError, NotSupportedError
from connector_spi.serializable import Serializable
from connectors.hive import error_codes
from connectors.hive.acid.layout import AcidDirectory, DirectoryKind
from connectors.hive.acid.valid_ids import AcidSnapshot, RangeValidity, ValidIds

__all__ = ["AcidState", "UnreadDirectory", "UnreadReason", "choose", "committed_directories", "is_usable_base"]


class UnreadReason(Enum):
    """Why a folder or file is not read; the values are sentences without their end."""

    OBSOLETE = "obsolete: its rows are in"
    OPEN = "its transaction was open"
    ABORTED = "its transaction was aborted"
    LATER = "later than the snapshot"
    HOLDS_OPEN = "it holds transactions that were open"
    COMPACTION_OPEN = "the compaction that writes it has not committed"
    COMPACTION_ABORTED = "the compaction that wrote it was aborted"
    DUPLICATE = "another compaction wrote the same again as"
    NOTHING_NEW = "nothing in it is both visible and new after"
    NESTED = "a compaction left it inside of"


@dataclass(frozen=True, slots=True)
class UnreadDirectory(Serializable):
    """A folder that is not read.

    Attributes:
        directory: The folder.
        reason: Why.
        by: The folder that has its rows, where the reason names one.
    """

    directory: AcidDirectory
    reason: UnreadReason
    by: str = ""


@dataclass(frozen=True, slots=True)
class AcidState(Serializable):
    """The folders to read.

    Attributes:
        base: The base, or ``None``: then files older than the table's transactions are read.
        directories: Deltas and delete deltas, in the order in which Hive chooses them.
        partial: Names of those of which some write ids are not visible: each row's and each event's has to be checked.
        unread: Every other folder, in the order of names.
    """

    base: AcidDirectory | None
    directories: tuple[AcidDirectory, ...]
    partial: frozenset[str]
    unread: tuple[UnreadDirectory, ...]

    @property
    def deltas(self) -> tuple[AcidDirectory, ...]:
        """Folders of inserted rows."""
        return tuple(one for one in self.directories if one.kind is DirectoryKind.DELTA)

    @property
    def delete_deltas(self) -> tuple[AcidDirectory, ...]:
        """Folders of delete events."""
        return tuple(one for one in self.directories if one.kind is DirectoryKind.DELETE_DELTA)


def choose(
    directories: Iterable[AcidDirectory], compacted: frozenset[str], snapshot: AcidSnapshot, location: str
) -> AcidState:
    """Chooses the folders whose rows together are the table as of the snapshot.

    It differs from Hive where Hive is known to be wrong: an open base is never valid (Hive 4 takes one whose id is
    the smallest open one), and of equal ranges only the newest compaction is read (HIVE-29210).

    Args:
        directories: All folders of the table or partition with a name of a transactional table.
        compacted: Names of bases that hold history, by their marker file; those of Hive 4 are known by their name.
        snapshot: What is visible.
        location: The folder that they are in, for messages.

    Raises:
        FileMissingError: The snapshot is older than what compaction has left (``ACID_NOT_ENOUGH_HISTORY``; code
            ``HIVE_FILE_CLEANED``): a new snapshot can be read.
        NotSupportedError: Two folders claim to be the same.
    """
    found = sorted(directories, key=lambda one: one.name)
    known, unread = committed_directories(found, snapshot.transactions)
    bases = [one for one in known if one.kind is DirectoryKind.BASE]
    usable = [one for one in bases if is_usable_base(one, compacted, snapshot.visible)]
    base = max(usable, key=lambda one: (one.last, _is_compacted(one, compacted), one.visibility), default=None)
    if base is None:
        _check_history(bases, compacted, snapshot, location)
    for one in bases:
        if one is not base:
            unread.append(_unread_base(one, base, compacted, snapshot.visible))
    deltas = []
    for one in known:
        if one.kind is DirectoryKind.BASE:
            continue
        if snapshot.visible.range_validity(one.first, one.last) is RangeValidity.NONE:
            unread.append(UnreadDirectory(one, _invisible(one, snapshot.visible)))
        else:
            deltas.append(one)
    taken, left = _sweep(_newest(deltas, unread, location), base, snapshot.visible)
    partial = frozenset(
        one.name for one in taken if snapshot.visible.range_validity(one.first, one.last) is RangeValidity.SOME
    )
    return AcidState(base, taken, partial, tuple(sorted([*unread, *left], key=lambda one: one.directory.name)))


def committed_directories(
    directories: Iterable[AcidDirectory], transactions: ValidIds
) -> tuple[list[AcidDirectory], list[UnreadDirectory]]:
    """Parts folders into those that are whole, and those of compactions that have not committed (HIVE-20823)."""
    known, unread = [], []
    for one in directories:
        if one.visibility == 0 or transactions.is_valid(one.visibility):
            known.append(one)
        elif transactions.is_aborted(one.visibility):
            unread.append(UnreadDirectory(one, UnreadReason.COMPACTION_ABORTED))
        else:
            unread.append(UnreadDirectory(one, UnreadReason.COMPACTION_OPEN))
    return known, unread


def is_usable_base(base: AcidDirectory, compacted: frozenset[str], write_ids: ValidIds) -> bool:
    """Whether a base can be read by write ids (``AcidUtils.isValidBase``).

    One of compaction holds history, so nothing up to its id may be open; one of INSERT OVERWRITE, LOAD or TRUNCATE is
    as valid as its own id; one of compacted files without any transaction (id of ``Long.MIN_VALUE``) always is.
    """
    if base.last < 0:
        return True
    if _is_compacted(base, compacted):
        return write_ids.is_valid_base(base.last)
    return write_ids.is_valid(base.last)


def _is_compacted(base: AcidDirectory, compacted: frozenset[str]) -> bool:
    return base.visibility > 0 or base.name in compacted


def _check_history(
    bases: Sequence[AcidDirectory], compacted: frozenset[str], snapshot: AcidSnapshot, location: str
) -> None:
    # A version of the past has a rule of its own for what was compacted after it.
    relevant = [one for one in bases if snapshot.version is None or one.last <= snapshot.version]
    if snapshot.hidden:
        relevant = [one for one in relevant if not is_usable_base(one, compacted, snapshot.write_ids)]
    oldest = min(relevant, key=lambda one: (one.last, one.name), default=None)
    if oldest is not None and _is_compacted(oldest, compacted):
        raise FileMissingError(
            f"{location} has been compacted into {oldest.name}, which holds transactions that this statement does not "
            f"see (write ids up to {snapshot.visible.high_watermark}, the smallest open one "
            f"{snapshot.visible.minimum_open}), and what was there before may be gone; run the statement again",
            error_codes.HIVE_FILE_CLEANED,
        )


def _unread_base(
    one: AcidDirectory, base: AcidDirectory | None, compacted: frozenset[str], write_ids: ValidIds
) -> UnreadDirectory:
    if base is not None and one.last <= base.last:
        return UnreadDirectory(one, UnreadReason.OBSOLETE, base.name)
    if one.last <= write_ids.high_watermark and _is_compacted(one, compacted):
        return UnreadDirectory(one, UnreadReason.HOLDS_OPEN)
    return UnreadDirectory(one, _invisible(one, write_ids))


def _invisible(one: AcidDirectory, write_ids: ValidIds) -> UnreadReason:
    if one.first > write_ids.high_watermark:
        return UnreadReason.LATER
    known = min(one.last, write_ids.high_watermark)
    if write_ids.aborted_range(one.first, known) is not RangeValidity.ALL:
        return UnreadReason.OPEN
    return UnreadReason.ABORTED if known == one.last else UnreadReason.LATER


def _newest(deltas: Iterable[AcidDirectory], unread: list[UnreadDirectory], location: str) -> list[AcidDirectory]:
    """Deltas in the order of ``ParsedDeltaLight.compareTo``, of equal ranges and statements only the newest."""
    ordered = sorted(deltas, key=lambda one: (one.first, -one.last, one.statement, -one.visibility, one.name))
    newest: dict[tuple[object, ...], AcidDirectory] = {}
    for one in ordered:
        key = (one.first, one.last, one.statement, one.kind)
        first = newest.setdefault(key, one)
        if first is one:
            continue
        if first.visibility == one.visibility:
            raise NotSupportedError(
                f"{location} has both {first.name} and {one.name}, which say that they hold the same rows; which of "
                "them the table has is not known: remove the wrong one",
                error_codes.HIVE_ACID_LAYOUT,
            )
        unread.append(UnreadDirectory(one, UnreadReason.DUPLICATE, first.name))
    return list(newest.values())


def _sweep(
    deltas: Sequence[AcidDirectory], base: AcidDirectory | None, write_ids: ValidIds
) -> tuple[tuple[AcidDirectory, ...], list[UnreadDirectory]]:
    current = 0 if base is None else base.last
    taken: list[AcidDirectory] = []
    left: list[UnreadDirectory] = []
    statement = -1
    reached = "" if base is None else base.name
    for one in deltas:
        if one.last > current:
            if write_ids.range_validity(current + 1, one.last) is RangeValidity.NONE:
                left.append(UnreadDirectory(one, UnreadReason.NOTHING_NEW, reached))
                continue
            current, statement, reached = one.last, one.statement, one.name
        elif not (one.last == current and statement >= 0) and not (taken and _is_twin(one, taken[-1])):
            left.append(UnreadDirectory(one, UnreadReason.OBSOLETE, reached))
            continue
        taken.append(one)
    return tuple(taken), left


def _is_twin(one: AcidDirectory, other: AcidDirectory) -> bool:
    """A delta and a delete delta of one statement, or of one compaction."""
    return (one.first, one.last, one.statement) == (other.first, other.last, other.statement)
