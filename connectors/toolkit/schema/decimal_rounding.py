"""Decimals with fewer digits behind the point. Executor side.

Arrow 26 divides decimals by ten to a power of more than nine wrongly where they are next to powers of two: of
4294967295.5 with 38 digits behind the point ``round`` makes 4294967294. Divided by one word at a time they are right.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["cut_to_scale", "rounded_down", "rounded_half_up"]

# The greatest power of ten in 32 bits, which are one word of Arrow's division.
_STEP = 9


def cut_to_scale(numbers: pa.Array, scale: int) -> pa.Array:
    """Leaves digits out.

    Args:
        numbers: Of type ``decimal256``.
        scale: Digits behind the point that stay at most.

    Returns:
        Numbers of ``decimal256(76, scale)``, or those given where they have no more digits.
    """
    while (have := numbers.type.scale) > scale:
        numbers = numbers.cast(pa.decimal256(76, max(scale, have - _STEP)), safe=False)
    return numbers


def rounded_down(numbers: pa.Array, scale: int) -> pa.Array:
    """Rounds to the next lower number.

    Args:
        numbers: Of type ``decimal256``.
        scale: Digits behind the point that stay at most.

    Returns:
        Numbers of ``decimal256(76, scale)``, or those given where they have no more digits.
    """
    while (have := numbers.type.scale) > scale:
        kept = max(scale, have - _STEP)
        numbers = pc.round(numbers, ndigits=kept, round_mode="down").cast(pa.decimal256(76, kept))
    return numbers


def rounded_half_up(numbers: pa.Array, scale: int) -> pa.Array:
    """Rounds as ``HiveDecimal`` does, by the first digit behind those that stay.

    Args:
        numbers: Of type ``decimal256``.
        scale: Digits behind the point that stay at most.

    Returns:
        Numbers of ``decimal256(76, scale + 1)`` with no more digits than asked but zeros, or those given.
    """
    if numbers.type.scale <= scale:
        return numbers
    return pc.round(cut_to_scale(numbers, scale + 1), ndigits=scale, round_mode="half_towards_infinity")
