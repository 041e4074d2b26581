"""Alternatives keep each row that fits all the conditions."""

from __future__ import annotations

import pickle

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import (
    Call,
    ColumnReference,
    ConnectorExpression,
    Constant,
    Domain,
    Function,
    TupleDomain,
    alternatives,
)
from connector_spi.testing.reference_queries import rows_that_fit_expression
from connector_spi.testing.sample_data import mixed_table
from connector_spi.testing.strategies import expressions

DATA = mixed_table(())
A, B = (ColumnReference(ColumnHandle(name, pa.int64())) for name in "ab")


def equal(column: ColumnReference, value: int | float | None) -> Call:
    return Call(Function.EQUAL, (column, Constant(value, column.type)))


def fits(row: dict[str, object], domain: TupleDomain[ColumnHandle]) -> bool:
    met = domain.domains
    return met is not None and all(allowed.includes_value(row[column.name]) for column, allowed in met.items())  # type: ignore[arg-type]


@given(st.lists(expressions(DATA), max_size=3))
def test_no_row_is_lost(conditions: list[ConnectorExpression]) -> None:
    fitting = DATA
    for condition in conditions:
        fitting = rows_that_fit_expression(fitting, condition)
    found = alternatives(conditions)
    assert len(found) <= 64
    for row in fitting.to_pylist():
        assert any(fits(row, one) for one in found), (row, conditions)


def test_an_or_over_columns_has_an_alternative_for_each() -> None:
    one, other = (Domain.single_value(pa.int64(), value) for value in (1, 2))
    either = Call(Function.OR, (equal(A, 1), equal(B, 2)))
    assert alternatives([either]) == (TupleDomain({A.column: one}), TupleDomain({B.column: other}))
    assert alternatives([either, equal(A, 2)]) == (TupleDomain({A.column: other, B.column: other}),)


def test_the_start_of_a_text_is_a_range() -> None:
    text = ColumnReference(ColumnHandle("t", pa.string()))
    starts = Call(Function.STARTS_WITH, (text, Constant("ab", pa.string())))
    [one, _] = alternatives([Call(Function.OR, (starts, equal(A, 1)))])
    texts = ("ab", "abc", "ab\U0010ffff", "aa", "ac", "a", "", None)
    assert [fits({"t": value}, one) for value in texts] == [True, True, True, False, False, False, False, False]


def test_what_is_never_true_has_none_and_what_is_unknown_all() -> None:
    assert alternatives([equal(A, None)]) == ()
    assert alternatives([]) == (TupleDomain.all(),)
    assert alternatives([Call(Function.OR, (equal(A, 1), Call(Function.EQUAL, (A, B))))]) == (TupleDomain.all(),)
    double = ColumnReference(ColumnHandle("d", pa.float64()))
    above = Call(Function.GREATER, (double, Constant(float("nan"), double.type)))
    assert alternatives([above]) in ((), (TupleDomain.all(),))


def test_too_many_are_given_up() -> None:
    many = Call(Function.OR, tuple(equal(A if n % 2 else B, n) for n in range(65)))
    assert alternatives([many]) == (TupleDomain.all(),)


def test_a_condition_with_nan_is_the_same_after_its_travel() -> None:
    sent = Constant(float("nan"), pa.float64())
    met = pickle.loads(pickle.dumps(sent))
    assert met == sent
    assert hash(met) == hash(sent)
    assert met != Constant(0.0, pa.float64())
    assert met != Constant(None, pa.float64())
