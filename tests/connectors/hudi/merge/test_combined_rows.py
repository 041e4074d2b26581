"""Rows that a merger combines: two become one, in the order in which they were written."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from connector_spi.errors import InternalError
from connectors.hudi.merge.base import LogMerge, MergedLog
from connectors.hudi.merge.fold import Events, fold
from connectors.hudi.merge.ordering import ordering_keys


def joined(older: pa.Table, newer: pa.Table) -> pa.Table:
    """The values one behind the other: shows the order."""
    return pa.table({"v": pc.binary_join_element_wise(older.column("v"), newer.column("v"), "")})


def events(codes: list[int], values: list[str | None], ordering: list[int] | None = None) -> Events:
    keys = None if ordering is None else ordering_keys([pa.array(ordering, pa.int64())], "table")
    deleted = np.array([value is None for value in values])
    return Events(
        codes=np.array(codes),
        keys=max(codes) + 1,
        deleted=deleted,
        commit_time=np.zeros(len(codes), dtype=bool),
        ordering=keys,
        rows=pa.table({"v": pa.array(values, pa.string())}),
        combine=joined,
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", "b", "c"], "abc"),
        (["a", None, "c"], "c"),
        (["a", "b", None], None),
        ([None, "b", "c"], "bc"),
    ],
)
def test_events_of_a_key_are_combined_in_their_order(values: list[str | None], expected: str | None) -> None:
    folded = fold(events([1, 0, 1, 1], [values[0], "other", values[1], values[2]]))
    assert folded.combined is not None
    rows = folded.combined.column("v").to_pylist()
    assert rows[0] == "other"
    assert rows[1] == expected


def test_a_delete_with_a_lower_ordering_value_leaves_the_row() -> None:
    folded = fold(events([0, 0, 0], ["a", None, "c"], [5, 4, 1]))
    assert folded.combined is not None
    assert folded.combined.column("v").to_pylist() == ["ac"]


def test_base_rows_are_older_than_those_of_the_logs() -> None:
    log = MergedLog(
        keys=pa.array(["k", "gone", "new"]),
        rows=pa.table({"v": pa.array(["2", None, "3"])}),
        deleted=np.array([False, True, False]),
        commit_time_deletes=np.array([False, True, False]),
        combine=joined,
    )
    merge = LogMerge(log)
    base = pa.record_batch({"v": pa.array(["1", "x", "y"])})
    batches = [*merge.merge(base, pa.array(["k", "gone", "stays"]), None), *merge.rest()]
    assert sorted(value for batch in batches for value in batch.column("v").to_pylist()) == ["12", "3", "y"]


def test_a_merger_that_loses_rows_is_refused() -> None:
    short = Events(
        codes=np.array([0, 0]),
        keys=1,
        deleted=np.zeros(2, dtype=bool),
        commit_time=np.zeros(2, dtype=bool),
        rows=pa.table({"v": ["a", "b"]}),
        combine=lambda older, newer: newer.slice(1),
    )
    with pytest.raises(InternalError, match=r"made 0 rows of .* out of 1 pairs"):
        fold(short)
