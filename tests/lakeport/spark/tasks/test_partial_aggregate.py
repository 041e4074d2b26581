"""What tasks aggregate, merged as Spark merges it, is what a plain loop over the rows gives."""

from __future__ import annotations

import math
from decimal import Decimal

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from connector_spi.serializable import from_json, to_json
from lakeport.spark.tasks.aggregate_states import Aggregate, AggregateFunction
from lakeport.spark.tasks.partial_aggregate import PartialAggregation, PartialAggregator

NAN = float("nan")
SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("number", pa.float64()),
        ("long", pa.int64()),
        ("tiny", pa.int8()),
        ("price", pa.decimal128(6, 2)),
        ("wide", pa.decimal128(38, 0)),
        ("real", pa.float32()),
        ("text", pa.string()),
    ]
)
VALUES: dict[str, st.SearchStrategy[object]] = {
    "key": st.sampled_from(["", "a", "b"]),
    # Multiples of a half, so that sums are exact in any order.
    "number": st.sampled_from([NAN, -NAN, math.inf, -math.inf, 0.0, -0.0, 0.5, -2.5, 1e9]),
    "long": st.one_of(st.integers(-100, 100), st.sampled_from([2**63 - 1, -(2**63), 2**62])),
    "tiny": st.integers(-128, 127),
    "price": st.integers(-999_999, 999_999).map(lambda n: Decimal(n).scaleb(-2)),
    "wide": st.sampled_from([Decimal(10**36), Decimal(-(10**37)), Decimal("9" * 38), Decimal(7)]),
    "real": st.sampled_from([NAN, math.inf, 0.25, -1.5, 3.0]),
    "text": st.sampled_from(["", "a", "b", "ż", "\U0001f422", "\ud7ff", "\ufffd"]),
}
SUMMED = ("number", "long", "tiny", "price", "wide", "real")

Row = dict[str, object]
ROWS = st.lists(st.fixed_dictionaries({name: st.none() | values for name, values in VALUES.items()}), max_size=40)


def all_aggregates() -> tuple[Aggregate, ...]:
    made = [Aggregate(AggregateFunction.COUNT_ROWS, "", pa.int64())]
    for field in SCHEMA:
        functions = [AggregateFunction.COUNT, AggregateFunction.MIN, AggregateFunction.MAX]
        functions += [AggregateFunction.SUM] if field.name in SUMMED else []
        made += [Aggregate(function, field.name, field.type) for function in functions]
    return tuple(made)


def aggregation(keys: tuple[str, ...]) -> PartialAggregation:
    aggregates = all_aggregates()
    fields = [(name, SCHEMA.field(name).type) for name in keys]
    return PartialAggregation(
        keys, aggregates, pa.schema([*fields, *((str(item), item.result_type) for item in aggregates)])
    )


def expected(aggregate: Aggregate, values: list[object]) -> object:
    """By the definition of the aggregate."""
    present = [value for value in values if value is not None]
    if aggregate.function is AggregateFunction.COUNT_ROWS:
        return len(values)
    if aggregate.function is AggregateFunction.COUNT:
        return len(present)
    if not present:
        return None
    if aggregate.function is AggregateFunction.SUM:
        return total(present)
    choose = min if aggregate.function is AggregateFunction.MIN else max
    return choose(present, key=in_order)  # type: ignore[arg-type]


def total(values: list[object]) -> object:
    if isinstance(values[0], Decimal):
        # Decimal's own sum rounds to 28 digits.
        scale = -int(values[0].as_tuple().exponent)
        return sum(int(str(value).replace(".", "")) for value in values), scale
    return sum(values)  # type: ignore[arg-type]


def in_order(value: object) -> object:
    """NaN above all; texts by their bytes in UTF-8, which is the order of their characters."""
    return (value != value, 0.0 if value != value else value) if isinstance(value, float) else value


def merged(aggregate: Aggregate, partial: list[object]) -> object:
    """What Spark's second aggregation makes of the tasks' results."""
    present = [value for value in partial if value is not None]
    if aggregate.counts:
        return sum(present)  # type: ignore[arg-type]
    return expected(aggregate, partial)


def same(left: object, right: object) -> bool:
    return left == right or (left != left and right != right)


def run(keys: tuple[str, ...], batches: list[list[Row]], waiting_rows: int) -> list[Row]:
    aggregator = PartialAggregator(aggregation(keys), waiting_rows)
    made: list[pa.RecordBatch] = []
    for rows in batches:
        made += aggregator.add(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))
    made += aggregator.finish()
    assert all(batch.schema == aggregation(keys).schema for batch in made)
    return [row for batch in made for row in batch.to_pylist()]


@given(rows=ROWS, others=ROWS, waiting_rows=st.sampled_from([1, 5, 30, 1000]))
@example(rows=[], others=[], waiting_rows=1000)
def test_no_keys(rows: list[Row], others: list[Row], waiting_rows: int) -> None:
    partial = run((), [rows, others], waiting_rows)
    assert partial, "Spark sums counts, and the sum of nothing would be NULL"
    check(partial, [*rows, *others])


@given(rows=ROWS, others=ROWS, waiting_rows=st.sampled_from([1, 5, 30, 1000]))
def test_keys(rows: list[Row], others: list[Row], waiting_rows: int) -> None:
    partial = run(("key", "tiny"), [rows, others], waiting_rows)
    everything = [*rows, *others]
    groups = {(row["key"], row["tiny"]) for row in everything}
    assert groups == {(row["key"], row["tiny"]) for row in partial}
    for key, tiny in groups:
        check(
            [row for row in partial if (row["key"], row["tiny"]) == (key, tiny)],
            [row for row in everything if (row["key"], row["tiny"]) == (key, tiny)],
        )


def check(partial: list[Row], rows: list[Row]) -> None:
    for item in all_aggregates():
        want = expected(item, [row[item.column] if item.column else 1 for row in rows])
        got = merged(item, [row[str(item)] for row in partial])
        assert same(got, want), (str(item), got, want)


def test_few_rows_leave_for_many() -> None:
    rows: list[Row] = [
        {**dict.fromkeys(SCHEMA.names), "key": "ab"[n % 2], "price": Decimal("0.50")} for n in range(1000)
    ]
    assert len(run(("key",), [rows] * 10, 100_000)) == 2
    assert len(run((), [rows] * 10, 100_000)) == 1


def test_sums_that_may_overflow_leave_row_by_row() -> None:
    """In Spark's ANSI mode the order of the rows decides whether there is an error: Spark gets the rows."""
    rows: list[Row] = [{**dict.fromkeys(SCHEMA.names), "long": value} for value in (2**62, 2**62, -(2**62))]
    assert [row["sum(long)"] for row in run((), [rows], 100)] == [2**62, 2**62, -(2**62)]


def test_groups_of_one_row_are_not_kept() -> None:
    rows: list[Row] = [{**dict.fromkeys(SCHEMA.names), "text": str(n)} for n in range(1000)]
    aggregator = PartialAggregator(PartialAggregation(("text",), (), pa.schema([("text", pa.string())])), 100)
    left = [
        len(list(aggregator.add(pa.RecordBatch.from_pylist(rows[n : n + 100], SCHEMA)))) for n in range(0, 1000, 100)
    ]
    assert left == [1] * 10
    assert list(aggregator.finish()) == []


def test_travels_as_plain_data() -> None:
    made = aggregation(("key",))
    assert from_json(to_json(made), PartialAggregation) == made
