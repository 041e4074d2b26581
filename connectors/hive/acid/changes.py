"""The write ids whose changes are read, and what a file contributes to them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, ChangeRange, ChangeType
from connector_spi.predicate import Value
from connector_spi.serializable import Serializable
from connectors.hive.acid.delete_set import Int64s, Mask
from connectors.hive.acid.file import DeleteFile
from connectors.hive.acid.valid_ids import MAX_ID, ValidIds

__all__ = ["BEFORE_ALL", "CHANGE_COLUMNS", "ChangeSpan", "FileChange", "RowChanges", "change_span"]

BEFORE_ALL = -1
"""The position before write id 0, which files older than a table's transactions have."""

CHANGE_COLUMNS = (
    ColumnHandle(CHANGE_TYPE, pa.string()),
    ColumnHandle(COMMIT_VERSION, pa.int64()),
    ColumnHandle(COMMIT_TIMESTAMP, pa.timestamp("us", "UTC")),
)
"""Columns that describe a change. The time is always NULL: Hive does not record when a write id was committed."""


@dataclass(frozen=True, slots=True)
class ChangeSpan(Serializable):
    """The committed write ids whose changes are read.

    Attributes:
        after: Start of the range, exclusive; ``BEFORE_ALL`` for all write ids.
        last: End of the range, inclusive.
        delivered: Write ids up to this one were read earlier and are skipped, except those in ``late``.
        late: Write ids up to ``delivered`` that committed later and are read now, ascending.
        inserts_only: Read inserted rows with the columns of the table, and no other changes.
    """

    after: int
    last: int
    delivered: int = BEFORE_ALL
    late: tuple[int, ...] = ()
    inserts_only: bool = False

    def __str__(self) -> str:
        first = "the beginning" if self.after == BEFORE_ALL else f"write id {self.after + 1}"
        return f"changes from {first} to {'the newest' if self.last == MAX_ID else self.last}"

    def includes(self, write_ids: Int64s) -> Mask:
        """Which of the write ids, all within the range, are read."""
        mask: Mask = write_ids > self.delivered
        return mask | np.isin(write_ids, self.late) if self.late else mask

    def includes_any(self, first: int, last: int) -> bool:
        """Whether a write id from ``first`` to ``last``, both within the range, is read."""
        return last > self.delivered or any(first <= one <= last for one in self.late)

    def needed(self, visible: ValidIds) -> ValidIds:
        """The visible write ids that are read; all others count as open."""
        between = range(self.after + 1, min(self.delivered, visible.high_watermark) + 1)
        known = {*visible.aborted, *visible.open, *self.late}
        return replace(visible, open=(*visible.open, *(one for one in between if one not in known)))


@dataclass(frozen=True, slots=True)
class RowChanges(Serializable):
    """What can have changed rows of one file of a full ACID table.

    Attributes:
        events: Delete files of the span whose events may refer to the file's rows.
        overwrites: Write ids of the span that replaced all existing rows, ascending.
    """

    events: tuple[DeleteFile, ...] = ()
    overwrites: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FileChange(Serializable):
    """The one change that all rows of a file of an insert-only table had.

    Attributes:
        change: Inserted, or deleted by INSERT OVERWRITE, LOAD DATA OVERWRITE or TRUNCATE.
        version: The write id of the change.
    """

    change: ChangeType
    version: int

    def constants(self) -> dict[str, Value | None]:
        """Values of ``CHANGE_COLUMNS``, by name."""
        return {CHANGE_TYPE: self.change.value, COMMIT_VERSION: self.version, COMMIT_TIMESTAMP: None}


def change_span(name: SchemaTableName, asked: ChangeRange, ids: ValidIds) -> ChangeSpan:
    """The write ids of a range.

    Raises:
        NotSupportedError: The range is one of times.
        InvalidArgumentError: A bound is no write id of the table, or the end is before the start.
    """
    start, end = (_write_id(name, bound, ids) for bound in (asked.start, asked.end))
    if start is not None and end is not None:
        asked.check_order(start <= end)
    after = BEFORE_ALL if start is None else start - asked.start_inclusive
    last = ids.high_watermark if end is None else end - (not asked.end_inclusive)
    return ChangeSpan(after, max(last, after))


def _write_id(name: SchemaTableName, bound: TableVersion | None, ids: ValidIds) -> int | None:
    if bound is None:
        return None
    if bound.kind is VersionKind.TIMESTAMP:
        raise NotSupportedError(
            f"the changes of {name} cannot be selected by time: Hive does not record when a write id was committed; "
            f'use CHANGES FROM VERSION with a write id; "{name.table}$acid" lists the existing ones'
        )
    text = str(bound.value).strip()
    if not (text.isascii() and text.isdigit()) or int(text) > ids.high_watermark:
        raise InvalidArgumentError(
            f"{name} has no version {text!r}: expected a write id from 0 to {ids.high_watermark}, such as "
            f"{min(ids.high_watermark, 5)}"
        )
    return int(text)
