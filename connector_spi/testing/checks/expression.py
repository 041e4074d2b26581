"""Conditions that connectors easily answer otherwise than SQL: NULL, NaN, OR over columns, names of fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import (
    Call,
    ColumnReference,
    ConnectorExpression,
    Constant,
    FieldDereference,
    Function,
    Reference,
    Value,
)
from connector_spi.testing.base import ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reference_queries import offer_expression, rows_that_fit_expression
from connector_spi.testing.sample_data import without_missing_values

__all__ = ["ExpressionChecks"]

_ORDERED = (Function.LESS, Function.LESS_OR_EQUAL, Function.GREATER, Function.GREATER_OR_EQUAL)
_COMPARISONS = (Function.EQUAL, Function.NOT_EQUAL, *_ORDERED, Function.NULL_SAFE_EQUAL)
_TEXT_TESTS = (Function.STARTS_WITH, Function.ENDS_WITH, Function.CONTAINS)
_STRUCT = pa.struct([("b", pa.int64()), ("a", pa.int64()), ("name", pa.string()), ("id", pa.int64())])
_FLAT = pa.table(
    {
        "id": pa.array(range(12), pa.int64()),
        "a": pa.array([1, 2, 3, None, 5, None, 1, 2, 3, None, 5, 9], pa.int64()),
        "b": pa.array([9, None, 1, 1, None, 7, 9, 9, None, None, 1, 2], pa.int64()),
        "name": pa.array(["x", "X", None, "", "xy", "y", None, "x", "yx", "ä", "x", None], pa.string()),
    }
)
_STRUCTS = pa.array(
    [
        {"b": 1, "a": 9, "name": "y", "id": 7},
        {"b": 2, "a": None, "name": None, "id": 6},
        None,
        {"b": 1, "a": 1, "name": "x", "id": 5},
        {"b": None, "a": 5, "name": "", "id": 4},
        {"b": None, "a": None, "name": None, "id": None},
        None,
        {"b": 9, "a": 2, "name": "xy", "id": 0},
        {"b": 3, "a": 3, "name": "X", "id": 8},
        {"b": 5, "a": 1, "name": None, "id": 1},
        None,
        {"b": 7, "a": 9, "name": "x", "id": 11},
    ],
    _STRUCT,
)
_DOUBLES = pa.array([0.0, -0.0, float("nan"), None, 1.5, -1.5, float("inf"), None, float("-inf"), 2.0, 0.5, -2.0])
_TEXTS = [
    "a",
    "A",
    "ab",
    "%",
    "_",
    "a%b",
    "a_b",
    "axb",
    "\\",
    "a\\b",
    "it's",
    "ä",
    "a\u0308",
    "",
    " a",
    "a ",
    "*",
    None,
]


class ExpressionChecks(ConformanceBase):
    """Conditions that are no domains, each offered by itself."""

    def test_a_condition_is_true_false_or_unknown(self) -> None:
        columns = [_column(_FLAT, name) for name in ("a", "name")]
        self._check_all(_FLAT, [one for column in columns for one in _about(column)])

    def test_every_branch_of_an_or_counts(self) -> None:
        a, b, name = (_column(_FLAT, column) for column in ("a", "b", "name"))
        branches = [_call(Function.EQUAL, a, 5), _call(Function.LESS, b, 2), _call(Function.IS_NULL, name)]
        self._check_all(_FLAT, list(_joined(branches)))

    def test_floating_point_numbers_have_an_order(self) -> None:
        self.require(Behaviour.TYPE_DOUBLE)
        data = without_missing_values(_FLAT.append_column("x", _DOUBLES), self.missing_behaviours)
        self._check_all(data, list(_about(_column(data, "x"))))

    def test_fields_of_structs_are_found_by_name(self) -> None:
        self.require(Behaviour.TYPE_STRUCT)
        data = _FLAT.append_column("s", _STRUCTS)
        struct = _column(data, "s")
        b, a, text, number = (FieldDereference(struct, field.name, field.type) for field in _STRUCT)
        leaves = [_call(Function.EQUAL, a, 5), _call(Function.LESS, _column(data, "b"), 2), _call(Function.IS_NULL, b)]
        found = [*_about(a), *_about(text), *_joined(leaves)]
        found += [_call(Function.EQUAL, b, 1), _call(Function.GREATER, number, 6)]
        found += [Call(Function.LESS, (a, b)), Call(Function.EQUAL, (a, _column(data, "a")))]
        self._check_all(data, found)

    def test_parts_of_texts_are_no_patterns(self) -> None:
        data = pa.table({"id": pa.array(range(len(_TEXTS)), pa.int64()), "v": pa.array(_TEXTS, pa.string())})
        data = without_missing_values(data, self.missing_behaviours)
        found = [
            _call(test, _column(data, "v"), part) for test, part in product(_TEXT_TESTS, ("a", "%", "_", "\\", "*"))
        ]
        self._check_all(data, found)

    def _check_all(self, data: pa.Table, conditions: Sequence[ConnectorExpression]) -> None:
        name = self.made(data)
        with self.query() as query:
            scan = query.table(name).project_names(data.column_names)
            for condition in conditions:
                filtered, guaranteed = offer_expression(scan, condition)
                raw = filtered.read_raw()
                said = "guaranteed" if guaranteed else "not guaranteed"
                try:
                    met = raw if guaranteed else rows_that_fit_expression(raw, condition)
                    assert_same_rows(met, rows_that_fit_expression(data, condition))
                except AssertionError as error:
                    raise AssertionError(f"condition {condition}, {said}: {error}") from None


def _column(data: pa.Table, name: str) -> ColumnReference:
    return ColumnReference(ColumnHandle(name, data.schema.field(name).type))


def _call(function: Function, reference: Reference, *values: Value | None) -> Call:
    return Call(function, (reference, *(Constant(value, reference.type) for value in values)))


def _about(reference: Reference) -> Iterator[ConnectorExpression]:
    """Conditions on one column or field, and their negations."""
    middle = _VALUES[reference.type]
    found = [_call(function, reference, value) for function, value in product(_COMPARISONS, middle)]
    found += [_call(Function.NULL_SAFE_EQUAL, reference, None), _call(Function.IS_NULL, reference)]
    found += [_call(Function.IN, reference, *middle), _call(Function.IN, reference, middle[0], None)]
    for one in found:
        yield from (one, Call(Function.NOT, (one,)))


def _joined(leaves: Sequence[ConnectorExpression]) -> Iterator[ConnectorExpression]:
    """Each two leaves joined either way, and all of them, with their negations."""
    first, second, third = leaves
    groups = [(first, second), (second, first), (second, third), (third, first), tuple(leaves)]
    for function, group in product((Function.AND, Function.OR), groups):
        yield Call(function, group)
        yield Call(Function.NOT, (Call(function, group),))
    yield Call(Function.OR, (first, Call(Function.AND, (second, Call(Function.NOT, (third,))))))


_VALUES: Mapping[pa.DataType, tuple[Value, ...]] = {
    pa.int64(): (2, 5),
    pa.string(): ("x",),
    pa.float64(): (0.0, -0.0, 1.5, float("nan")),
}
