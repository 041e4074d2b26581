"""The writes of a range of the timeline (CompletionTimeQueryViewV2, TimelineUtils). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from connectors.hudi.timeline.instant import Instant
from connectors.hudi.timeline.view import TimelineView

__all__ = ["EARLIEST", "is_earliest", "range_key", "views_around", "writes_in_range"]

EARLIEST = "000"
"""Before every instant."""


def is_earliest(begin: str) -> bool:
    """Whether a text means the beginning of the table: ``earliest``, ``000`` or any number of zeros."""
    return begin.lower() == "earliest" or set(begin) == {"0"}


def range_key(instant: Instant) -> str:
    """What places a write in a range: its completion time in layout 2, its requested time in layout 1.

    Writers overlap: of two writes the one that was requested first may be finished last. By completion times a reader
    that goes on from where it ended before misses none.
    """
    return instant.completion or instant.requested


def writes_in_range(instants: Iterable[Instant], begin: str, end: str | None) -> list[Instant]:
    """The writes with ``begin < key <= end``, by requested time.

    Args:
        instants: Completed writes.
        begin: Exclusive.
        end: Inclusive; ``None`` is no bound.
    """
    found = [item for item in instants if begin < range_key(item) and (end is None or range_key(item) <= end)]
    return sorted(found, key=lambda item: item.requested)


def views_around(view: TimelineView, write: Instant) -> tuple[TimelineView, TimelineView]:
    """The timeline before a write and after it, in the order of the history."""
    earlier = tuple(item for item in view.instants if range_key(item) < range_key(write))
    # A write that began later and was finished earlier is there, too.
    until = max([write.requested, *(item.requested for item in earlier)])
    # An archived write is older than the active timeline, which makes it visible unless it is said to be pending.
    before = replace(view, instants=earlier, pending=(*view.pending, write.requested), until=until)
    instants = tuple(sorted((*earlier, write), key=lambda item: item.requested))
    return before, replace(view, instants=instants, until=until)
