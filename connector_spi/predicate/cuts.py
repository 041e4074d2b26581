"""Sets of ordered values as sorted cuts: the arithmetic below Range and SortedRangeSet.

A cut is a place between values: just before one, just after one, below all or above all. A set is a strictly
increasing tuple of an even number of cuts; values between the first and second cut, third and fourth, ... are in it.
So union, intersection and complement need no cases for open and closed, bounded and unbounded.

Types with a known next value have one cut for two places, so that equal sets have equal cuts. Booleans: just after
false is just before true. Floats, in Spark's order: -infinity is the lowest, NaN is above infinity with nothing in
between and nothing above. Integers and strings are treated as dense: 1 < x < 2 is not known to be empty, which only
ever keeps more.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from typing import TypeAlias

from connector_spi.predicate.values import Value

__all__ = [
    "ABOVE_ALL",
    "BELOW_ALL",
    "Bounds",
    "Cut",
    "Cuts",
    "after",
    "before",
    "bounds",
    "complement",
    "contains",
    "contains_value",
    "intersect",
    "merge",
    "only_value",
    "overlaps",
    "pairs",
]

Cut: TypeAlias = tuple[int, Value, int]
"""Rank (0 below all, 1 at a value, 2 above all), the value, and 0 for just before it or 1 for just after it."""

Cuts: TypeAlias = tuple[Cut, ...]
Bounds: TypeAlias = tuple[Value | None, bool, Value | None, bool]
"""Low, whether it is in, high, whether it is in; ``None`` is unbounded."""

BELOW_ALL: Cut = (0, 0, 0)
ABOVE_ALL: Cut = (2, 0, 0)
_BEFORE_TRUE: Cut = (1, True, 0)
_AFTER_LOWEST_FLOAT: Cut = (1, -math.inf, 1)
_BEFORE_NAN: Cut = (1, math.inf, 1)


def before(value: Value) -> Cut:
    """The cut just before a normalized value."""
    if isinstance(value, bool):
        return _BEFORE_TRUE if value else BELOW_ALL
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return _BEFORE_NAN
        if value < 0:
            return BELOW_ALL
    return (1, value, 0)


def after(value: Value) -> Cut:
    """The cut just after a normalized value."""
    if isinstance(value, bool):
        return ABOVE_ALL if value else _BEFORE_TRUE
    if isinstance(value, float) and math.isnan(value):
        return ABOVE_ALL
    return (1, value, 1)


def pairs(cuts: Cuts) -> Iterable[tuple[Cut, Cut]]:
    """The pieces of a set, in order, as pairs of their first and last cut."""
    return zip(cuts[::2], cuts[1::2], strict=True)


def only_value(low: Cut, high: Cut) -> Value | None:
    """The value that alone lies between two cuts, or ``None`` where there may be several."""
    if low[0] == 1 and high[0] == 1:
        return low[1] if low[1] == high[1] and low[2] < high[2] else None
    if low == BELOW_ALL and high[0] == 1:
        if isinstance(high[1], bool):
            return False
        return high[1] if high == _AFTER_LOWEST_FLOAT else None
    if low[0] == 1 and high == ABOVE_ALL:
        if isinstance(low[1], bool):
            return True
        return math.nan if low == _BEFORE_NAN else None
    return None


def bounds(low: Cut, high: Cut) -> Bounds:
    """Writes the piece between two cuts with values; NaN is met only as a single value."""
    single = only_value(low, high)
    if single is not None:
        return single, True, single, True
    return (
        low[1] if low[0] == 1 else None,
        low[0] == 1 and low[2] == 0,
        high[1] if high[0] == 1 else None,
        high[0] == 1 and high[2] == 1,
    )


def merge(pieces: Iterable[tuple[Cut, Cut]]) -> Cuts:
    """The union of pieces in any order, overlapping or empty: n log n, and linear where they come in sorted runs."""
    result: list[Cut] = []
    for low, high in sorted(pieces):
        if not low < high:
            continue
        if result and low <= result[-1]:
            if high > result[-1]:
                result[-1] = high
        else:
            result += (low, high)
    return tuple(result)


def complement(cuts: Cuts) -> Cuts:
    """What is not in the set."""
    result = cuts[1:] if cuts[:1] == (BELOW_ALL,) else (BELOW_ALL, *cuts)
    return result[:-1] if result[-1:] == (ABOVE_ALL,) else (*result, ABOVE_ALL)


def intersect(left: Cuts, right: Cuts) -> Cuts:
    """What is in both sets: m log n for a set of m pieces and a larger one of n, and the pieces of the result."""
    small, large = (left, right) if len(left) <= len(right) else (right, left)
    result: list[Cut] = []
    for low, high in pairs(small):
        start = bisect_right(large, low)
        end = bisect_right(large, high)
        piece = ([low] if start % 2 else []) + list(large[start:end])
        if end % 2:
            # Where the last cut is the piece's own end, another piece of the larger set begins there.
            if piece and piece[-1] == high:
                piece.pop()
            else:
                piece.append(high)
        result += piece
    return tuple(result)


def contains_value(cuts: Cuts, value: Value) -> bool:
    """Whether a normalized value is in the set."""
    return bisect_right(cuts, before(value)) % 2 == 1


def contains(cuts: Cuts, part: Cuts) -> bool:
    """Whether all of ``part`` is in the set."""
    for low, high in pairs(part):
        position = bisect_right(cuts, low)
        if position % 2 == 0 or cuts[position] < high:
            return False
    return True


def overlaps(left: Cuts, right: Cuts) -> bool:
    """Whether something is in both sets."""
    small, large = (left, right) if len(left) <= len(right) else (right, left)
    for low, high in pairs(small):
        position = bisect_right(large, low)
        if position % 2 or (position < len(large) and large[position] < high):
            return True
    return False
