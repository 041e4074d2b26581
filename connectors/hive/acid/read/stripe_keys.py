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
    check_operations,
    has_current_layout,
    int64_values,
)
from connectors.hive.acid.key_range import KeyRange, stripe_ranges
from connectors.hive.acid.layout import parse_directory
from connectors.hive.acid.read.deletes import Deletes
from connectors.hive.acid.valid_ids import ValidIds
from connectors.toolkit.orc.footer import OrcFooter

__all__ = ["CountedKeys", "Keys", "StoredKeys", "StripeKeys"]


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


class StoredKeys(Keys):
    """Keys that the file holds.

    Args:
        acid: The file.
        footer: Its footer.
        names: The file's six columns.
        visible: Write ids that are visible.
        shown: Whether keys are asked for.
    """

    def __init__(self, acid: AcidFile, footer: OrcFooter, names: Sequence[str], visible: ValidIds, shown: bool) -> None:
        super().__init__()
        self._path = acid.path
        self._ranges = stripe_ranges(footer)
        self._visible = visible
        self._shown = shown
        self._key_names = tuple(names[at] for at in KEY)
        self._operations = () if has_current_layout(footer) else (names[OPERATION],)
        self._transactions = (names[CURRENT_TRANSACTION],) if acid.check_write_ids else ()
        directory = parse_directory(acid.directory)
        self._kind = "delta" if directory is None else directory.kind.value

    @property
    def prove_rows(self) -> bool:
        return not self._operations

    def range(self, first: int, last: int) -> KeyRange:
        return KeyRange(self._ranges[first].low, self._ranges[last].high)

    def columns(self, index: int) -> tuple[str, ...]:
        keys = self._key_names if self._shown or self._deletes_of(index) is not None else ()
        return (*self._operations, *self._transactions, *keys)

    def of_stripe(self, index: int, extra: Sequence[pa.Array]) -> StripeKeys:
        arrays = [int64_values(array, self._path) for array in extra]
        if self._operations:
            check_operations(arrays.pop(0), self._kind, self._path)
        dropped = None
        if self._transactions:
            dropped = _none_if_all_false(~self._visible.valid_mask(arrays.pop(0)))
        if not arrays:
            return StripeKeys(dropped, None)
        write_ids, buckets, row_ids = arrays
        deletes = self._deletes_of(index)
        deleted = None if deletes is None else deletes.deleted(KeyRuns.of(write_ids, buckets, row_ids))
        if deleted is not None:
            dropped = deleted if dropped is None else dropped | deleted
        return StripeKeys(dropped, (write_ids, buckets, row_ids) if self._shown else None)

    def _deletes_of(self, index: int) -> Deletes | None:
        return None if self.deletes is None else self.deletes.within(self._ranges[index])


def _none_if_all_false(mask: Mask) -> Mask | None:
    return mask if mask.any() else None
