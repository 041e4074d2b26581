"""How many different values are counted, and that parts together count as the whole does."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.hive.write.statistics.distinct_values import (
    MOST_HASHES,
    DistinctCounter,
    DistinctValues,
    most_hashes,
)


def counted(*batches: pa.Array) -> DistinctValues:
    counter = DistinctCounter()
    for batch in batches:
        counter.add(pa.chunked_array([batch]))
    return counter.result()


@given(st.lists(st.lists(st.none() | st.integers(0, 3 * MOST_HASHES), max_size=300), min_size=1, max_size=6))
def test_few_values_are_counted_exactly_whatever_part_they_are_in(parts: list[list[int | None]]) -> None:
    kind = pa.int64()
    arrays = [pa.array(part, kind) for part in parts]
    few = [DistinctValues.of_few(pa.chunked_array([array])) for array in arrays]
    hashed = [counted(array) for array in arrays]
    wanted = len({value for part in parts for value in part if value is not None})
    if wanted <= MOST_HASHES:
        assert DistinctValues.count(few, kind) == wanted
        assert DistinctValues.count(hashed, kind) == wanted
        assert DistinctValues.count([*few[:1], *hashed[1:]], kind) == wanted
        assert DistinctValues.count([counted(*arrays)], kind) == wanted


@pytest.mark.parametrize("different", [5_000, 200_000])
@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.float64(), pa.date32()], ids=str)
def test_many_values_are_estimated(different: int, kind: pa.DataType) -> None:
    numbers = pa.array(np.random.default_rng(7).permutation(np.tile(np.arange(different, dtype=np.int32), 2)))
    values = numbers.cast(pa.int32()).cast(kind)
    halves = [counted(values[: different // 3]), counted(values[different // 3 :])]
    whole = counted(*(values[start : start + 1000] for start in range(0, len(values), 1000)))
    assert DistinctValues.count(halves, kind) == DistinctValues.count([whole], kind)
    # Four times the standard error.
    assert DistinctValues.count([whole], kind) == pytest.approx(different, rel=4 / math.sqrt(MOST_HASHES))
    cut = whole.cut(64)
    assert len(cut.hashes) == 64 * 8
    assert DistinctValues.count([cut], kind) == pytest.approx(different, rel=4 / math.sqrt(64))


def test_all_processes_hash_alike() -> None:
    """Tasks count, and the driver puts together."""
    code = (
        "import pyarrow as pa; from connectors.hive.write.statistics.distinct_values import DistinctCounter as C;"
        "c = C(); c.add(pa.chunked_array([pa.array(['a', 'b', None, 'c'])])); print(c.result().hashes.hex())"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == counted(pa.array(["a", "b", None, "c"])).hashes.hex()


def test_many_files_keep_less_of_each() -> None:
    assert most_hashes(16) == MOST_HASHES
    assert 16 <= most_hashes(16 * 2_000) < 32
    assert most_hashes(10**9) == 16
