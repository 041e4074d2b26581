"""Keys of maps that are the same for Hive. Executor side."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["first_keys", "key_codes"]


def key_codes(keys: pa.Array) -> pa.Array:
    """A number for each key, the same for the same keys: 0.0 and -0.0 are one double (``DoubleWritable.equals``)."""
    return (pc.add(keys, 0.0) if pa.types.is_float64(keys.type) else keys).dictionary_encode().indices


def first_keys(keys: pa.Array, offsets: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Which entries stay: those with a key, and of one key in a map the first."""
    kept: npt.NDArray[np.bool_] = pc.is_valid(keys).to_numpy(zero_copy_only=False).copy()
    codes = pc.fill_null(key_codes(keys), 0).to_numpy().astype(np.int64)
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    valid = np.flatnonzero(kept)
    _, first = np.unique((rows * (codes.max(initial=0) + 1) + codes)[valid], return_index=True)
    if len(first) < len(valid):
        kept[:] = False
        kept[valid[first]] = True
    return kept
