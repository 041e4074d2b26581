"""Texts cut at a separator; those that all have the same number of them without looking at each. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.toolkit.cells import gather_cells

__all__ = ["cut_regular", "split_fields"]


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
    positions = found.reshape(rows, count)
    if (positions[:, 0] < offsets[:-1]).any() or (positions[:, -1] >= offsets[1:]).any():
        return None
    return [
        gather_cells(
            data,
            offsets[:-1] if at == 0 else positions[:, at - 1] + 1,
            offsets[1:] if at == count else np.ascontiguousarray(positions[:, at]),
        )
        for at in wanted
    ]


def split_fields(
    records: pa.Array, separator: bytes, count: int, wanted: Sequence[int], *, rest: bool = False
) -> list[pa.Array]:
    """Cuts texts at a separator.

    Args:
        records: Arrow ``binary``; NULL gives NULL fields.
        separator: One or more bytes.
        count: Number of fields that a text should have; those too many are left out.
        wanted: Which are asked.
        rest: The last field takes all that is left.

    Returns:
        For each of ``wanted`` an array as long as ``records``, NULL where the text has fewer fields.
    """
    if not wanted:
        return []
    last = max(wanted)
    # Behind the last field that is asked nothing has to be cut.
    at_most = count - 1 if rest and last == count - 1 else last + 1
    if at_most == 0:
        return [records]
    regular = None if rest and last == count - 1 else cut_regular(records, separator, wanted)
    if regular is not None:
        return regular
    pieces = pc.split_pattern(records, separator, max_splits=at_most)
    offsets = np.frombuffer(pieces.buffers()[1], np.int32)[pieces.offset : pieces.offset + len(pieces) + 1]
    lengths = np.diff(offsets)
    values = pieces.values
    fields = []
    for position in wanted:
        index = pa.array(offsets[:-1] + position, pa.int32(), mask=lengths <= position)
        fields.append(values.take(index))
    return fields
