"""Numbers as bytes, many at a time: Hadoop's and Avro's of one to ten bytes, and those of a fixed width.

Executor side.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.toolkit.cells import Bytes, Positions

__all__ = ["binary_cells", "fixed_cells", "two_complement_cells", "vint_cells", "zigzag_cells"]

_FIRST_OF_NEGATIVE, _FIRST = -120, -112


def binary_cells(data: Bytes, sizes: Positions) -> pa.Array:
    """Bytes that stand one behind the other, as ``binary`` values of these sizes."""
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    return pa.Array.from_buffers(pa.binary(), len(sizes), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def fixed_cells(numbers: npt.NDArray[np.generic], code: str) -> pa.Array:
    """Numbers of a fixed width.

    Args:
        numbers: The numbers.
        code: Numpy's code of width and order of bytes, such as ``>i4``.
    """
    made = np.ascontiguousarray(numbers.astype(code))
    return binary_cells(made.view(np.uint8), np.full(len(made), made.dtype.itemsize))


def vint_cells(numbers: Positions) -> pa.Array:
    """Hadoop's numbers (``WritableUtils.writeVLong``)."""
    single = (numbers >= _FIRST) & (numbers <= 127)
    negative = numbers < 0
    rest = np.where(negative, ~numbers, numbers).astype(np.uint64)
    more = np.where(single, 0, _byte_counts(rest, 8))
    sizes = 1 + more
    starts = np.cumsum(sizes) - sizes
    out = np.empty(int(sizes.sum()), np.uint8)
    first = np.where(single, numbers, np.where(negative, _FIRST_OF_NEGATIVE, _FIRST) - more)
    out[starts] = first.astype(np.uint8)
    for step in range(1, int(more.max(initial=0)) + 1):
        here = np.flatnonzero(more >= step)
        shift = (8 * (more[here] - step)).astype(np.uint64)
        out[starts[here] + step] = (rest[here] >> shift).astype(np.uint8)
    return binary_cells(out, sizes)


def zigzag_cells(numbers: Positions) -> pa.Array:
    """Avro's ``int`` and ``long``: seven bits a byte, least first, the sign in the lowest bit."""
    zigzag = ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)
    sizes = np.maximum(_byte_counts(zigzag, 7), 1)
    starts = np.cumsum(sizes) - sizes
    out = np.empty(int(sizes.sum()), np.uint8)
    for step in range(int(sizes.max(initial=0))):
        here = np.flatnonzero(sizes > step)
        bits = (zigzag[here] >> np.uint64(7 * step)).astype(np.uint8) & 0x7F
        out[starts[here] + step] = np.where(sizes[here] > step + 1, bits | 0x80, bits)
    return binary_cells(out, sizes)


def two_complement_cells(decimals: pa.Array) -> pa.Array:
    """The digits of decimals as ``BigInteger.toByteArray`` has them: as few bytes as hold the sign, big-endian.

    Args:
        decimals: Of type ``decimal128``; NULL gives any bytes.
    """
    made = pa.concat_arrays([decimals]) if decimals.offset == 0 else decimals.take(pa.array(np.arange(len(decimals))))
    raw = np.frombuffer(made.buffers()[1] or b"", np.uint8)[: 16 * len(made)].reshape(len(made), 16)[:, ::-1]
    sign = np.where(raw[:, :1] >= 0x80, 0xFF, 0).astype(np.uint8)
    # A byte is left out where it and all before it repeat the sign, which the byte behind it has, too.
    same = (raw[:, :-1] == sign) & ((raw[:, 1:] >= 0x80) == (sign >= 0x80))
    left_out = np.cumprod(same, axis=1).sum(axis=1)
    kept = np.arange(16) >= left_out[:, None]
    return binary_cells(np.ascontiguousarray(raw[kept]), (16 - left_out).astype(np.int64))


def _byte_counts(numbers: npt.NDArray[np.uint64], bits: int) -> Positions:
    """How many groups of so many bits each number has; 0 of 0."""
    counts = np.zeros(len(numbers), np.int64)
    for shift in range(0, 64, bits):
        more = numbers >> np.uint64(shift) != 0
        if not more.any():
            break
        counts += more
    return counts
