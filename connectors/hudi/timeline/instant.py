"""Instants: what the names of timeline files say (InstantGeneratorV1 and V2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from connector_spi.serializable import Serializable

__all__ = ["KNOWN_ACTIONS", "WRITE_ACTIONS", "Instant", "InstantState", "parse_instant"]

KNOWN_ACTIONS = frozenset(
    {
        "clean",
        "clustering",
        "commit",
        "compaction",
        "deltacommit",
        "indexing",
        "logcompaction",
        "replacecommit",
        "restore",
        "rollback",
        "savepoint",
        "schemacommit",
    }
)
WRITE_ACTIONS = frozenset({"commit", "deltacommit", "replacecommit"})
"""Completed actions that write or replace data files; a compaction completes as a commit, clustering as a
replacecommit, log compaction as a deltacommit."""

_NAME = re.compile(r"(\d+)(?:_(\d+))?\.([a-z]+)(?:\.(requested|inflight))?")


class InstantState(Enum):
    """How far an action is."""

    REQUESTED = "REQUESTED"
    INFLIGHT = "INFLIGHT"
    COMPLETED = "COMPLETED"


@dataclass(frozen=True, slots=True)
class Instant(Serializable):
    """One file of the timeline.

    Attributes:
        requested: When the action was requested: 17 digits, or 14 before Hudi 0.10; names the files it writes.
        action: Such as ``commit``.
        state: How far it is.
        completion: When it completed, layout 2 only. For an instant that a layout-1 table brought along, which
            has no completion time, the requested time.
        file_name: Name in the timeline's folder; of an archived instant, of the archive's file that holds it.
        archived: The instant was moved to the archived timeline.
    """

    requested: str
    action: str
    state: InstantState
    completion: str | None
    file_name: str
    archived: bool = False


def parse_instant(name: str, layout: int) -> Instant | None:
    """Reads the name of a timeline file.

    Args:
        name: Such as ``20240101000000000.commit.requested``, ``20240101000000000.inflight`` (of a commit),
            ``20240101000000000.commit`` (layout 1) or ``20240101000000000_20240101000001000.commit`` (layout 2).
        layout: 1 or 2.

    Returns:
        ``None`` for a file that is no instant.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    requested, completion, action, suffix = match.groups()
    if action == "inflight" and suffix is None:
        return Instant(requested, "commit", InstantState.INFLIGHT, None, name)
    if suffix is not None:
        return Instant(requested, action, InstantState(suffix.upper()), None, name)
    if layout == 1:
        # Layout 1 knows no completion times; such a name is not an instant there.
        return None if completion else Instant(requested, action, InstantState.COMPLETED, None, name)
    return Instant(requested, action, InstantState.COMPLETED, completion or requested, name)
