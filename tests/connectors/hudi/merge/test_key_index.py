"""Keys of base rows among those of the logs, against a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.hudi.merge import key_index as module
from connectors.hudi.merge.key_index import key_hashes, key_index

# More than a batch has rows.
MANY = 70_000

Hashes = Callable[[pa.Array], np.ndarray]


def by_number(low: int) -> Hashes:
    """A hash of texts that end in a number: the number, of which only that above ``low`` makes a difference."""
    return lambda keys: np.array([int(key[1:]) // low if key else 0 for key in keys.to_pylist()], np.uint64)


def check(in_logs: Sequence[str], in_base: Sequence[str | None], hashes: Hashes = key_hashes) -> None:
    numbers = {key: at for at, key in enumerate(in_logs)}
    wanted = [(row, numbers[key]) for row, key in enumerate(in_base) if key in numbers]
    # A slice of a longer array, as a batch of a row group may be.
    keys = pa.array(["before", *in_base], pa.string()).slice(1)
    rows, positions = key_index(pa.array(in_logs, pa.string()), hashes).find(keys)
    assert list(zip(rows.tolist(), positions.tolist(), strict=True)) == wanted


@pytest.mark.parametrize("many", [10, MANY])
def test_keys_are_found_where_they_are(many: int) -> None:
    in_logs = [f"k{number * 7 % 100_003}" for number in range(many)]
    in_base = [f"k{number}" for number in range(0, 120_000, 11)]
    check(in_logs, [*in_base, None, "", "ä", *in_base[:5]])
    check(in_logs, [])
    check(in_logs, [None])


@given(st.lists(st.text(max_size=3), unique=True), st.lists(st.text(max_size=3) | st.none()), st.integers(0, 1))
def test_any_keys(in_logs: list[str], in_base: list[str | None], many: int) -> None:
    found = module._HashedTexts.of(pa.array(in_logs, pa.string()), key_hashes) if many and in_logs else None
    numbers = {key: at for at, key in enumerate(in_logs)}
    index = found or key_index(pa.array(in_logs, pa.string()))
    rows, positions = index.find(pa.array(in_base, pa.string()))
    assert list(zip(rows.tolist(), positions.tolist(), strict=True)) == [
        (row, numbers[key]) for row, key in enumerate(in_base) if key in numbers
    ]


def test_another_key_of_the_same_hash_is_not_taken_for_it() -> None:
    in_logs = [f"k{number}" for number in range(0, 2 * MANY, 2)]
    hashes = by_number(2)
    keys = pa.array(in_logs)
    # The hashes separate the logs' keys, though badly: all are in one bucket.
    assert module._HashedTexts.of(keys, hashes) is None
    check(in_logs, [f"k{number}" for number in range(100)], hashes)
    spread: Hashes = lambda texts: hashes(texts) * np.uint64(0x9E3779B97F4A7C15)  # noqa: E731
    assert module._HashedTexts.of(keys, spread) is not None
    check(in_logs, [f"k{number}" for number in range(1000)], spread)


def test_keys_of_the_logs_that_share_a_hash_are_told_apart() -> None:
    check([f"k{number}" for number in range(MANY)], [f"k{number}" for number in range(500)], by_number(3))


def test_positions() -> None:
    rows, positions = key_index(pa.array([90, 3, 70], pa.int64())).find(pa.array(range(60, 80), pa.int64()))
    assert (rows.tolist(), positions.tolist()) == ([10], [2])
