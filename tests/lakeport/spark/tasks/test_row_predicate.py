"""Masks of tasks against SQL's three-valued logic, written as a loop over the rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.predicate import Value
from connector_spi.serializable import from_json, to_json
from lakeport.spark.tasks.row_predicate import (
    Comparison,
    InList,
    Junction,
    Negation,
    NullTest,
    RowPredicate,
    TextTest,
    Truth,
)

NAN = float("nan")
SCHEMA = pa.schema(
    [("long", pa.int64()), ("number", pa.float64()), ("price", pa.decimal128(6, 2)), ("text", pa.string())]
)
VALUES: dict[str, st.SearchStrategy[Value]] = {
    "long": st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)]),
    "number": st.sampled_from([NAN, math.inf, -math.inf, 0.0, -0.0, 1.5]),
    "price": st.sampled_from([Decimal("0.00"), Decimal("1.50"), Decimal("-9999.99")]),
    "text": st.sampled_from(["", "a", "ab", "b", "ż", "%", "\U0001f422"]),
}
Row = dict[str, object]
ROWS = st.lists(st.fixed_dictionaries({name: st.none() | values for name, values in VALUES.items()}), max_size=12)
ORDER: dict[str, Callable[[tuple[bool, object], tuple[bool, object]], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
TESTS = {"STARTS_WITH": str.startswith, "ENDS_WITH": str.endswith, "CONTAINS": str.__contains__}


def comparable(value: object) -> tuple[bool, object]:
    """NaN equals itself and is above all; texts compare by their bytes."""
    if isinstance(value, str):
        return (False, value.encode())
    return (True, 0) if value != value else (False, value)


def truth(predicate: RowPredicate, row: Row) -> bool | None:
    """Spark's answer for one row; ``None`` is unknown."""
    if isinstance(predicate, Truth):
        return predicate.value
    if isinstance(predicate, Negation):
        inner = truth(predicate.inner, row)
        return None if inner is None else not inner
    if isinstance(predicate, Junction):
        answers = [truth(inner, row) for inner in predicate.inner]
        if (not predicate.all_of) in answers:
            return not predicate.all_of
        return None if None in answers else predicate.all_of
    assert isinstance(predicate, NullTest | Comparison | InList | TextTest)
    value = row[predicate.column]
    if isinstance(predicate, NullTest):
        return (value is None) == predicate.null
    if value is None:
        return False if isinstance(predicate, Comparison) and predicate.null_safe else None
    if isinstance(predicate, Comparison):
        return ORDER[predicate.operator](comparable(value), comparable(predicate.value))
    if isinstance(predicate, InList):
        return True if value in predicate.values else None if predicate.has_null else False
    return bool(TESTS[predicate.operator](str(value), predicate.text))


def leaves() -> st.SearchStrategy[RowPredicate]:
    def of(column: str) -> st.SearchStrategy[RowPredicate]:
        value = VALUES[column]
        made: list[st.SearchStrategy[RowPredicate]] = [
            st.builds(NullTest, st.just(column), st.booleans()),
            st.builds(Comparison, st.just(column), st.sampled_from(sorted(ORDER)), value),
            st.builds(Comparison, st.just(column), st.just("="), value, st.just(True)),
        ]
        if column != "number":
            made.append(st.builds(InList, st.just(column), st.lists(value, max_size=3).map(tuple), st.booleans()))
        if column == "text":
            made.append(st.builds(TextTest, st.just(column), st.sampled_from(sorted(TESTS)), VALUES["text"]))
        return st.one_of(made)

    return st.one_of(st.sampled_from(SCHEMA.names).flatmap(of), st.builds(Truth, st.booleans()))


def predicates() -> st.SearchStrategy[RowPredicate]:
    return st.recursive(
        leaves(),
        lambda inner: st.one_of(
            st.builds(Negation, inner),
            st.builds(Junction, st.booleans(), st.lists(inner, min_size=1, max_size=3).map(tuple)),
        ),
        max_leaves=6,
    )


@given(predicate=predicates(), rows=ROWS)
def test_mask_is_sqls_answer(predicate: RowPredicate, rows: list[Row]) -> None:
    batch = pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
    mask = predicate.mask(batch)
    assert mask.to_pylist() == [truth(predicate, row) for row in rows]
    assert batch.filter(mask).num_rows == sum(truth(predicate, row) is True for row in rows)


@given(predicate=predicates())
def test_travels_as_plain_data(predicate: RowPredicate) -> None:
    assert to_json(from_json(to_json(predicate), type(predicate))) == to_json(predicate)
    assert predicate.columns() <= set(SCHEMA.names)
