from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import InvalidArgumentError
from connector_spi.predicate import Domain, Range, ValueSet
from connector_spi.serializable import from_json, to_json
from tests.connector_spi.predicate.model import OPAQUE, Universe, domains, universes

Case = tuple[Universe, list[tuple[Domain, frozenset[int | None]]]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    universe = draw(universes)
    return universe, draw(st.lists(domains(universe), min_size=3, max_size=3))


def members(universe: Universe, domain: Domain) -> frozenset[int | None]:
    return universe.members(domain.includes_value) | ({None} if domain.includes_value(None) else set())


@given(cases())
def test_operations_agree_with_brute_force(case: Case) -> None:
    universe, [(a, in_a), (b, in_b), (c, in_c)] = case
    everything = universe.everything | {None}
    assert members(universe, a) == in_a
    assert members(universe, a.intersect(b)) == in_a & in_b
    assert members(universe, a.union(b)) == in_a | in_b
    assert members(universe, a.union(b, c)) == in_a | in_b | in_c
    assert members(universe, a.complement()) == everything - in_a
    assert a.contains(b) == (in_b <= in_a)
    assert a.overlaps(b) == bool(in_a & in_b)
    assert a.is_none == (not in_a)
    assert a.is_all == (in_a == everything)
    assert a.is_only_null == (in_a == {None})
    assert (a == b) == (in_a == in_b)
    assert a.simplify(1).contains(a)
    assert a.simplify(1).null_allowed == a.null_allowed


@given(cases())
def test_domains_travel(case: Case) -> None:
    _, [(a, _), _, _] = case
    for copy in (pickle.loads(pickle.dumps(a)), from_json(to_json(a), Domain)):
        assert copy == a
        assert hash(copy) == hash(a)


@pytest.mark.parametrize("data_type", [pa.int32(), pa.uuid(), OPAQUE.type, pa.null()], ids=str)
def test_named_domains(data_type: pa.DataType) -> None:
    none, everything = Domain.none(data_type), Domain.all(data_type)
    null, not_null = Domain.only_null(data_type), Domain.not_null(data_type)
    assert none.is_none
    assert everything.is_all
    assert null.is_only_null
    assert null.complement() == not_null
    assert null.union(not_null) == everything
    assert null.intersect(not_null) == none
    assert everything.contains(null)
    assert not not_null.overlaps(null)
    assert {domain.type for domain in (none, everything, null, not_null)} == {data_type}


def test_equality_and_in_lists() -> None:
    assert Domain.single_value(pa.string(), "a") == Domain.multiple_values(pa.string(), ["a", "a"])
    assert Domain.single_value(pa.string(), "a").is_single_value
    assert not Domain.create(ValueSet.of(pa.string(), ["a"]), True).is_single_value
    assert Domain.multiple_values(pa.string(), []).is_none


def test_the_default_threshold_keeps_32_values() -> None:
    assert Domain.multiple_values(pa.int32(), range(32)).simplify().values.discrete_values() == tuple(range(32))
    widened = Domain.multiple_values(pa.int32(), range(33)).simplify()
    assert widened.values.ranges() == (Range.between(pa.int32(), 0, True, 32, True),)


def test_types_do_not_mix_even_where_null_would_answer() -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be combined"):
        Domain.only_null(pa.int32()).overlaps(Domain.only_null(pa.string()))
    with pytest.raises(InvalidArgumentError, match="cannot be combined"):
        Domain.not_null(pa.int32()).contains(Domain.only_null(pa.string()))


def test_text_for_explain() -> None:
    assert str(Domain.create(ValueSet.of(pa.int32(), [1, 2]), True)) == "{1, 2} or null"
    assert str(Domain.only_null(pa.int32())) == "null"
    assert str(Domain.not_null(pa.int32())) == "all"
