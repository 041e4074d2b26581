"""Keys of the rows of a stripe, stored or counted, and which of the rows a reader does not see. Executor side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import pyarrow as pa

from connector_spi.errors import InternalError
from connectors.hive.acid.delete_set import Int64s, KeyRuns, Mask
from connectors.hive.acid.file import AcidFile, SyntheticKeys
from connectors.hive.acid.key_columns import (
    CURRENT_TRANSACTION,
    KEY,
    OPERATION,
    are_operations_of,
    check_operations,
    int64_values,
)
from connectors.hive.acid.key_range import KeyRange, StripeRanges
from connectors.hive.acid.layout import parse_directory
from connectors.hive.acid.read.deletes import Deletes
from connectors.hive.acid.valid_ids import RangeValidity, ValidIds
from connectors.toolkit.orc.footer import OrcFooter

__all__ = ["CountedKeys", "Keys", "StoredColumns", "StoredKeys", "StripeKeys"]


@dataclass(frozen=True, slots=True)
class StripeKeys:
    """What is known of the rows of a stripe.

    Attributes:
        dropped: Rows that are deleted, or whose write id is not visible; ``None`` where there are none.
        shown: Write ids, bucket properties and row ids; ``None`` where they are not asked for.
    """

    dropped: Mask | None
    shown: tuple[Int64s, Int64s, Int64s] | None


class Keys(ABC):
    """Keys of the rows of one file."""

    def __init__(self) -> None:
        self.deletes: Deletes | None = None

    @property
    @abstractmethod
    def prove_rows(self) -> bool:
        """Whether the footer alone says that each event of the file is a row, if none is deleted."""

    @abstractmethod
    def range(self, first: int, last: int) -> KeyRange:
        """Keys that the stripes from ``first`` to ``last`` can hold."""

    def sees_none(self, index: int) -> bool:
        """Whether it is known that no row of a stripe is of a visible transaction."""
        return False

    @abstractmethod
    def columns(self, index: int) -> tuple[str, ...]:
        """Columns of the file to read with a stripe for its keys."""

    @abstractmethod
    def of_stripe(self, index: int, extra: Sequence[pa.Array]) -> StripeKeys:
        """Keys of a stripe.

        Args:
            index: Which.
            extra: What ``columns`` asked for.

        Raises:
            CorruptFileError: A row has no key.
            NotSupportedError: The file is of the ACID layout before Hive 3.
        """


class CountedKeys(Keys):
    """Keys of a file without ACID columns: by the position of the row in the file.

    Args:
        acid: The file.
        footer: Its footer.
        shown: Whether keys are asked for.
    """

    def __init__(self, acid: AcidFile, footer: OrcFooter, shown: bool) -> None:
        super().__init__()
        self._path = acid.path
        self._keys = acid.keys
        self._rows = [stripe.rows for stripe in footer.stripes]
        self._before = [0, *accumulate(self._rows)]
        self._shown = shown

    @property
    def prove_rows(self) -> bool:
        return True

    def range(self, first: int, last: int) -> KeyRange:
        keys = self._need_keys()
        start = (keys.write_id, keys.bucket_property, keys.first_row_id + self._before[first])
        end = (keys.write_id, keys.bucket_property, keys.first_row_id + self._before[last + 1] - 1)
        return KeyRange(start, end)

    def columns(self, index: int) -> tuple[str, ...]:
        return ()

    def of_stripe(self, index: int, extra: Sequence[pa.Array]) -> StripeKeys:
        if self.deletes is None and not self._shown:
            return StripeKeys(None, None)
        keys, rows = self._need_keys(), self._rows[index]
        start = keys.first_row_id + self._before[index]
        dropped = None
        if self.deletes is not None:
            dropped = self.deletes.deleted_range(keys.write_id, keys.bucket_property, start, rows)
        if not self._shown:
            return StripeKeys(dropped, None)
        row_ids = np.arange(start, start + rows, dtype=np.int64)
        return StripeKeys(dropped, (np.full(rows, keys.write_id), np.full(rows, keys.bucket_property), row_ids))

    def _need_keys(self) -> SyntheticKeys:
        if self._keys is None:
            raise InternalError(f"the split of {self._path} has no row ids, and they are needed")
        return self._keys


@dataclass(frozen=True, slots=True)
class StoredColumns:
    """The ACID columns of a file.

    Attributes:
        names: The file's six columns.
        ranges: What footers say of them.
        current_layout: The footer declares the layout of Hive 3, so that operations need no check.
    """

    names: Sequence[str]
    ranges: StripeRanges
    current_layout: bool


class StoredKeys(Keys):
    """Keys that the file holds. Of what footers say no column is read.

    Args:
        acid: The file.
        columns: Its columns.
        visible: Write ids that are visible.
        shown: Whether keys are asked for.
    """

    def __init__(self, acid: AcidFile, columns: StoredColumns, visible: ValidIds, shown: bool) -> None:
        super().__init__()
        self._acid = acid
        self._columns = columns
        self._ranges = columns.ranges
        self._visible = visible
        self._shown = shown
        directory = parse_directory(acid.directory)
        self._kind = "delta" if directory is None else directory.kind.value
        self._asked = _AskedKeys(-1)

    @property
    def prove_rows(self) -> bool:
        return self._columns.current_layout

    def range(self, first: int, last: int) -> KeyRange:
        return self._ranges.of(first) if first == last else self._ranges.within(first, last)

    def sees_none(self, index: int) -> bool:
        return self._acid.check_write_ids and self._validity(index) is RangeValidity.NONE

    def columns(self, index: int) -> tuple[str, ...]:
        asked, names = self._of(index), self._columns.names
        checked = [
            at for at, wanted in ((OPERATION, asked.operations), (CURRENT_TRANSACTION, asked.transactions)) if wanted
        ]
        return tuple(names[at] for at in (*checked, *asked.keys))

    def of_stripe(self, index: int, extra: Sequence[pa.Array]) -> StripeKeys:
        asked, path = self._of(index), self._acid.path
        arrays = [int64_values(array, path) for array in extra]
        if asked.operations:
            check_operations(arrays.pop(0), self._kind, path)
        dropped = None
        if asked.transactions:
            dropped = _none_if_all_false(~self._visible.valid_mask(arrays.pop(0)))
        if not arrays:
            return StripeKeys(dropped, None)
        deleted = None if asked.deletes is None else asked.deletes.deleted(asked.runs(arrays))
        if deleted is not None:
            dropped = deleted if dropped is None else dropped | deleted
        return StripeKeys(dropped, (arrays[0], arrays[1], arrays[2]) if self._shown else None)

    def _of(self, index: int) -> _AskedKeys:
        """What to read of a stripe; that of the last one asked for is kept."""
        if self._asked.index != index:
            deletes = self._deletes_of(index)
            needed = self._shown or deletes is not None
            pair = self._ranges.constant_pair(index) if needed and not self._shown else None
            keys = () if not needed else KEY if pair is None else KEY[-1:]
            self._asked = _AskedKeys(
                index,
                operations=not self._columns.current_layout and not self._has_right_operations(index),
                transactions=self._acid.check_write_ids and self._validity(index) is not RangeValidity.ALL,
                keys=keys,
                pair=pair,
                deletes=deletes,
            )
        return self._asked

    def _deletes_of(self, index: int) -> Deletes | None:
        """The deletes of a stripe: by the footer first, as statistics of stripes may have to be read."""
        found = None if self.deletes is None else self.deletes.within(self._ranges.within(index, index))
        return None if found is None else found.within(self._ranges.of(index))

    def _validity(self, index: int) -> RangeValidity:
        """How many of the transactions of a stripe are visible."""
        bounds = self._ranges.transactions(index)
        return RangeValidity.SOME if bounds is None else self._visible.range_validity(bounds.low, bounds.high)

    def _has_right_operations(self, index: int) -> bool:
        bounds = self._ranges.operations(index)
        return bounds is not None and are_operations_of(bounds.low, bounds.high, self._kind)


@dataclass(frozen=True, slots=True)
class _AskedKeys:
    """What is read of a stripe for its keys.

    Attributes:
        index: The stripe.
        operations: Operations have to be checked.
        transactions: Current transactions have to be checked.
        keys: Positions of the key columns to read.
        pair: The write id and the bucket property of all keys, where these two columns are not read.
        deletes: What may be of the stripe.
    """

    index: int
    operations: bool = False
    transactions: bool = False
    keys: tuple[int, ...] = ()
    pair: tuple[int, int] | None = None
    deletes: Deletes | None = None

    def runs(self, arrays: Sequence[Int64s]) -> KeyRuns:
        """The keys, of the columns that were read."""
        if self.pair is None:
            return KeyRuns.of(*arrays)
        [row_ids] = arrays
        return KeyRuns.of_pair(*self.pair, row_ids)


def _none_if_all_false(mask: Mask) -> Mask | None:
    return mask if mask.any() else None
