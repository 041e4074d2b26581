"""Decimals with fewer digits, against Python's own, with numbers next to powers of two above all."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal, localcontext

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.toolkit.schema.decimal_rounding import cut_to_scale, rounded_down, rounded_half_up
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.value_casts import leaf_cast

_NEAR = st.builds(lambda bits, more: (1 << bits) + more, st.integers(0, 125), st.integers(-3, 3))
_FRACTIONS = st.sampled_from([0, 1, 25, 49999, 5, 50001, 75, 99999])
_NUMBERS = st.one_of(_NEAR, st.integers(0, 10**38 - 1))


def _digits(number: Decimal, scale: int, rounding: str) -> Decimal:
    with localcontext(prec=100):
        return number.quantize(Decimal(1).scaleb(-scale), rounding)


@given(_NUMBERS, _FRACTIONS, st.integers(0, 38), st.integers(0, 37), st.sampled_from([1, -1]))
def test_rounding_is_that_of_python(whole: int, fraction: int, have: int, scale: int, sign: int) -> None:
    with localcontext(prec=100):
        number = sign * Decimal(f"{whole}.{fraction}")
    number = _digits(number, have, ROUND_DOWN)
    numbers = pa.array([number, None], pa.decimal256(76, have))
    kept = min(have, scale)
    assert cut_to_scale(numbers, scale).to_pylist() == [_digits(number, kept, ROUND_DOWN), None]
    assert rounded_down(numbers, scale).to_pylist() == [_digits(number, kept, ROUND_FLOOR), None]
    assert rounded_half_up(numbers, scale).to_pylist() == [_digits(number, kept, ROUND_HALF_UP), None]


@pytest.mark.parametrize("text", ["2147483647.99999", "4294967295.5", "281474976710655.5", "18446744073709551615.25"])
@pytest.mark.parametrize("target", [pa.decimal128(38, 0), pa.decimal128(38, 1), pa.int64()])
def test_casts_of_decimals_next_to_powers_of_two(text: str, target: pa.DataType) -> None:
    source = pa.decimal128(38, 18)
    cast = leaf_cast(source, target, TimeConventions(), "t")
    assert cast is not None
    (found,) = cast(pa.array([Decimal(text)], source)).to_pylist()
    if pa.types.is_integer(target):
        whole = int(Decimal(text))
        assert found == (whole if whole < 1 << 63 else None)
    else:
        assert found == _digits(Decimal(text), target.scale, ROUND_HALF_UP)
