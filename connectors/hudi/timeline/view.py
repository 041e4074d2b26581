"""The timeline as one query sees it. Pure: from instants to a set of completed writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from connector_spi.serializable import Serializable
from connectors.hudi.timeline.instant import WRITE_ACTIONS, Instant, InstantState

__all__ = ["TimelineView", "committed_test", "timeline_view"]


@dataclass(frozen=True, slots=True)
class TimelineView(Serializable):
    """The writes that were complete when the query began; fixed in the table handle (invariant I1).

    Attributes:
        instants: Completed writes on the active timeline, by requested time; those of the archived timeline, too,
            where the query needs them.
        pending: Requested times of all actions that are on the active timeline and not complete, sorted.
        start: First completed write that is not pinned by a savepoint; files of older instants that the active
            timeline does not hold belong to archived, completed writes. ``None`` on an empty timeline.
        until: With time travel: what was requested later is not seen.
        pending_compactions: Those of ``pending`` that are compactions. In layout 1 logs may be named after them.
    """

    instants: tuple[Instant, ...]
    pending: tuple[str, ...]
    start: str | None
    until: str | None = None
    pending_compactions: tuple[str, ...] = ()

    @property
    def latest(self) -> Instant | None:
        """The completed write that was requested last."""
        return self.instants[-1] if self.instants else None

    @property
    def completed(self) -> frozenset[str]:
        """Requested times of the completed writes on the active timeline."""
        return frozenset(instant.requested for instant in self.instants)

    @property
    def completions(self) -> dict[str, str]:
        """Completion time by requested time, of layout 2."""
        return {instant.requested: instant.completion for instant in self.instants if instant.completion is not None}


def timeline_view(
    instants: Iterable[Instant], until: str | None = None, archived: Iterable[Instant] = ()
) -> TimelineView:
    """Chooses what a query may see.

    Args:
        instants: All files of the active timeline, in any order. Middle states may be missing: a listing can fall
            between the steps of a writer.
        until: With time travel: the last requested time that is seen.
        archived: Completed instants of the archived timeline, where the query needs them.
    """
    everything = list(instants)
    completed = _ordered(
        item for item in everything if item.state is InstantState.COMPLETED and item.action in WRITE_ACTIONS
    )
    finished = {item.requested for item in completed}
    # Some complete under another action: a compaction as a commit. A savepoint has the time of the write that it pins.
    ended = {
        item.requested for item in everything if item.state is InstantState.COMPLETED and item.action != "savepoint"
    }
    pending = {item.requested for item in everything if item.state is not InstantState.COMPLETED} - ended
    compactions = {item.requested for item in everything if item.action == "compaction"} & pending
    savepoints = {item.requested for item in everything if item.action == "savepoint"}
    # Archival stops at a savepoint's instant and may go on behind it, so that instant says nothing of what is
    # between it and the next (BaseHoodieTimeline.getFirstNonSavepointCommit).
    starts = [item.requested for item in completed if item.requested not in savepoints]
    start = starts[0] if starts else (completed[0].requested if completed else None)
    # Archival copies an instant before it removes it, so one can be in both.
    older = [item for item in archived if item.action in WRITE_ACTIONS and item.requested not in finished]
    seen = [item for item in _ordered([*older, *completed]) if until is None or item.requested <= until]
    return TimelineView(tuple(seen), tuple(sorted(pending)), start, until, tuple(sorted(compactions)))


def committed_test(view: TimelineView) -> Callable[[str], bool]:
    """Says of a requested time whether files written then are visible: complete, or older than the active timeline.
    With time travel, those written later are not.

    BaseHoodieTimeline.containsOrBeforeTimelineStarts; but an instant that is on the active timeline and not
    complete is never visible, however old.
    """
    completed, pending = view.completed, frozenset(view.pending)
    # What is older than both bounds; no instant is as great as a letter.
    start = view.start if view.start is not None else ""
    until = view.until if view.until is not None else "z"

    def is_committed(requested: str) -> bool:
        return requested in completed or (requested < start and requested <= until and requested not in pending)

    return is_committed


def _ordered(instants: Iterable[Instant]) -> list[Instant]:
    return sorted(instants, key=lambda item: (item.requested, item.completion or ""))
