from __future__ import annotations

import itertools
import pickle
from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import InvalidArgumentError
from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.predicate import Constraint, Domain, Range, TupleDomain, ValueSet
from connector_spi.serializable import from_json, to_json
from tests.connector_spi.predicate.model import Places, Universe, domains

SMALL = Universe("int32", pa.int32(), tuple(range(5)), (1, 3))
COLUMNS = ("a", "b")
Row = tuple[int | None, ...]
ROWS: frozenset[Row] = frozenset(itertools.product([None, *range(5)], repeat=2))
ONE = Domain.single_value(pa.int32(), 1)
TWO = Domain.single_value(pa.int32(), 2)


@st.composite
def tuple_domains(draw: st.DrawFn) -> tuple[TupleDomain[str], frozenset[Row]]:
    if draw(st.integers(0, 9)) == 0:
        return TupleDomain.none(), frozenset()
    chosen: dict[str, tuple[Domain, frozenset[int | None]]] = draw(
        st.dictionaries(st.sampled_from(COLUMNS), domains(SMALL), max_size=2)
    )
    unlimited: frozenset[int | None] = frozenset({None}) | SMALL.everything
    sides = [chosen[column][1] if column in chosen else unlimited for column in COLUMNS]
    rows: frozenset[Row] = frozenset(itertools.product(*sides))
    return TupleDomain.with_column_domains({column: domain for column, (domain, _) in chosen.items()}), rows


def rows_of(predicate: TupleDomain[str]) -> frozenset[Row]:
    domains_of = [predicate.get(column, pa.int32()) for column in COLUMNS]
    return frozenset(
        row for row in ROWS if all(domain.includes_value(v) for domain, v in zip(domains_of, row, strict=True))
    )


@given(tuple_domains(), tuple_domains())
def test_operations_agree_with_brute_force(
    left: tuple[TupleDomain[str], frozenset[Row]], right: tuple[TupleDomain[str], frozenset[Row]]
) -> None:
    (a, in_a), (b, in_b) = left, right
    assert rows_of(a) == in_a
    assert rows_of(a.intersect(b)) == in_a & in_b
    assert rows_of(a.union(b)) >= in_a | in_b
    assert a.contains(b) == (in_b <= in_a)
    assert a.overlaps(b) == bool(in_a & in_b)
    assert a.is_none == (not in_a)
    assert a.is_all == (in_a == ROWS)
    assert (a == b) == (in_a == in_b)
    assert a.simplify(1).contains(a)
    assert a.keep(lambda column: column == "a").contains(a)
    assert rows_of(a.keep(lambda column: column == "a")) >= in_a


@given(st.lists(tuple_domains(), min_size=1, max_size=4))
def test_union_is_the_union_of_each_column(cases: list[tuple[TupleDomain[str], frozenset[Row]]]) -> None:
    (first, _), *rest = cases
    union = first.union(*(predicate for predicate, _ in rest))
    sides = [rows for _, rows in cases if rows]
    if not sides:
        assert union.is_none
        return
    columns: list[frozenset[int | None]] = [frozenset(row[i] for rows in sides for row in rows) for i in range(2)]
    assert rows_of(union) == frozenset(itertools.product(*columns))


@given(tuple_domains())
def test_tuple_domains_travel(case: tuple[TupleDomain[str], frozenset[Row]]) -> None:
    value, _ = case
    for copy in (pickle.loads(pickle.dumps(value)), from_json(to_json(value), TupleDomain)):
        assert copy == value
        assert hash(copy) == hash(value)


@given(tuple_domains(), tuple_domains())
def test_all_and_none(left: tuple[TupleDomain[str], Places], right: tuple[TupleDomain[str], Places]) -> None:
    a, b = left[0], right[0]
    everything: TupleDomain[str] = TupleDomain.all()
    none: TupleDomain[str] = TupleDomain.none()
    assert a.intersect(everything) == a == a.union(none)
    assert a.intersect(none) == none
    assert a.union(everything) == everything
    assert everything.contains(a)
    assert a.contains(none)
    assert a.intersect(b) == b.intersect(a)
    assert a.union(b) == b.union(a)


def test_no_column_or_a_domain_of_everything_is_all() -> None:
    assert TupleDomain.with_column_domains({"a": Domain.all(pa.int32())}) == TupleDomain[str].all()
    assert TupleDomain.with_column_domains({"a": ONE, "b": Domain.none(pa.int32())}) == TupleDomain[str].none()
    assert TupleDomain.with_column_domains({"a": ONE}).intersect(TupleDomain({"a": TWO})).is_none


def test_get_of_a_column_that_is_not_named() -> None:
    assert TupleDomain.with_column_domains({"a": ONE}).get("b", pa.string()) == Domain.all(pa.string())
    assert TupleDomain[str].none().get("b", pa.string()) == Domain.none(pa.string())


def test_the_mapping_that_was_given_may_change_afterwards() -> None:
    given_domains = {"a": ONE}
    predicate = TupleDomain.with_column_domains(given_domains)
    given_domains["a"] = TWO
    assert predicate.get("a", pa.int32()) == ONE


def test_transform_keys_renames_and_drops() -> None:
    predicate = TupleDomain.with_column_domains({"a": ONE, "b": TWO})
    assert predicate.transform_keys({"a": 7}.get) == TupleDomain.with_column_domains({7: ONE})
    assert predicate.transform_keys(str.upper) == TupleDomain.with_column_domains({"B": TWO, "A": ONE})
    assert TupleDomain[str].none().transform_keys(str.upper).is_none
    with pytest.raises(InvalidArgumentError, match="become the one key x"):
        predicate.transform_keys(lambda column: "x")


@dataclass(frozen=True, slots=True)
class FilteredTable(TableHandle):
    """A handle as connectors have."""

    name: str
    constraint: TupleDomain[ColumnHandle]


def test_a_handle_with_a_predicate_is_equal_and_hashes_whatever_the_order() -> None:
    a, b = ColumnHandle("a", pa.int32()), ColumnHandle("b", pa.float64())
    above = Domain.create(ValueSet.of_ranges(pa.float64(), [Range.greater_or_equal(pa.float64(), float("nan"))]), False)
    left = FilteredTable("t", TupleDomain.with_column_domains({a: ONE, b: above}))
    right = FilteredTable("t", TupleDomain.with_column_domains({b: above, a: ONE}))
    assert left == right
    assert len({left, right, pickle.loads(pickle.dumps(left)), from_json(to_json(right), FilteredTable)}) == 1
    assert left != FilteredTable("t", TupleDomain.with_column_domains({a: ONE}))


def test_a_constraint_travels() -> None:
    column = ColumnHandle("a", pa.int32())
    constraint = Constraint(TupleDomain.with_column_domains({column: ONE}), ("upper(b) = 'X'",))
    assert from_json(to_json(constraint), Constraint) == pickle.loads(pickle.dumps(constraint)) == constraint
    assert Constraint.always_true().summary.is_all
    assert Constraint.always_true().remaining == ()


def test_text_for_explain() -> None:
    predicate = TupleDomain.with_column_domains({"a": ONE, "b": Domain.only_null(pa.int32())})
    assert str(predicate) == "a in {1} and b in null"
    assert str(TupleDomain[str].all()) == "all"
    assert str(TupleDomain[str].none()) == "none"
