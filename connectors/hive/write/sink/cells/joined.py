"""Values of several parts, put together many at a time. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.write.sink.cells.numbers import binary_cells, vint_cells
from connectors.toolkit.cells import Bytes, Positions

__all__ = ["bit_cells", "join_cells", "join_lists", "numbers_of", "with_sizes"]


def join_cells(parts: Sequence[pa.Array | bytes]) -> pa.Array:
    """The parts of each value one behind the other; a part that is NULL is nothing.

    Args:
        parts: Arrays of type ``binary``, or bytes that all values have; at least one array.
    """
    made = [pa.scalar(part, pa.binary()) if isinstance(part, bytes) else part for part in parts]
    return pc.binary_join_element_wise(*made, b"", null_handling="replace", null_replacement=b"")


def join_lists(elements: pa.Array, offsets: pa.Array) -> pa.Array:
    """The elements of each list one behind the other; an element that is NULL is nothing."""
    return pc.binary_join(pa.ListArray.from_arrays(offsets, pc.fill_null(elements, b"")), b"")


def with_sizes(cells: pa.Array) -> pa.Array:
    """Each value behind its number of bytes, as Hadoop's ``Text`` has it; not NULL."""
    return join_cells([vint_cells(numbers_of(pc.binary_length(cells))), cells])


def bit_cells(columns: Sequence[pa.Array]) -> pa.Array:
    """A byte for each row, with a bit for each of up to eight columns, lowest first: whether it is not NULL."""
    bits: Bytes = np.zeros(len(columns[0]), np.uint8)
    for number, column in enumerate(columns):
        bits |= column.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8) << np.uint8(number)
    return binary_cells(bits, np.ones(len(bits), np.int64))


def numbers_of(array: pa.Array) -> Positions:
    """Integers for numpy; 0 for NULL."""
    filled = array.fill_null(0) if array.null_count else array
    made: Positions = filled.to_numpy(zero_copy_only=False).astype(np.int64)
    return made
