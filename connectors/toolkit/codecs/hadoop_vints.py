"""Hadoop's integers of one to nine bytes (``WritableUtils.writeVLong``), many at a time. Executor side.

A byte of at least -112 is the number itself. Else it tells the sign and how many bytes follow, big-endian: -113 to
-120 one to eight of a number, -121 to -128 one to eight of the complement of a negative one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from connectors.toolkit.cells import Bytes, Positions

__all__ = ["read_vint", "read_vints", "vint_chain", "vint_sizes"]

_SIGNED = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.int64)
_SIZES = np.where(_SIGNED >= -112, 1, np.where(_SIGNED >= -120, -111 - _SIGNED, -119 - _SIGNED))
_COMPLEMENT = _SIGNED < -120


def vint_sizes(data: Bytes, starts: Positions) -> Positions:
    """Bytes of the number at each position; a position behind the data counts as its last byte."""
    return read_vints(data, starts)[1]


def read_vints(data: Bytes, starts: Positions) -> tuple[Positions, Positions]:
    """The numbers at positions, and the bytes that each takes.

    The caller checks that the numbers lie within the data: behind its end the last byte repeats.
    """
    if not len(starts):
        return starts, starts
    if not len(data):
        raise ValueError("a number behind the end of the data")
    first = np.take(data, starts, mode="clip")
    values, sizes = _SIGNED[first], _SIZES[first]
    wide = np.flatnonzero(sizes > 1)
    if len(wide):
        at, size = starts[wide], sizes[wide]
        found = np.zeros(len(wide), dtype=np.uint64)
        for step in range(1, int(size.max())):
            more = np.take(data, at + step, mode="clip").astype(np.uint64)
            found = np.where(size > step, (found << np.uint64(8)) | more, found)
        signed = found.view(np.int64)
        values[wide] = np.where(_COMPLEMENT[first[wide]], ~signed, signed)
    return values, sizes


def vint_chain(data: Bytes) -> Positions:
    """The numbers of a buffer that holds nothing but numbers, one behind the other.

    Raises:
        ValueError: The last one is not complete.
    """
    size = len(data)
    sizes = _SIZES[data]
    if not (sizes > 1).any():
        return _SIGNED[data]
    # Where a number begins is known from the one before. Doubling the steps finds all in log(n) rounds.
    behind = np.minimum(np.arange(size) + sizes, size)
    jump = np.append(behind, size)
    begins: npt.NDArray[np.bool_] = np.zeros(size + 1, dtype=np.bool_)
    begins[0] = True
    known = 0
    while True:
        found = np.flatnonzero(begins)
        if len(found) == known:
            break
        known = len(found)
        begins[jump[found]] = True
        jump = jump[jump]
    starts = np.flatnonzero(begins[:size])
    if starts[-1] + sizes[starts[-1]] != size:
        raise ValueError("a number goes on behind the end of the data")
    return read_vints(data, starts)[0]


def read_vint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """One number and the position behind it.

    Raises:
        ValueError: The data ends before the number does.
    """
    if at >= len(data):
        raise ValueError("the data ends where a number is expected")
    first = data[at] - 256 if data[at] > 127 else data[at]
    if first >= -112:
        return first, at + 1
    end = at + 1 + (-120 - first if first < -120 else -112 - first)
    if end > len(data):
        raise ValueError("the data ends in a number")
    value = int.from_bytes(data[at + 1 : end], "big")
    return (~value if first < -120 else value), end
