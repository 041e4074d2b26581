from __future__ import annotations

import math
import pickle
from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import InternalError, InvalidArgumentError
from connector_spi.predicate import Range
from connector_spi.serializable import from_json, to_json
from tests.connector_spi.predicate.model import RangeModel, Universe, ordered_universes, ranges

NAN = float("nan")


@st.composite
def two_ranges(draw: st.DrawFn) -> tuple[Universe, RangeModel, RangeModel]:
    universe = draw(ordered_universes)
    return universe, draw(ranges(universe)), draw(ranges(universe))


@given(two_ranges())
def test_operations_agree_with_brute_force(case: tuple[Universe, RangeModel, RangeModel]) -> None:
    universe, left, right = case
    a, b = left.range, right.range
    assert universe.members(a.contains_value) == left.places
    assert a.is_empty == (not left.places)
    assert a.is_all == (left.places == universe.everything)
    assert (a == b) == (left.places == right.places) or not left.places or not right.places
    assert a.contains(b) == (right.places <= left.places)
    assert a.overlaps(b) == bool(left.places & right.places)
    both = a.intersect(b)
    assert (frozenset() if both is None else universe.members(both.contains_value)) == left.places & right.places
    either = left.places | right.places
    if either:
        spanned = universe.members(a.span(b).contains_value)
        assert spanned == frozenset(range(min(either), max(either) + 1))
    if left.low is not None and left.low == left.high:
        assert a.is_single_value
        assert universe.members(lambda value: value == a.single_value or value != value) >= left.places


@given(two_ranges())
def test_ranges_travel(case: tuple[Universe, RangeModel, RangeModel]) -> None:
    _, model, _ = case
    value = model.range
    for copy in (pickle.loads(pickle.dumps(value)), from_json(to_json(value), Range)):
        assert copy == value
        assert hash(copy) == hash(value)


def test_nan_is_the_greatest_float_and_equal_to_itself() -> None:
    double = pa.float64()
    assert Range.greater_than(double, 1.0).contains_value(NAN)
    assert Range.all(double).contains_value(NAN)
    assert not Range.less_or_equal(double, math.inf).contains_value(NAN)
    assert Range.less_or_equal(double, NAN).is_all
    assert Range.greater_than(double, NAN).is_empty
    assert Range.less_than(double, NAN) == Range.less_or_equal(double, math.inf)
    assert Range.equal(double, NAN) == Range.equal(double, -NAN) == Range.greater_or_equal(double, NAN)
    assert not Range.equal(double, NAN).contains_value(math.inf)


def test_minus_zero_is_zero() -> None:
    double = pa.float64()
    assert Range.equal(double, -0.0).contains_value(0.0)
    assert not Range.less_than(double, 0.0).contains_value(-0.0)
    assert math.copysign(1, Range.equal(double, -0.0).single_value) == 1.0  # type: ignore[arg-type]  # it is a float


def test_nan_is_no_bound_of_a_range_of_several_values() -> None:
    shown = Range.between(pa.float64(), 1.0, False, NAN, False)
    assert (shown.low, shown.high, shown.high_inclusive) == (1.0, math.inf, True)
    assert Range.between(pa.float64(), 1.0, False, NAN, True).high is None


def test_a_float_of_32_bits_matches_the_shortest_decimal_that_names_it() -> None:
    stored = pa.array([0.1], pa.float32())[0].as_py()
    assert stored != 0.1
    assert Range.equal(pa.float32(), 0.1).contains_value(stored)


def test_aware_timestamps_compare_as_instants() -> None:
    paris = datetime(2024, 1, 1, 13, tzinfo=timezone(timedelta(hours=1)))
    instants = Range.equal(pa.timestamp("us", "UTC"), paris)
    assert instants == Range.equal(pa.timestamp("us", "UTC"), datetime(2024, 1, 1, 12, tzinfo=UTC))
    assert instants.single_value.tzinfo is UTC  # type: ignore[union-attr]  # it is a datetime


@pytest.mark.parametrize(
    ("data_type", "value"),
    [
        (pa.int32(), True),
        (pa.int32(), 1.0),
        (pa.int32(), "1"),
        (pa.int32(), None),
        (pa.bool_(), 1),
        (pa.string(), b"a"),
        (pa.binary(), "a"),
        (pa.float64(), 2**53 + 1),
        (pa.float32(), 1e300),
        (pa.date32(), datetime(2024, 1, 1)),
        (pa.timestamp("us"), datetime(2024, 1, 1, tzinfo=UTC)),
        (pa.timestamp("us", "UTC"), datetime(2024, 1, 1)),
        (pa.decimal128(5, 2), 1.5),
    ],
)
def test_a_value_of_another_type_is_refused_by_name(data_type: pa.DataType, value: object) -> None:
    with pytest.raises(InvalidArgumentError) as refusal:
        Range.all(data_type).contains_value(value)  # type: ignore[arg-type]  # wrong on purpose
    assert str(data_type) in str(refusal.value)


def test_a_range_upside_down_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="from 5 to 3"):
        Range.between(pa.int32(), 5, True, 3, True)
    with pytest.raises(InvalidArgumentError, match="holds no value"):
        Range.between(pa.int32(), 3, True, 3, False)


def test_types_do_not_mix() -> None:
    with pytest.raises(InvalidArgumentError, match="int32 cannot be combined with one of int64"):
        Range.all(pa.int32()).intersect(Range.all(pa.int64()))
    with pytest.raises(InvalidArgumentError, match="has no order"):
        Range.all(pa.list_(pa.int32()))


def test_single_value_of_a_wider_range_is_refused() -> None:
    with pytest.raises(InternalError, match="not a single value"):
        _ = Range.greater_than(pa.int32(), 1).single_value


def test_text_for_explain() -> None:
    assert str(Range.between(pa.int32(), 1, False, 5, True)) == "(1, 5]"
    assert str(Range.greater_or_equal(pa.string(), "a")) == "['a', +inf)"
