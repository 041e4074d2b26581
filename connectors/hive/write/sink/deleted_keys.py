"""Keys of deleted rows, in the order of Hive's files. Both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connector_spi.errors import InternalError
from connectors.hive.acid.key_columns import ROW_ID
from connectors.hive.acid.layout import bucket_ids

__all__ = ["DeletedKeys"]

_Int64s = npt.NDArray[np.int64]
_FIELDS = ("writeid", "bucketid", "rowid")


@dataclass(frozen=True, slots=True)
class DeletedKeys:
    """Keys of rows, one array for each part.

    Attributes:
        write_ids: The write id by which each row was added, 0 for files older than transactions.
        buckets: The bucket property of each row.
        row_ids: The number of each row among those of its write id and bucket property.
    """

    write_ids: _Int64s
    buckets: _Int64s
    row_ids: _Int64s

    @classmethod
    def of_rows(cls, ids: pa.StructArray) -> DeletedKeys:
        """The keys of rows by their values of ``$row_id``.

        Raises:
            InternalError: One is NULL, so that it is not known which row is meant.
        """
        if ids.null_count or any(ids.field(name).null_count for name in _FIELDS):
            raise InternalError(f"a row to delete has no {ROW_ID}")
        parts = [ids.field(name).to_numpy(zero_copy_only=False).astype(np.int64) for name in _FIELDS]
        return cls(*parts)

    @classmethod
    def concat(cls, some: Sequence[DeletedKeys]) -> DeletedKeys:
        """All keys of some."""
        return cls(
            np.concatenate([one.write_ids for one in some]),
            np.concatenate([one.buckets for one in some]),
            np.concatenate([one.row_ids for one in some]),
        )

    def sorted(self) -> DeletedKeys:
        """The keys in the order that readers of delete events expect (``OrcRawRecordMerger``), each once."""
        order = np.lexsort((self.row_ids, self.buckets, self.write_ids))
        found = self.take(order)
        changed = (np.diff(found.write_ids) != 0) | (np.diff(found.buckets) != 0) | (np.diff(found.row_ids) != 0)
        return found if changed.all() else found.take(np.flatnonzero(np.concatenate(([True], changed))))

    def by_bucket(self, path: str) -> Iterator[tuple[int, DeletedKeys]]:
        """The keys of each bucket, whose number is in the property: readers look for them in its file alone.

        Args:
            path: What the rows are of, for messages.

        Raises:
            CorruptFileError: A property is of an unknown version.
        """
        numbers = bucket_ids(self.buckets, path)
        for number in np.unique(numbers):
            yield int(number), self.take(np.flatnonzero(numbers == number))

    def slice(self, start: int, end: int) -> DeletedKeys:
        """The keys from one position to before another."""
        return DeletedKeys(self.write_ids[start:end], self.buckets[start:end], self.row_ids[start:end])

    def take(self, positions: npt.NDArray[np.intp]) -> DeletedKeys:
        """The keys at some positions."""
        return DeletedKeys(self.write_ids[positions], self.buckets[positions], self.row_ids[positions])

    def __len__(self) -> int:
        return len(self.row_ids)
