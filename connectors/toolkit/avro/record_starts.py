"""Where records begin that lie behind their lengths. Executor side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isqrt

import numpy as np
import pyarrow as pa

from connectors.toolkit.avro.plain_schema import FRAME
from connectors.toolkit.avro.wire_bytes import Positions, UnusualError, WireBytes

__all__ = ["record_starts", "whole_records"]

# A step of all walks costs about as much as the search for the beginning of some of them.
_WALKS = 6
# The first bytes of records, which often are the same in all of a block.
_ALIKE = 8
_MOST_STEPS = 8


def record_starts(wire: WireBytes, sizes: Sequence[int], counts: Sequence[int]) -> Positions:
    """Finds the records of several stretches that lie one behind the other.

    The length of a record says where the next one begins. To take many such steps at once, walks begin at several
    places: where the first bytes of a stretch's first record come again. That they do begin records is shown by the
    walk before, which has to end there.

    Args:
        wire: The stretches.
        sizes: Bytes of each.
        counts: Records of each.

    Returns:
        The first byte of each record's length, and the end of the last record.

    Raises:
        UnusualError: The lengths do not add up, or no walks could be begun.
    """
    bounds = [0, *np.cumsum(sizes).tolist()]
    begins: list[int] = []
    for (start, end), count in zip(pairwise(bounds), counts, strict=True):
        begins += _begins(wire.data, start, end, isqrt(_WALKS * count))
    walks = np.array(begins, dtype=np.int64)
    ends = np.append(walks[1:], wire.size)
    found = _walk(wire, walks, ends, _MOST_STEPS * (sum(counts) // len(walks) + 1))
    if [len(part) for part in np.split(found, np.searchsorted(found, bounds[1:-1]))] != list(counts):
        raise UnusualError
    return np.append(found, wire.size)


def whole_records(window: pa.Buffer, most: int) -> tuple[int, int] | None:
    """Finds the end of the last whole record among bytes that begin with one.

    Args:
        window: The bytes.
        most: Records that there are at most.

    Returns:
        The end, and how many records there are; ``None`` where it has to be found one by one.
    """
    wire = WireBytes([window])
    first = int.from_bytes(wire.data[:FRAME], "big") + FRAME
    walks = np.array(_begins(wire.data, 0, wire.size, isqrt(_WALKS * (wire.size // first + 1))), dtype=np.int64)
    ends = np.append(walks[1:], wire.size)
    at, found = walks, 0
    for _ in range(_MOST_STEPS * (wire.size // (first * len(walks)) + 1)):
        behind = at + FRAME + wire.lengths_at(at)
        on = behind <= ends
        if not on.any():
            is_right = found and found <= most and np.array_equal(at[:-1], ends[:-1])
            return (int(at[-1]), found) if is_right else None
        at = np.where(on, behind, at)
        found += int(on.sum())
    return None


def _begins(data: bytes, start: int, end: int, walks: int) -> list[int]:
    alike = data[start + FRAME : start + FRAME + _ALIKE]
    step = max((end - start) // max(walks, 1), 1)
    found = [start]
    for guess in range(start + step, end, step):
        if guess <= found[-1]:
            continue
        at = data.find(alike, guess + FRAME, end) - FRAME
        if at < guess:
            break
        found.append(at)
    return found


def _walk(wire: WireBytes, begins: Positions, ends: Positions, most_steps: int) -> Positions:
    """The beginnings of all records, in order."""
    steps = [begins]
    at = begins
    while True:
        on = at < ends
        at = np.where(on, at + FRAME + wire.lengths_at(at), at)
        if (at > ends).any() or len(steps) > most_steps:
            raise UnusualError
        if not (at < ends).any():
            break
        steps.append(np.where(at < ends, at, -1))
    found = np.stack(steps, axis=1).ravel()
    return found[found >= 0]
