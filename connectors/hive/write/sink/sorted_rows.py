"""The order of rows in the files of sorted buckets. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.write.handles import SortedBy
from connectors.hive.write.sink.file_rows import Codes

__all__ = ["row_order", "sorted_rows"]


def sorted_rows(rows: pa.Table, sorted_by: Sequence[SortedBy]) -> pa.Table:
    """The rows in the order that Hive reads from files of ``SORTED BY``: NULL is less than all values."""
    return rows.take(pa.array(row_order(rows, sorted_by)))


def row_order(rows: pa.Table, sorted_by: Sequence[SortedBy]) -> Codes:
    """The numbers of the rows in this order; equal rows keep theirs."""
    keys: dict[str, pa.ChunkedArray] = {}
    directions = []
    for index, one in enumerate(sorted_by):
        direction = "ascending" if one.ascending else "descending"
        values = rows.column(one.column)
        # Arrow has one rule for NULL whatever the direction.
        keys |= {f"{index} is there": pc.is_valid(values), f"{index}": values}
        directions += [(f"{index} is there", direction), (f"{index}", direction)]
    found: Codes = pc.sort_indices(pa.table(keys), sort_keys=directions).to_numpy().astype("int64")
    return found
