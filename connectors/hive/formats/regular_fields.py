"""Texts that all have the same number of separators, cut without looking at each. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from connectors.toolkit.cells import gather_cells

__all__ = ["cut_regular"]


def cut_regular(records: pa.Array, separator: bytes, wanted: Sequence[int]) -> list[pa.Array] | None:
    """Cuts texts at a separator where that is plain.

    Args:
        records: Arrow ``binary``.
        separator: One byte.
        wanted: Which fields are asked.

    Returns:
        For each of ``wanted`` an array as long as ``records``; ``None`` where a text is NULL, has fewer fields than are
        asked, or another number of them than the others.
    """
    rows = len(records)
    if not rows or records.null_count or len(separator) != 1:
        return None
    offsets = np.frombuffer(records.buffers()[1], np.int32)[records.offset : records.offset + rows + 1].astype(np.int64)
    data = np.frombuffer(records.buffers()[2] or b"", np.uint8)[: offsets[-1]]
    found = np.flatnonzero(data[offsets[0] :] == separator[0]) + offsets[0]
    count, odd = divmod(len(found), rows)
    if odd or count < max(wanted):
        return None
    if not count:
        return [records for _ in wanted]
    places = found.reshape(rows, count)
    if (places[:, 0] < offsets[:-1]).any() or (places[:, -1] >= offsets[1:]).any():
        return None
    return [
        gather_cells(
            data,
            offsets[:-1] if at == 0 else places[:, at - 1] + 1,
            offsets[1:] if at == count else np.ascontiguousarray(places[:, at]),
        )
        for at in wanted
    ]
