"""Which write ids' changes are asked for, and what of a file shows them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, ChangeRange, ChangeType
from connector_spi.plain_data import PlainData
from connector_spi.predicate import Value
from connectors.hive.acid.delete_set import Int64s, Mask
from connectors.hive.acid.file import DeleteFile
from connectors.hive.acid.valid_ids import MAX_ID, ValidIds

__all__ = ["BEFORE_ALL", "CHANGE_COLUMNS", "ChangeSpan", "FileChange", "RowChanges", "change_span"]

BEFORE_ALL = -1
"""Before the files that are older than a table's transactions: those are of write id 0."""

CHANGE_COLUMNS = (
    ColumnHandle(CHANGE_TYPE, pa.string()),
    ColumnHandle(COMMIT_VERSION, pa.int64()),
    ColumnHandle(COMMIT_TIMESTAMP, pa.timestamp("us", "UTC")),
)
"""What describes a change. The time is always NULL: Hive does not keep when a write id was committed."""


@dataclass(frozen=True, slots=True)
class ChangeSpan(PlainData):
    """The committed write ids whose changes are asked for.

    Attributes:
        after: The write id before the first; ``BEFORE_ALL`` for all.
        last: The last one.
        delivered: Those up to this one are not asked for, but for ``late``.
        late: Write ids up to ``delivered`` that are asked for nevertheless, ascending.
        inserts_only: Rows that were inserted are asked for, with the columns of the table, and no other changes.
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
        """Which of the write ids within the span are asked for."""
        mask: Mask = write_ids > self.delivered
        return mask | np.isin(write_ids, self.late) if self.late else mask

    def includes_any(self, first: int, last: int) -> bool:
        """Whether one of the write ids from ``first`` to ``last`` within the span is asked for."""
        return last > self.delivered or any(first <= one <= last for one in self.late)

    def needed(self, visible: ValidIds) -> ValidIds:
        """The visible write ids that are asked for; all others count as open."""
        between = range(self.after + 1, min(self.delivered, visible.high_watermark) + 1)
        known = {*visible.aborted, *visible.open, *self.late}
        return replace(visible, open=(*visible.open, *(one for one in between if one not in known)))


@dataclass(frozen=True, slots=True)
class RowChanges(PlainData):
    """What may have become of the rows of a file of a full ACID table.

    Attributes:
        events: Files with delete events of the span that may be of its rows.
        overwrites: Write ids of the span that replaced all rows that were there, ascending.
    """

    events: tuple[DeleteFile, ...] = ()
    overwrites: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FileChange(PlainData):
    """What became of all rows of a file of an insert-only table at once.

    Attributes:
        change: Inserted, or deleted by INSERT OVERWRITE, LOAD DATA OVERWRITE or TRUNCATE.
        version: The write id that did it.
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
            f"the changes of {name} cannot be found by time: Hive does not keep when a write id was committed; use "
            f'CHANGES FROM VERSION with a write id, and see those that are there in "{name.table}$acid"'
        )
    text = str(bound.value).strip()
    if not (text.isascii() and text.isdigit()) or int(text) > ids.high_watermark:
        raise InvalidArgumentError(
            f"{name} has no version {text!r}: expected a write id from 0 to {ids.high_watermark}, such as "
            f"{min(ids.high_watermark, 5)}"
        )
    return int(text)
