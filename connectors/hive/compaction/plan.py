"""What a compaction merges, and into which directories. Pure, but for the listing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.metastore.compactions import CompactionKind
from connectors.hive.acid.directories.location import AcidLocation, list_acid_location
from connectors.hive.acid.directories.state import UnreadReason
from connectors.hive.acid.layout import (
    BASE_BEFORE_TRANSACTIONS,
    AcidDirectory,
    compacted_base_name,
    compacted_delta_name,
)
from connectors.hive.acid.valid_ids import AcidSnapshot
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["CompactionPlan", "list_for_compaction", "plan_compaction"]

_OBSOLETE = (
    UnreadReason.OBSOLETE,
    UnreadReason.DUPLICATE,
    UnreadReason.ABORTED,
    UnreadReason.COMPACTION_ABORTED,
)


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """One compaction of a location.

    Attributes:
        listed: The location, and what the compaction reads of it.
        kind: What is made.
        target: Name of the directory of rows.
        delete_target: Name of the directory of delete events; ``None`` where rows are left out by them.
    """

    listed: AcidLocation
    kind: CompactionKind
    target: str
    delete_target: str | None

    @property
    def is_worthwhile(self) -> bool:
        """Whether there is more than one thing to merge (``AcidCompactionService.isEnoughToCompact``)."""
        state = self.listed.state
        count = len(state.directories)
        if self.kind is CompactionKind.MAJOR:
            originals = state.base is None and bool(self.listed.listing.originals)
            return originals or count + (state.base is not None) > 1
        return max(len(state.deltas), len(state.delete_deltas)) > 1

    @property
    def leaves_obsolete(self) -> bool:
        """Whether there is something to delete although there is nothing to merge."""
        hidden = self.listed.state.base is not None and bool(self.listed.listing.originals)
        return hidden or any(one.reason in _OBSOLETE for one in self.listed.state.unread)


def list_for_compaction(files: FileSystem, location: str, snapshot: AcidSnapshot, *, insert_only: bool) -> AcidLocation:
    """Lists a location for a compactor: it takes directories as a whole, or not at all.

    A directory of a streaming writer may hold write ids above the snapshot's highest one. Hive passes over it alone
    (``ValidCompactorWriteIdList.isWriteIdRangeValid``); here all that is as new waits, too.

    Args:
        files: Storage.
        location: The table's or partition's directory.
        snapshot: No write id in it is open.
        insert_only: The table is.

    Raises:
        FileMissingError: The location is missing.
        NotSupportedError: It has a layout that is not supported.
    """
    while True:
        listed = list_acid_location(files, location, snapshot, insert_only=insert_only)
        highest = snapshot.write_ids.high_watermark
        cut = [one.first for one in listed.state.directories if one.last > highest]
        if not cut:
            return listed
        snapshot = AcidSnapshot(snapshot.write_ids.up_to(min(cut) - 1), snapshot.transactions)


def plan_compaction(listed: AcidLocation, kind: CompactionKind, transaction: int) -> CompactionPlan:
    """Names what a compaction makes in a transaction.

    The highest write id is that of what is read, not that of the snapshot: so the base can be read by all who see it.
    """
    state = listed.state
    if kind is CompactionKind.MAJOR:
        read = [*([] if state.base is None else [state.base]), *state.directories]
        last = max((one.last for one in read), default=BASE_BEFORE_TRANSACTIONS)
        return CompactionPlan(listed, kind, compacted_base_name(last, transaction), None)
    first, last = _range(state.directories)
    target = compacted_delta_name(first, last, transaction)
    return CompactionPlan(listed, kind, target, None if listed.insert_only else f"delete_{target}")


def _range(directories: Sequence[AcidDirectory]) -> tuple[int, int]:
    if not directories:
        return 0, 0
    return min(one.first for one in directories), max(one.last for one in directories)
