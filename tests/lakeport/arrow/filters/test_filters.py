"""Filters of ``session.arrow`` against a brute-force model, pyarrow's own filters, and SQL's rules for NULL and NaN."""

from __future__ import annotations

import functools
import math
import operator
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import InvalidArgumentError
from lakeport.arrow.filters.where import Condition, RowFilter, parse_where

TYPES = {
    "i": pa.int32(),
    "f": pa.float64(),
    "s": pa.string(),
    "d": pa.date32(),
    "b": pa.bool_(),
    "p": pa.decimal128(5, 2),
    "t": pa.timestamp("us", "UTC"),
}
VALUES: dict[str, list[object]] = {
    "i": [-1, 0, 1, 2],
    "f": [-0.0, 0.0, 1.5, math.inf, -math.inf, math.nan],
    "s": ["", "a", "b", "ä"],
    "d": [date(2024, 1, 1), date(2024, 1, 2)],
    "b": [True, False],
    "p": [Decimal("0.00"), Decimal("1.25"), Decimal("-3.50")],
    "t": [datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, 0, 0, 0, 1, tzinfo=UTC)],
}
COMPARE: dict[str, Callable[[tuple[bool, object], tuple[bool, object]], bool]] = {
    "=": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


def conditions(values: dict[str, list[object]] = VALUES) -> st.SearchStrategy[Condition]:
    def of(column: str) -> st.SearchStrategy[Condition]:
        value = st.sampled_from(values[column])
        return st.one_of(
            st.tuples(st.just(column), st.sampled_from(sorted(COMPARE)), value),
            st.tuples(st.just(column), st.sampled_from(["in", "not in"]), st.lists(value, min_size=1, max_size=3)),
            st.tuples(st.just(column), st.sampled_from(["is null", "IS NOT  NULL"])),
        )

    return st.sampled_from(sorted(TYPES)).flatmap(of)


filters = st.lists(st.lists(conditions(), min_size=1, max_size=3), min_size=1, max_size=3)
rows = st.lists(
    st.fixed_dictionaries({name: st.none() | st.sampled_from(values) for name, values in VALUES.items()}), max_size=12
)


def parse(where: Sequence[Sequence[Condition]]) -> RowFilter:
    found = parse_where(where, lambda name: (name, TYPES[name]))
    assert found is not None
    return found


def batch_of(data: list[dict[str, object]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(data, schema=pa.schema(TYPES.items()))


def ordered(value: object) -> tuple[bool, object]:
    """A key of Spark's order: NaN above all."""
    nan = isinstance(value, float) and math.isnan(value)
    return (nan, 0.0 if nan else value)


def holds(condition: Condition, row: dict[str, object]) -> bool:
    value, words = row[condition[0]], condition[1].lower().split()
    if words == ["is", "null"]:
        return value is None
    if value is None:
        return False
    if words == ["is", "not", "null"]:
        return True
    if words[-1] == "in":
        listed = condition[-1]
        assert isinstance(listed, list)
        return (ordered(value) in [ordered(one) for one in listed]) == (words == ["in"])
    return COMPARE[words[0]](ordered(value), ordered(condition[-1]))


@given(filters, rows)
def test_the_mask_is_sqls_where(where: list[list[Condition]], data: list[dict[str, object]]) -> None:
    expected = [any(all(holds(condition, row) for condition in part) for part in where) for row in data]
    numbered = batch_of(data).append_column("n", pa.array(range(len(data))))
    kept = parse(where).apply(numbered).column("n").to_pylist()
    assert kept == [index for index, keep in enumerate(expected) if keep]


@given(filters, rows)
def test_the_domain_holds_for_every_row_that_passes(
    where: list[list[Condition]], data: list[dict[str, object]]
) -> None:
    domain = parse(where).domain()
    for row in data:
        if any(all(holds(condition, row) for condition in part) for part in where):
            assert all(d.includes_value(row[column]) for column, d in dict(domain.domains or {}).items())  # type: ignore[arg-type]
            assert not domain.is_none


def shared_with_pyarrow(condition: Condition) -> bool:
    """What pyarrow knows too, and has no other answer for: its NaN differs, and it tells 0.0 from -0.0 in lists."""
    return condition[0] != "f" and "null" not in condition[1].lower()


@given(st.lists(st.lists(conditions().filter(shared_with_pyarrow), min_size=1, max_size=3), min_size=1), rows)
def test_pyarrow_reads_the_same_lists_the_same_way(where: list[list[Condition]], data: list[dict[str, object]]) -> None:
    theirs = pc.scalar(False)
    for part in where:
        # NULL passes pyarrow's "not in".
        valid = [pc.field(condition[0]).is_valid() for condition in part]
        theirs = theirs | functools.reduce(operator.and_, valid, pq.filters_to_expression(part))
    # Without the floats, whose NaN is not equal to itself when the answers are compared.
    batch = batch_of(data).select(["i", "s", "d", "b", "p", "t"])
    assert parse(where).apply(batch).to_pylist() == batch.filter(theirs).to_pylist()


def test_lists_of_nothing() -> None:
    batch = batch_of([{"i": 1}, {"i": None}])
    assert parse_where([], lambda name: (name, TYPES[name])) is None
    assert parse([[("i", "in", [])]]).apply(batch).num_rows == 0
    assert parse([[("i", "in", [])]]).domain().is_none
    assert parse([[("i", "not in", [])]]).apply(batch).num_rows == 2


def test_dictionaries_compare_as_their_values() -> None:
    for data_type in (pa.dictionary(pa.int32(), pa.string()), pa.large_string()):
        batch = pa.record_batch({"c": pa.array(["x", None, "y"], pa.string()).cast(data_type)})
        for where in ([("c", "=", "y")], [("c", "in", ["y", "z"])], [("c", "not in", ["x"])], [("c", ">", "x")]):
            found = parse_where(where, lambda name, known=data_type: (name, known))  # type: ignore[misc]
            assert found is not None
            assert found.apply(batch).column("c").to_pylist() == ["y"], (data_type, where)


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("i ~ 5", "cannot read the filter 'i ~ 5'"),
        (5, "expected \\[\\(column, operator, value\\)"),
        ([("i", "~", 5)], "operator of =, =="),
        ([("i", ">")], "cannot read the filter"),
        ([[]], "cannot read the filter"),
        ([("i", "in", "abc")], "cannot read the filter"),
        ([("i", "=", None)], "is null"),
        ([("i", "in", [1, None])], "is null"),
        ([("i", "=", "1")], "column 'i' is int32: '1' \\(str\\)"),
        ([("i", "=", 2**40)], "column 'i' is int32"),
        ([("i", ">", 1.5)], "column 'i' is int32"),
        ([("p", "=", Decimal("1.234"))], "column 'p' is decimal"),
        ([("d", "=", "2024-01-01")], "column 'd' is date32"),
        ([("t", "=", datetime(2024, 1, 1))], "column 't' is timestamp"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(where: list[Condition], says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        parse_where(where, lambda name: (name, TYPES[name]))


def test_values_of_numpy_and_arrow_are_those_of_python() -> None:
    data: list[dict[str, object]] = [{"i": 1, "f": 1.5, "s": "a", "d": date(2024, 1, 2)}, {"i": 2}]
    same: list[list[Condition]] = [
        [("i", "=", np.int64(1)), ("f", "<=", np.float32(1.5)), ("s", "=", np.str_("a"))],
        [("i", "in", np.array([1, 7])), ("d", ">", np.datetime64("2024-01-01"))],
        [("i", "in", pa.array([1])), ("s", "=", pa.scalar("a"))],
    ]
    for part in same:
        assert parse([part]).apply(batch_of(data)).column("i").to_pylist() == [1]
    with pytest.raises(InvalidArgumentError, match="cannot be compared with NULL"):
        parse([[("i", "=", pa.scalar(None, pa.int32()))]])


@pytest.mark.parametrize("alone", [("i", ">", 5), ["s", "is null"]])
def test_a_condition_with_no_list_around_it_is_shown_whole(alone: Sequence[Condition]) -> None:
    with pytest.raises(InvalidArgumentError, match=re.escape(f"cannot read the filter {alone!r}: expected [(column")):
        parse_where(alone, lambda name: (name, TYPES[name]))
