from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import InternalError, InvalidArgumentError
from connector_spi.predicate import AllOrNoneValueSet, EquatableValueSet, Range, SortedRangeSet, ValueSet
from connector_spi.serializable import from_json, to_json
from tests.connector_spi.predicate.model import OPAQUE, UUIDS, Places, Universe, universes, value_sets

Case = tuple[Universe, list[tuple[ValueSet, Places]]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    universe = draw(universes)
    return universe, draw(st.lists(value_sets(universe), min_size=3, max_size=3))


@given(cases())
def test_operations_agree_with_brute_force(case: Case) -> None:
    universe, [(a, in_a), (b, in_b), (c, in_c)] = case
    assert universe.members(a.contains_value) == in_a
    assert universe.members(a.intersect(b).contains_value) == in_a & in_b
    assert universe.members(a.union(b).contains_value) == in_a | in_b
    assert universe.members(a.union(b, c).contains_value) == in_a | in_b | in_c
    assert universe.members(a.complement().contains_value) == universe.everything - in_a
    assert a.contains(b) == (in_b <= in_a)
    assert a.overlaps(b) == bool(in_a & in_b)
    assert a.is_none == (not in_a)
    assert a.is_all == (in_a == universe.everything)
    assert (a == b) == (in_a == in_b)
    if a == b:
        assert hash(a) == hash(b)


@given(cases())
def test_laws(case: Case) -> None:
    universe, [(a, _), (b, _), (c, _)] = case
    none, everything = ValueSet.none(universe.type), ValueSet.all(universe.type)
    assert none.is_none
    assert everything.is_all
    assert a.intersect(everything) == a == a.union(none)
    assert a.intersect(none) == none
    assert a.union(everything) == everything
    assert a.complement().complement() == a
    assert a.intersect(a.complement()) == none
    assert a.union(a.complement()) == everything
    assert a.intersect(b) == b.intersect(a) == a.complement().union(b.complement()).complement()
    assert a.intersect(b.union(c)) == a.intersect(b).union(a.intersect(c))


@given(cases(), st.integers(0, 4))
def test_simplify_only_widens(case: Case, threshold: int) -> None:
    _, [(a, _), _, _] = case
    simple = a.simplify(threshold)
    assert simple.contains(a)
    ranges = simple.ranges()
    assert ranges is None or len(ranges) <= max(threshold, 1)


@given(cases())
def test_listings_rebuild_the_set(case: Case) -> None:
    universe, [(a, in_a), _, _] = case
    ranges, values = a.ranges(), a.discrete_values()
    if universe.ordered:
        assert ranges is not None
        assert ValueSet.of_ranges(universe.type, ranges) == a
        assert all(not left.overlaps(right) for left, right in itertools.pairwise(ranges))
    else:
        assert ranges is None
    if values is not None:
        assert ValueSet.of(universe.type, values) == a
        assert len(values) == len(in_a)
        assert a.is_single_value == (len(values) == 1)
    else:
        assert not a.is_single_value


@given(cases())
def test_value_sets_travel(case: Case) -> None:
    _, [(a, _), _, _] = case
    for copy in (pickle.loads(pickle.dumps(a)), from_json(to_json(a), ValueSet)):  # type: ignore[type-abstract]
        assert copy == a
        assert hash(copy) == hash(a)
        assert copy.discrete_values() is None or repr(copy.discrete_values()) == repr(a.discrete_values())


def test_the_type_chooses_the_class() -> None:
    assert isinstance(ValueSet.all(pa.string()), SortedRangeSet)
    assert isinstance(ValueSet.all(pa.binary(4)), SortedRangeSet)
    assert isinstance(ValueSet.all(UUIDS.type), EquatableValueSet)
    for nested in (OPAQUE.type, pa.map_(pa.string(), pa.int32()), pa.struct([("a", pa.int32())]), pa.duration("us")):
        assert isinstance(ValueSet.all(nested), AllOrNoneValueSet)


def test_nested_types_know_all_and_none_only() -> None:
    everything, none = ValueSet.all(OPAQUE.type), ValueSet.none(OPAQUE.type)
    assert everything.complement() == none
    assert everything.intersect(none) == none
    assert everything.union(none) == everything
    assert none.union(none) == none
    assert everything.contains(none)
    assert not none.contains(everything)
    assert not none.overlaps(everything)
    assert everything.simplify(0) == everything
    assert ValueSet.of(OPAQUE.type, ()) == none
    with pytest.raises(InvalidArgumentError, match="do not compare"):
        ValueSet.of(OPAQUE.type, [1])


def test_an_in_list_above_the_threshold_becomes_its_span() -> None:
    numbers = ValueSet.of(pa.int64(), range(10, 50_010))
    assert numbers.simplify(50_000) == numbers
    assert numbers.simplify(32).ranges() == (Range.between(pa.int64(), 10, True, 50_009, True),)
    assert numbers.complement().simplify(32).is_all
    words = ValueSet.of(UUIDS.type, UUIDS.values)
    assert words.simplify(4) == words
    assert words.simplify(3).is_all


def test_a_list_with_null_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="None"):
        ValueSet.of(pa.int32(), [1, None])  # type: ignore[list-item]  # wrong on purpose


