"""The first rows in an order, against a sort of all rows in Python."""

from __future__ import annotations

import math
from unittest import mock

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lakeport.spark.tasks.top_n import SortKey, TopN, first_rows

_FLOATS = st.none() | st.sampled_from([float("nan"), -0.0, 0.0, float("inf"), float("-inf")]) | st.floats()
_ROWS = st.lists(st.tuples(_FLOATS, st.none() | st.text(max_size=2), st.integers(0, 3)), max_size=60)
_SCHEMA = pa.schema([("f", pa.float64()), ("s", pa.string()), ("i", pa.int32())])


def _rank(value: object, key: SortKey) -> tuple[bool, tuple[bool, object]]:
    """What Python sorts one key by, for an ascending order: NULLs to their end, NaN above all numbers."""
    if value is None:
        return (not key.nulls_first, (False, 0))
    if isinstance(value, float):
        return (key.nulls_first, (True, 0.0) if math.isnan(value) else (False, value))
    return (key.nulls_first, (False, value.encode() if isinstance(value, str) else value))


def _expected(rows: list[dict[str, object]], top_n: TopN) -> list[object]:
    for key in reversed(top_n.order):
        nulls = [row for row in rows if row[key.column] is None]
        values = [row for row in rows if row[key.column] is not None]
        values.sort(key=lambda row, key=key: _rank(row[key.column], key)[1], reverse=not key.ascending)  # type: ignore[misc]
        rows = nulls + values if key.nulls_first else values + nulls
    return [[_rank(row[key.column], key) for key in top_n.order] for row in rows[: top_n.count]]


@given(
    rows=_ROWS,
    columns=st.permutations(["f", "s", "i"]),
    ways=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=3),
    count=st.integers(0, 7),
    batch=st.integers(1, 9),
)
def test_the_first_rows_are_those_of_a_sort_of_all_rows(
    rows: list[tuple[object, ...]], columns: list[str], ways: list[tuple[bool, bool]], count: int, batch: int
) -> None:
    dicts = [dict(zip(_SCHEMA.names, row, strict=True)) for row in rows]
    table = pa.Table.from_pylist(dicts, _SCHEMA)
    top_n = TopN(count, tuple(SortKey(column, *way) for column, way in zip(columns, ways, strict=False)))
    with mock.patch("lakeport.spark.tasks.top_n._WAITING_ROWS", 4):
        found = [row for one in first_rows(iter(table.to_batches(batch)), top_n) for row in one.to_pylist()]
    assert _expected(found, top_n) == _expected(dicts, top_n)
    assert len(found) == min(count, len(rows))
