"""Which bucket each row goes to, and the order of the rows in it. Executor side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.write.handles import SortedBy, WrittenBuckets

__all__ = ["FileKey", "by_bucket", "sorted_rows"]


class FileKey(NamedTuple):
    """What the rows of one file have in common.

    Attributes:
        partition: Texts of a partition's key values; empty where the table has no keys.
        bucket: The bucket; ``None`` where the table has none.
    """

    partition: tuple[str, ...]
    bucket: int | None = None


def by_bucket(batch: pa.RecordBatch, buckets: WrittenBuckets | None) -> Iterator[tuple[int | None, pa.RecordBatch]]:
    """The rows of each bucket, in their order.

    Args:
        batch: Columns of the files, of one row at least.
        buckets: The table's; ``None`` where it has none.
    """
    if buckets is None:
        yield None, batch
        return
    bucketing = buckets.bucketing
    found = bucketing.buckets([batch.column(column.name) for column in bucketing.columns])
    numbers = found.to_numpy(zero_copy_only=False)
    order = np.argsort(numbers, kind="stable")
    ends = np.flatnonzero(np.diff(numbers[order])) + 1
    for positions in np.split(order, ends):
        yield int(numbers[positions[0]]), batch.take(pa.array(positions))


def sorted_rows(rows: pa.Table, sorted_by: Sequence[SortedBy]) -> pa.Table:
    """The rows in the order that Hive reads from files of ``SORTED BY``: NULL is less than all values."""
    keys: dict[str, pa.ChunkedArray] = {}
    directions = []
    for index, one in enumerate(sorted_by):
        direction = "ascending" if one.ascending else "descending"
        values = rows.column(one.column)
        # Arrow has one rule for NULL whatever the direction.
        keys |= {f"{index} is there": pc.is_valid(values), f"{index}": values}
        directions += [(f"{index} is there", direction), (f"{index}", direction)]
    return rows.take(pc.sort_indices(pa.table(keys), sort_keys=directions))
