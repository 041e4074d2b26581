"""Filters of very many values become ranges that hold them all, and leave out what lies between runs of them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.predicate import Domain, EquatableValueSet, TupleDomain, ValueSet
from lakeport.planning.long_lists import shortened


@given(
    values=st.sets(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40),
    nulls=st.booleans(),
    negated=st.booleans(),
    most=st.integers(2, 12),
)
def test_every_value_stays(values: set[int], nulls: bool, negated: bool, most: int) -> None:
    listed = ValueSet.of(pa.int64(), values)
    asked = Domain(listed.complement() if negated else listed, nulls)
    found = (shortened(TupleDomain({"a": asked}), most).domains or {}).get("a", Domain.all(pa.int64()))
    assert found.contains(asked)
    assert found.null_allowed == nulls
    ranges = found.values.ranges()
    assert ranges is not None
    assert len(ranges) <= most
    if len(asked.values.ranges() or ()) <= most:
        assert found == asked


def test_what_lies_between_runs_is_left_out() -> None:
    asked = Domain.multiple_values(pa.int64(), range(0, 2000, 2))
    [found] = (shortened(TupleDomain({"a": asked}), 500).domains or {}).values()
    assert [found.includes_value(value) for value in (0, 1, 6, 8, 9, 1998)] == [True] * 6
    assert [found.includes_value(value) for value in (-1, 7, 15, 1999)] == [False] * 4


@pytest.mark.parametrize("filtered", [TupleDomain[str].all(), TupleDomain[str].none()])
def test_nothing_and_everything(filtered: TupleDomain[str]) -> None:
    assert shortened(filtered, 3) == filtered


def test_values_without_an_order() -> None:
    kind = pa.binary(16)
    listed = EquatableValueSet(kind, True, frozenset({b"a" * 16, b"b" * 16}))
    asked = TupleDomain({"a": Domain(listed, False)})
    assert shortened(asked, 2) == asked
    [found] = (
        shortened(
            TupleDomain({"a": Domain(EquatableValueSet(kind, True, frozenset({b"a", b"b", b"c"})), False)}), 2
        ).domains
        or {}
    ).values()
    assert found.values.is_all
