"""Values that lie somewhere in a buffer, as Arrow arrays: no loop over values."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["Bytes", "Positions", "gather_cells", "spread", "texts", "value_bytes"]

Bytes: TypeAlias = npt.NDArray[np.uint8]
Positions: TypeAlias = npt.NDArray[np.int64]


def gather_cells(data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    """The stretches of a buffer as ``binary`` values.

    Args:
        data: The buffer, of less than 2 GB.
        starts: First byte of each, ascending.
        ends: The byte behind each; not greater than the next start.

    Raises:
        ValueError: The stretches overlap or leave the buffer.
    """
    count = len(starts)
    if count == 0:
        return pa.array([], pa.binary())
    # An array of the values and of what lies between them needs no copy; every second one is asked for.
    offsets = np.empty(2 * count, dtype=np.int64)
    offsets[0::2] = starts
    offsets[1::2] = ends
    if offsets[0] < 0 or offsets[-1] > len(data) or (np.diff(offsets) < 0).any():
        raise ValueError("values that overlap or end behind the data")
    if offsets[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"values of {offsets[-1]} bytes in one buffer; at most 2 GB can be read at a time")
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    every = pa.Array.from_buffers(pa.binary(), 2 * count - 1, buffers)
    if (offsets[2::2] == offsets[1:-1:2]).all():
        # Nothing in between: the values are the buffer. Its front is left out: ``ascii_lower`` of Arrow, for one, gives
        # damaged texts where the first does not begin at 0.
        joined = (np.append(starts, ends[-1]) - starts[0]).astype(np.int32)
        return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(joined), pa.py_buffer(data[starts[0] :])])
    return every.take(pa.array(np.arange(0, 2 * count - 1, 2)))


def spread(array: pa.Array, valid: npt.NDArray[np.bool_]) -> pa.Array:
    """Puts values where ``valid`` is true, in order, and NULL elsewhere."""
    if valid.all():
        return array
    positions = np.cumsum(valid) - 1
    return array.take(pa.array(positions, pa.int64(), mask=~valid))


def value_bytes(array: pa.Array) -> bytes:
    """All values of an array one behind the other, with what lies behind a NULL.

    What is in none of them is looked for here in a tenth of the time of ``match_substring``.

    Args:
        array: Of type ``binary`` or ``string``, sliced or not.
    """
    _, offsets_buffer, data = array.buffers()
    if data is None or not len(array):
        return b""
    offsets = np.frombuffer(offsets_buffer, np.int32)[array.offset : array.offset + len(array) + 1]
    return bytes(data.slice(int(offsets[0]), int(offsets[-1] - offsets[0])))


def texts(array: pa.Array) -> pa.Array:
    """Bytes as text; what is no UTF-8 becomes U+FFFD, as in Hadoop's ``Text.decode``."""
    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        # Few values are broken, where any are: only distinct ones are decoded one by one.
        encoded = pc.dictionary_encode(array)
        decoded = [None if one is None else one.decode("utf-8", "replace") for one in encoded.dictionary.to_pylist()]
        return pa.array(decoded, pa.string()).take(encoded.indices)