def test_types_do_not_mix() -> None:
    types = (pa.int32(), pa.int64(), UUIDS.type, pa.binary(16), OPAQUE.type, pa.list_(pa.string()))
    for left, right in itertools.permutations(types, 2):
        for operation in ("intersect", "union", "contains", "overlaps"):
            with pytest.raises(InvalidArgumentError, match="cannot be combined"):
                getattr(ValueSet.none(left), operation)(ValueSet.none(right))
    with pytest.raises(InvalidArgumentError, match="cannot be in a set"):
        ValueSet.of_ranges(pa.int32(), [Range.all(pa.int64())])


def test_single_value_of_several_is_refused() -> None:
    assert ValueSet.of(pa.int32(), [1, 1]).single_value == 1
    with pytest.raises(InternalError, match="not a single value"):
        _ = ValueSet.of(pa.int32(), [1, 2]).single_value


def test_a_long_list_is_shown_in_part() -> None:
    assert str(ValueSet.of(pa.int32(), [2, 1])) == "{1, 2}"
    assert str(ValueSet.of(pa.int32(), range(1000))).endswith("8, 9, ... 1000 in all}")


class Counted(int):
    """An integer that counts how often any is compared."""

    comparisons = 0

    def __lt__(self, other: int) -> bool:
        Counted.comparisons += 1
        return int(self) < int(other)

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return isinstance(other, int) and int(self) == int(other)

    def __hash__(self) -> int:
        return hash(int(self))


LONG = ValueSet.of(pa.int64(), map(Counted, range(0, 20_000, 2)))
OTHER = ValueSet.of(pa.int64(), map(Counted, range(10_000, 30_000, 2)))


@pytest.mark.parametrize(
    ("operation", "limit"),
    [
        (lambda: ValueSet.of(pa.int64(), map(Counted, reversed(range(0, 20_000, 2)))), 40 * 10_000),
        (lambda: LONG.union(OTHER), 40 * 20_000),
        (lambda: LONG.intersect(OTHER), 100 * 10_000),
        (lambda: LONG.contains(OTHER), 100 * 10_000),
        (lambda: LONG.overlaps(OTHER), 100 * 10_000),
        (lambda: LONG.complement(), 100),
        (lambda: LONG.contains_value(Counted(9_999)), 100),
    ],
    ids=["of", "union", "intersect", "contains", "overlaps", "complement", "contains_value"],
)
def test_long_lists_cost_no_square(operation: Callable[[], object], limit: int) -> None:
    Counted.comparisons = 0
    operation()
    assert Counted.comparisons < limit
