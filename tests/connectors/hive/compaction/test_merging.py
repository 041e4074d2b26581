"""Streams of rows in the order of their keys, against sorting everything at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector_spi.errors import NotSupportedError
from connectors.hive.compaction.merging import KeyedBatch, SortedStream, merged
from tests.sampling import examples

Key = tuple[int, int, int]
_KEYS = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 5))


def batch(keys: list[Key]) -> KeyedBatch:
    writes, buckets, numbers = (np.array(part, np.int64) for part in zip(*keys, strict=True))
    return KeyedBatch(writes, buckets, numbers, pa.RecordBatch.from_pydict({"key": [str(key) for key in keys]}))


def stream(keys: list[Key], size: int, opened: list[int], *, known: bool = True) -> SortedStream:
    def batches() -> Iterator[KeyedBatch]:
        opened.append(len(opened))
        for start in range(0, len(keys), size):
            yield batch(keys[start : start + size])

    return SortedStream("f", keys[0] if keys and known else None, batches)


def result(streams: list[SortedStream]) -> list[Key]:
    found: list[Key] = []
    for one in merged(streams):
        keys = list(zip(one.write_ids.tolist(), one.buckets.tolist(), one.row_ids.tolist(), strict=True))
        assert one.rows.column(0).to_pylist() == [str(key) for key in keys]
        found += keys
    return found


@settings(max_examples=examples(300))
@given(
    parts=st.lists(st.tuples(st.lists(_KEYS, max_size=12).map(sorted), st.integers(1, 5), st.booleans()), max_size=5)
)
def test_it_is_sorting(parts: list[tuple[list[Key], int, bool]]) -> None:
    """Keys may come twice, in one stream and in several; streams may overlap, and be empty."""
    streams = [stream(keys, size, [], known=known) for keys, size, known in parts]
    assert result(streams) == sorted(key for keys, _, _ in parts for key in keys)


def test_streams_that_follow_each_other_are_open_one_at_a_time() -> None:
    ended: list[int] = []

    def of(number: int) -> SortedStream:
        def batches() -> Iterator[KeyedBatch]:
            assert len(ended) >= number - 1, "the streams before are still open"
            yield batch([(number, 0, row) for row in range(3)])
            ended.append(number)

        return SortedStream("f", (number, 0, 0), batches)

    assert result([of(number) for number in reversed(range(1, 50))]) == [
        (number, 0, row) for number in range(1, 50) for row in range(3)
    ]


@pytest.mark.parametrize("keys", [[(1, 0, 2), (1, 0, 1)], [(1, 1, 0), (1, 0, 5)], [(2, 0, 0), (1, 9, 9)]])
@pytest.mark.parametrize("size", [1, 2])
def test_rows_that_another_program_has_not_sorted(keys: list[Key], size: int) -> None:
    with pytest.raises(NotSupportedError, match="not in the order of their row ids"):
        result([stream(keys, size, [])])
