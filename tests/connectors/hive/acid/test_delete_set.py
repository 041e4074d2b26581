"""Sets of deleted keys against sets of Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.hive.acid.delete_set import DeleteSet, KeyRuns
from connectors.hive.acid.key_range import Key, KeyRange
from connectors.hive.acid.read.delete_cache import DeleteCache

# Row ids of Hive count from 0; some writers take others, so large ones go the other way of numbering.
ROW_IDS = st.one_of(st.integers(0, 12), st.sampled_from([1 << 20, 1 << 40, (1 << 62) - 1, (1 << 63) - 1]))
KEYS = st.tuples(st.integers(0, 4), st.sampled_from([0, 1, 536870912, 536870913, 536936448]), ROW_IDS)


def runs(keys: list[Key]) -> KeyRuns:
    columns = [np.array([key[part] for key in keys], dtype=np.int64) for part in range(3)]
    return KeyRuns.of(columns[0], columns[1], columns[2])


@given(parts=st.lists(st.lists(KEYS, max_size=8), max_size=4), rows=st.lists(KEYS, max_size=30), ordered=st.booleans())
def test_deleted_rows(parts: list[list[Key]], rows: list[Key], ordered: bool) -> None:
    """Rows come sorted from Hive's files, and in any order and with duplicates from others'."""
    rows = sorted(set(rows)) if ordered else rows
    deletes = DeleteSet([runs(part) for part in parts])
    known = {key for part in parts for key in part}
    mask = deletes.deleted(runs(rows))
    assert (mask is not None) == any(row in known for row in rows)
    assert mask is None or mask.tolist() == [row in known for row in rows]


@pytest.mark.parametrize("row_ids", [[5, 6, 7, 8], [5, 5, 7, 8], [5, 6, 6, 8], [5, 7, 9], [8, 6, 7, 5], [5], []])
@pytest.mark.parametrize("gone", [[5], [8], [6, 7], [5, 8], [4, 9], [5, 5, 6], [1 << 40], list(range(12))])
def test_rows_one_after_the_other(row_ids: list[int], gone: list[int]) -> None:
    """As many as lie between the first and the last one are all of them only where each comes once."""
    rows: list[Key] = [(1, 0, row) for row in row_ids]
    mask = DeleteSet([runs([(1, 0, row) for row in gone])]).deleted(runs(rows))
    expected = [row in gone for row in row_ids]
    assert (mask is not None) == any(expected)
    assert mask is None or mask.tolist() == expected


def test_rows_of_many_pairs() -> None:
    rows: list[Key] = [(write_id, 0, row) for write_id in range(100) for row in range(3)]
    mask = DeleteSet([runs([(write_id, 0, 1) for write_id in range(0, 100, 7)])]).deleted(runs(rows))
    assert mask is not None
    assert mask.tolist() == [row == 1 and write_id % 7 == 0 for write_id, _, row in rows]


@given(
    keys=st.lists(KEYS, max_size=20),
    write_id=st.integers(0, 4),
    bucket=st.sampled_from([0, 536870912, 536936448]),
    first=st.integers(0, 12),
    count=st.integers(1, 12),
)
def test_deleted_rows_of_a_range(keys: list[Key], write_id: int, bucket: int, first: int, count: int) -> None:
    mask = DeleteSet([runs(keys)]).deleted_range(write_id, bucket, first, count)
    expected = [(write_id, bucket, first + place) in keys for place in range(count)]
    assert (mask is not None) == any(expected)
    assert mask is None or mask.tolist() == expected


@given(keys=st.lists(KEYS, max_size=20), low=st.none() | KEYS, high=st.none() | KEYS)
def test_a_part_by_keys(keys: list[Key], low: Key | None, high: Key | None) -> None:
    kept = [key for key in keys if (low is None or low <= key) and (high is None or key <= high)]
    part = DeleteSet([runs(keys)]).within(KeyRange(low, high))
    assert part.size == len(kept)
    rows = sorted(set(keys))
    mask = part.deleted(runs(rows))
    hits = np.zeros(len(rows), dtype=bool) if mask is None else mask
    assert [row for row, hit in zip(rows, hits, strict=True) if hit] == sorted(set(kept))


def test_a_million_events_take_eight_bytes_each() -> None:
    """Events of a few statements: what a large DELETE leaves."""
    row_ids = np.arange(0, 2_000_000, 2, dtype=np.int64)
    many = KeyRuns.of(np.full(row_ids.size, 7), np.full(row_ids.size, 536870912), row_ids)
    assert DeleteSet([many]).nbytes < row_ids.size * 8 + 1000


def test_the_cache_loads_a_set_once() -> None:
    cache, loads = DeleteCache(), []

    def load() -> DeleteSet:
        loads.append(1)
        return DeleteSet([runs([(1, 0, 1)])])

    assert cache.get("a", 1 << 20, load) is cache.get("a", 1 << 20, load)
    assert len(loads) == 1


def test_the_cache_forgets_what_was_used_longest_ago() -> None:
    cache = DeleteCache()
    sets = {name: DeleteSet([runs([(1, 0, row) for row in range(100)])]) for name in "abc"}
    memory = sets["a"].nbytes * 2
    for name in "abac":
        cache.get(name, memory, lambda name=name: sets[name])  # type: ignore[misc]  # the name of this turn
    assert cache.nbytes <= memory
    again = DeleteSet([runs([(2, 0, 0)])])
    assert cache.get("a", memory, lambda: again) is sets["a"]
    assert cache.get("b", memory, lambda: again) is again


def test_what_was_too_large_is_tried_again_with_more_memory() -> None:
    cache, found = DeleteCache(), DeleteSet([runs([(1, 0, 1)])])
    assert cache.get("a", 10, lambda: None) is None
    with pytest.raises(AssertionError, match="loaded again"):
        cache.get("a", 11, _fails)
    assert cache.get("a", 5, _fails) is None
    assert cache.get("a", 11, lambda: found) is found


def _fails() -> DeleteSet | None:
    raise AssertionError("loaded again")
