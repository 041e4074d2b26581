"""Which write ids, or transactions, a reader sees (``ValidReaderWriteIdList``, ``ValidReadTxnList``)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import numpy.typing as npt

from connector_spi.errors import InvalidArgumentError
from connector_spi.plain_data import PlainData

__all__ = ["ALL_VALID", "MAX_ID", "AcidSnapshot", "RangeValidity", "ValidIds"]

MAX_ID = 2**63 - 1
"""Java's largest long: "no open id", and "no high watermark"."""


class RangeValidity(Enum):
    """How much of a range of ids has a quality."""

    NONE = "none"
    SOME = "some"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class ValidIds(PlainData):
    """Ids that are committed for a reader: those up to a high watermark that are neither open nor aborted.

    One class serves transactions and the write ids of one table. Ids above the high watermark are dropped from the
    lists, which are kept sorted: they are not valid anyway, and the counts of ranges rest on it.

    Attributes:
        high_watermark: The greatest id that the reader knows.
        open: Ids of transactions that had not ended, ascending.
        aborted: Ids of transactions that were aborted, ascending.
        minimum_open: The smallest open id, or ``MAX_ID``.
    """

    high_watermark: int
    open: tuple[int, ...] = ()
    aborted: tuple[int, ...] = ()
    minimum_open: int = MAX_ID

    def __post_init__(self) -> None:
        aborted = tuple(sorted({one for one in self.aborted if one <= self.high_watermark}))
        is_aborted = frozenset(aborted)
        running = sorted({one for one in self.open if one <= self.high_watermark and one not in is_aborted})
        object.__setattr__(self, "aborted", aborted)
        object.__setattr__(self, "open", tuple(running))

    @classmethod
    def parse_write_ids(cls, text: str) -> ValidIds:
        """Reads ``table:hwm:minOpen:open:aborted``; trailing empty parts may be missing, and ids may be ``a-b``.

        An empty text is "everything is valid", as in Java.

        Raises:
            InvalidArgumentError: The text is of another form.
        """
        if not text:
            return ALL_VALID
        parts = text.split(":")
        if not 3 <= len(parts) <= 5:
            raise _bad_text(text, "table:highWatermark:minimumOpen:open:aborted")
        return _parsed(parts[1:], text)

    @classmethod
    def parse_transactions(cls, text: str) -> ValidIds:
        """Reads ``hwm:minOpen:open:aborted``; trailing empty parts may be missing, and ids may be ``a-b``.

        Raises:
            InvalidArgumentError: The text is of another form.
        """
        if not text:
            return ALL_VALID
        parts = text.split(":")
        if not 2 <= len(parts) <= 4:
            raise _bad_text(text, "highWatermark:minimumOpen:open:aborted")
        return _parsed(parts, text)

    def write_ids_text(self, table: str) -> str:
        """The text of write ids, with every id spelled out, since Hive 3 cannot read ``a-b``.

        Args:
            table: ``database.table`` in lower case.
        """
        return f"{table}:{self.transactions_text()}"

    def transactions_text(self) -> str:
        """The text of transactions, with every id spelled out."""
        return f"{self.high_watermark}:{self.minimum_open}:{_joined(self.open)}:{_joined(self.aborted)}"

    def is_valid(self, one: int) -> bool:
        """Whether an id is committed; 0 and below always are, for files older than transactions have 0."""
        return one <= self.high_watermark and not _holds(self.open, one) and not _holds(self.aborted, one)

    def is_aborted(self, one: int) -> bool:
        """Whether an id is known as aborted."""
        return _holds(self.aborted, one)

    def range_validity(self, first: int, last: int) -> RangeValidity:
        """How many of the ids from ``first`` to ``last`` are committed (``isWriteIdRangeValid``)."""
        if first > self.high_watermark:
            return RangeValidity.NONE
        missing = max(0, last - self.high_watermark)
        missing += _count(self.open, first, last) + _count(self.aborted, first, last)
        if missing == 0:
            return RangeValidity.ALL
        return RangeValidity.NONE if missing == last - first + 1 else RangeValidity.SOME

    def aborted_range(self, first: int, last: int) -> RangeValidity:
        """How many of the ids from ``first`` to ``last`` are aborted (``isWriteIdRangeAborted``)."""
        if self.high_watermark < first:
            return RangeValidity.NONE
        count = _count(self.aborted, first, last)
        if count == 0:
            return RangeValidity.NONE
        # Ids are never aborted above the high watermark, so a range that passes it is never ALL.
        return RangeValidity.ALL if count == last - first + 1 else RangeValidity.SOME

    def is_valid_base(self, one: int) -> bool:
        """Whether a compacted base of this id can be read: nothing up to it may be open, as its history is gone."""
        smallest = min(self.minimum_open, self.open[0]) if self.open else self.minimum_open
        return one < smallest and one <= self.high_watermark

    def valid_mask(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """``is_valid`` of each id of an array."""
        mask: npt.NDArray[np.bool_] = ids <= self.high_watermark
        if ids.size and (self.open or self.aborted):
            low, high = int(ids.min()), int(ids.max())
            invalid = np.array([*_between(self.open, low, high), *_between(self.aborted, low, high)], dtype=np.int64)
            if invalid.size:
                invalid.sort()
                positions = np.minimum(np.searchsorted(invalid, ids), invalid.size - 1)
                mask &= invalid[positions] != ids
        return mask

    def up_to(self, one: int) -> ValidIds:
        """The same ids as they were visible up to an id: time travel."""
        if one >= self.high_watermark:
            return self
        minimum_open = self.minimum_open if self.minimum_open <= one else MAX_ID
        return replace(self, high_watermark=one, minimum_open=minimum_open)


ALL_VALID = ValidIds(MAX_ID)
"""Everything is committed: of a table that knows no list."""


@dataclass(frozen=True, slots=True)
class AcidSnapshot(PlainData):
    """What one statement sees of one transactional table.

    Attributes:
        write_ids: The table's write ids, as they are now.
        transactions: Transactions of the same moment: they tell which compactions have committed.
        version: The write id of ``VERSION AS OF``, or ``None``.
        hidden: Committed write ids that do not count: of a state in which they were open.
    """

    write_ids: ValidIds
    transactions: ValidIds = ALL_VALID
    version: int | None = None
    hidden: tuple[int, ...] = ()

    @property
    def visible(self) -> ValidIds:
        """The write ids that rows are checked with: cut at ``version``, without those that are hidden."""
        ids = self.write_ids if self.version is None else self.write_ids.up_to(self.version)
        return replace(ids, open=(*ids.open, *self.hidden)) if self.hidden else ids

    def at(self, version: int, table: object = "the table") -> AcidSnapshot:
        """The snapshot as of a write id.

        Args:
            version: The write id.
            table: Names the table for the message.

        Raises:
            InvalidArgumentError: The table has no such write id yet.
        """
        if not 0 <= version <= self.write_ids.high_watermark:
            raise InvalidArgumentError(
                f"version {version} is not a write id of {table}: expected 0 to {self.write_ids.high_watermark}"
            )
        return replace(self, version=version)


def _holds(ids: tuple[int, ...], one: int) -> bool:
    position = bisect_left(ids, one)
    return position < len(ids) and ids[position] == one


def _count(ids: tuple[int, ...], first: int, last: int) -> int:
    return max(0, bisect_right(ids, last) - bisect_left(ids, first))


def _between(ids: tuple[int, ...], first: int, last: int) -> tuple[int, ...]:
    return ids[bisect_left(ids, first) : bisect_right(ids, last)]


def _joined(ids: tuple[int, ...]) -> str:
    return ",".join(map(str, ids))


def _parsed(parts: list[str], text: str) -> ValidIds:
    try:
        high_watermark, minimum_open = int(parts[0]), int(parts[1])
        lists = [_ids(part) for part in parts[2:]]
    except ValueError as error:
        raise _bad_text(text, "numbers joined by ',' and parts joined by ':'") from error
    running, aborted = [*lists, (), ()][:2]
    return ValidIds(high_watermark, running, aborted, minimum_open)


def _ids(part: str) -> tuple[int, ...]:
    found: list[int] = []
    for item in filter(None, part.split(",")):
        first, _, last = item.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)


def _bad_text(text: str, expected: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"cannot read the list of valid ids {text!r:.200}: expected {expected}")
