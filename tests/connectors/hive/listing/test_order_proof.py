"""Whether the rows of files ascend, NULLs first: as in Python's own order."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from connectors.hive.listing.order_proof import _ascends

_VALUES = st.one_of(
    st.lists(st.none() | st.integers(-3, 3), max_size=6).map(lambda some: pa.array(some, pa.int64())),
    st.lists(st.none() | st.sampled_from(["", "a", "Z", "é", "\U0001f600", "￿"]), max_size=6).map(
        lambda some: pa.array(some, pa.string())
    ),
    st.lists(st.none() | st.sampled_from([Decimal("-1.5"), Decimal("0.0"), Decimal("2.5")]), max_size=6).map(
        lambda some: pa.array(some, pa.decimal128(5, 1))
    ),
)


@given(_VALUES, st.booleans(), st.lists(st.integers(0, 6), max_size=3))
def test_rows_ascend_as_in_the_model(values: pa.Array, in_order: bool, cuts: list[int]) -> None:
    rows = values.to_pylist()
    if in_order:
        rows.sort(key=_rank)
    places = sorted({0, len(rows), *(cut for cut in cuts if cut <= len(rows))})
    parts = [pa.array(rows[start:end], values.type) for start, end in pairwise(places)]
    assert _ascends(parts) == (sorted(rows, key=_rank) == rows)


def _rank(value: object) -> tuple[int, object]:
    """NULLs first, and texts by their bytes."""
    if value is None:
        return (0, 0)
    return (1, value.encode() if isinstance(value, str) else value)
