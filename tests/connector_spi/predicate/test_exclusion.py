"""Whether a condition may be true, asked of single rows: there the answer is known."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from hypothesis import given, settings

from connector_spi.predicate import Call, ConnectorExpression, Domain, Function, Reference, may_be_true
from connector_spi.testing.reference_queries import rows_that_fit_expression
from connector_spi.testing.strategies import expressions
from tests.sampling import examples

_STRUCT = pa.struct([("a", pa.int64()), ("x", pa.float64()), ("in", pa.struct([("a", pa.string())]))])
_ROWS = pa.table(
    {
        "a": pa.array([1, None, 3, 1, None, 2], pa.int64()),
        "x": pa.array([0.0, -0.0, float("nan"), None, float("inf"), float("-inf")]),
        "t": pa.array(["", "a", None, "ab", "\U0001f600", "\uffff"]),
        "s": pa.array(
            [
                None,
                {"a": None, "x": None, "in": None},
                {"a": 3, "x": float("nan"), "in": {"a": None}},
                {"a": 2, "x": -0.0, "in": {"a": "ab"}},
                {"a": 1, "x": 1.5, "in": {"a": ""}},
                {"a": None, "x": float("inf"), "in": {"a": "b"}},
            ],
            _STRUCT,
        ),
    }
)
_WHOLE = pa.table({name: _ROWS[name] for name in ("a", "t")})
_TEXT_TESTS = (Function.ENDS_WITH, Function.CONTAINS)


def _value(row: Mapping[str, object], reference: Reference) -> object:
    found = row[reference.column.name]
    for name in reference.path:
        found = found[name] if isinstance(found, Mapping) else None
    return found


def _may(condition: ConnectorExpression, row: Mapping[str, object]) -> bool:
    def may_hold(reference: Reference, domain: Domain) -> bool:
        value = _value(row, reference)
        assert value is None or isinstance(value, int | float | str)
        return domain.includes_value(value)

    return may_be_true(condition, may_hold)


def _has_text_test(condition: ConnectorExpression) -> bool:
    if not isinstance(condition, Call):
        return False
    return condition.function in _TEXT_TESTS or any(map(_has_text_test, condition.arguments))


@settings(max_examples=examples(1000))
@given(expressions(_ROWS))
def test_what_is_true_may_be_true(condition: ConnectorExpression) -> None:
    for number, row in enumerate(_ROWS.to_pylist()):
        if rows_that_fit_expression(_ROWS.slice(number, 1), condition).num_rows:
            assert _may(condition, row), (str(condition), row)


@settings(max_examples=examples(1000))
@given(expressions(_WHOLE).filter(lambda condition: not _has_text_test(condition)))
def test_of_a_known_row_nothing_is_in_doubt(condition: ConnectorExpression) -> None:
    """NULL makes a comparison neither true nor false, and its negation neither."""
    for number, row in enumerate(_WHOLE.to_pylist()):
        is_true = bool(rows_that_fit_expression(_WHOLE.slice(number, 1), condition).num_rows)
        assert _may(condition, row) == is_true, (str(condition), row)
