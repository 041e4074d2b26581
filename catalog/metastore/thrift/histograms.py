"""Histograms of columns: the KLL sketches that Hive 4 keeps (``KllFloatsSketch`` of Apache DataSketches).

The library of DataSketches ends the process where a sketch is damaged. What a metastore answers is read here with
checks instead.
"""

from __future__ import annotations

import struct

import numpy as np

__all__ = ["PARTS", "quantiles"]

PARTS = 32
"""A sketch of Hive knows ranks to 1.3 % or so; finer parts would say no more."""

# Bytes: ints of the preamble, serial version, family, flags, then k, m and one that is unused.
_HEAD = struct.Struct("<BBBBHBx")
_FAMILY = 15
_EMPTY, _SINGLE = 1, 4
# Number of rows, least k, number of levels, and one byte that is unused.
_COUNTS = struct.Struct("<QHBx")
_MOST_LEVELS = 60


def quantiles(sketch: bytes) -> tuple[float, ...]:
    """The values that part a column's rows into ``PARTS`` of equal size, from the smallest to the greatest.

    Args:
        sketch: As Hive serializes it.

    Returns:
        One more than there are parts; none where there is no value, or this is no such sketch.
    """
    try:
        # Damaged bytes may be a NaN that signals.
        with np.errstate(invalid="ignore"):
            items, weights, ends = _read(sketch)
    except (struct.error, ValueError, OverflowError):
        return ()
    if not len(items) or not np.isfinite(items).all() or not np.isfinite(ends).all():
        return ()
    order = np.argsort(items, kind="stable")
    ranks = np.cumsum(weights[order])
    wanted = ranks[-1] * np.arange(1, PARTS) / PARTS
    inner = items[order][np.searchsorted(ranks, wanted)]
    found = np.concatenate([ends[:1], inner, ends[1:]])
    return tuple(found.tolist()) if bool((np.diff(found) >= 0).all()) else ()


def _read(sketch: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Its values, how many rows each stands for, and the smallest and the greatest value.

    Raises:
        struct.error: It is too short.
        ValueError: It is not consistent.
    """
    ints, version, family, flags, *_ = _HEAD.unpack_from(sketch)
    if family != _FAMILY or version not in (1, 2) or ints not in (2, 5):
        raise ValueError("no KLL sketch")
    if flags & _EMPTY:
        return np.array([]), np.array([]), np.array([])
    if flags & _SINGLE:
        one = np.frombuffer(sketch, "<f4", 1, _HEAD.size).astype(float)
        return one, np.ones(1), np.repeat(one, 2)
    rows, _, levels = _COUNTS.unpack_from(sketch, _HEAD.size)
    if not 0 < levels <= _MOST_LEVELS:
        raise ValueError("a number of levels that no sketch has")
    start = _HEAD.size + _COUNTS.size
    # Positions where levels begin; items of a level stand for twice as many rows as those of the one before.
    begins = np.frombuffer(sketch, "<u4", levels, start).astype(np.int64)
    ends = np.frombuffer(sketch, "<f4", 2, start + 4 * levels).astype(float)
    items = np.frombuffer(sketch, "<f4", -1, start + 4 * levels + 8).astype(float)
    sizes = np.diff(np.append(begins, begins[0] + len(items)))
    if (sizes < 0).any():
        raise ValueError("levels that overlap")
    weights = np.repeat(2.0 ** np.arange(levels), sizes)
    if weights.sum() != rows:
        raise ValueError("items that do not stand for all rows")
    return items, weights, ends
