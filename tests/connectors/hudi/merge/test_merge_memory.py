"""How much is held while the events of a slice are merged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from connector_spi.handles import ColumnHandle
from connectors.hudi.merge.columns import COMMIT_TIME, DELETED, KEY, merge_columns
from connectors.hudi.merge.config import merge_config
from connectors.hudi.merge.merged import merged_log

_ROWS = 4000
_TEXT = "x" * 1000


@pytest.fixture
def pool() -> Iterator[pa.MemoryPool]:
    """Counts what Arrow holds from here on."""
    before = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(before)
    pa.set_memory_pool(counted)
    yield counted
    pa.set_memory_pool(before)


def test_events_are_held_twice_at_most(pool: pa.MemoryPool) -> None:
    """As they came and in one piece, then in one piece and merged: never three times."""
    schema = pa.schema([("value", pa.string())])
    config = merge_config(9, {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}, "t")
    columns = merge_columns(
        [ColumnHandle("value", pa.string())],
        schema,
        config,
        has_meta_columns=True,
        partial=False,
        where="t",
        by_position=True,
    )
    no = np.zeros(_ROWS, dtype=bool)
    tables = [
        pa.table(
            {
                "value": pa.array([f"{part}{_TEXT}"] * _ROWS),
                KEY: np.arange(part * _ROWS, (part + 1) * _ROWS),
                DELETED: no,
                COMMIT_TIME: no,
            }
        )
        for part in range(4)
    ]
    size = sum(table.nbytes for table in tables)
    log = merged_log(tables, columns)
    assert log.rows.num_rows == 4 * _ROWS
    assert tables == []
    assert pool.max_memory() < 2.5 * size
