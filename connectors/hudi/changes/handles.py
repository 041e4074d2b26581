"""What of a table's changes travels to tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa

from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.optional.changes import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION
from connector_spi.predicate import TupleDomain
from connector_spi.serializable import Serializable
from connectors.hudi.handles import HudiSplit, HudiTableHandle, LogFile

__all__ = ["CHANGE_COLUMNS", "FEED_COLUMNS", "ChangedWrite", "HudiChangeSplit", "HudiChangesHandle"]

CHANGE_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    (CHANGE_TYPE, pa.string()),
    (COMMIT_VERSION, pa.string()),
    (COMMIT_TIMESTAMP, pa.timestamp("us", "UTC")),
)
"""Name and type of the columns that describe a change; the version is the write's requested time."""

FEED_COLUMNS: tuple[tuple[str, pa.DataType], ...] = tuple(
    (name, pa.string()) for name in ("op", "ts_ms", "before", "after")
)
"""Name and type of the columns of Hudi's own change feed (CDCRelation.FULL_CDC_SPARK_SCHEMA): operation ``i``, ``u`` or
``d``, requested time of the write, and the row before and after it as JSON."""


@dataclass(frozen=True, slots=True)
class ChangedWrite(Serializable):
    """A write whose changes are read.

    Attributes:
        requested: Its requested time.
        committed: When it was completed, in UTC; ``None`` is unknown.
    """

    requested: str
    committed: datetime | None


@dataclass(frozen=True, slots=True)
class HudiChangesHandle(TableHandle):
    """The changes that writes made in a table.

    Attributes:
        table: The table at its newest write, nothing pushed into it; its view has the writes.
        writes: In the order of the history.
        words: The range, for ``EXPLAIN``.
        change_logs: The table records before and after of each change in logs of their own.
        is_feed: The changes come with the columns of Hudi's own change feed, a row for each.
        constraint: What was pushed.
    """

    table: HudiTableHandle
    writes: tuple[ChangedWrite, ...]
    words: str
    change_logs: bool = False
    is_feed: bool = False
    constraint: TupleDomain[ColumnHandle] = field(default_factory=TupleDomain.all)


@dataclass(frozen=True, slots=True)
class HudiChangeSplit(Split):
    """What one write changed in one file group.

    Attributes:
        write: The write.
        before: The group's slice before it; ``None`` for a new group.
        after: The group's slice after it; ``None`` for a group that it removed.
        change_logs: Logs that record the changes; where there are some, the slices are not needed.
    """

    write: ChangedWrite
    before: HudiSplit | None
    after: HudiSplit | None
    change_logs: tuple[LogFile, ...] = ()

    @property
    def size_bytes(self) -> int:
        if self.change_logs:
            return sum(log.size for log in self.change_logs)
        return sum(side.size_bytes for side in (self.before, self.after) if side is not None)
