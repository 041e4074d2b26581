"""Parts that are left out hold none of the first rows, against sorting all rows of small models."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.handles import ColumnHandle
from connector_spi.optional.top_n import SortItem
from connectors.toolkit.read.first_rows import holds_first_rows
from connectors.toolkit.read.pruning import ColumnBounds

_ID = ColumnHandle("id", pa.int32())
_PARTS = st.lists(st.lists(st.one_of(st.none(), st.integers(0, 12)), max_size=6), max_size=6)


def bounds(part: list[int | None]) -> ColumnBounds:
    values = [value for value in part if value is not None]
    return ColumnBounds(min(values, default=None), max(values, default=None), part.count(None), len(part))


def place(value: int | None, item: SortItem) -> tuple[int, int]:
    """Sorts as the order does."""
    if value is None:
        return (0 if item.nulls_first else 2), 0
    return 1, value if item.ascending else -value


@given(_PARTS, st.integers(1, 8), st.booleans(), st.booleans(), st.sets(st.integers(0, 5)))
def test_no_row_that_may_come_first_is_left_out(
    parts: list[list[int | None]], count: int, ascending: bool, nulls_first: bool, unknown: set[int]
) -> None:
    item = SortItem(_ID, ascending, nulls_first)
    known = [None if at in unknown else bounds(part) for at, part in enumerate(parts)]
    kept = holds_first_rows(known, count, item)
    rows = sorted(place(value, item) for part in parts for value in part)
    last = rows[:count][-1:]
    for part, is_kept in zip(parts, kept, strict=True):
        needed = [value for value in part if last and place(value, item) <= last[0]]
        assert is_kept or not needed, (part, last)


@pytest.mark.parametrize(("ascending", "kept"), [(True, [True, False, False]), (False, [False, False, True])])
def test_parts_behind_the_first_rows_are_left_out(ascending: bool, kept: list[bool]) -> None:
    parts = [bounds(list(range(at, at + 10))) for at in (0, 10, 20)]
    assert holds_first_rows(parts, 10, SortItem(_ID, ascending, not ascending)) == kept


def test_a_part_with_bounds_that_are_not_known_stays() -> None:
    parts = [bounds([1, 2]), ColumnBounds(None, None, 0, 5), ColumnBounds(7, 9, None, 5), None, bounds([5])]
    assert holds_first_rows(parts, 2, SortItem(_ID, True, True)) == [True, True, True, True, False]


def test_parts_of_nulls_alone_come_where_nulls_do() -> None:
    parts = [bounds([None, None]), bounds([1, 2])]
    assert holds_first_rows(parts, 2, SortItem(_ID, True, nulls_first=True)) == [True, False]
    assert holds_first_rows(parts, 2, SortItem(_ID, True, nulls_first=False)) == [False, True]
