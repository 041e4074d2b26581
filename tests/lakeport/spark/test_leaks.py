"""Many statements in one session leave nothing behind in either process."""

from __future__ import annotations

import gc
import os
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.names import SchemaTableName
from tests.lakeport.spark.conftest import Lake

pytestmark = pytest.mark.slow


def proxies(lake: Lake) -> int:
    """Python objects that Java still holds, after both sides collected their garbage."""
    gateway = lake.spark.sparkContext._gateway
    assert gateway is not None
    best = 10**9
    for _ in range(10):
        gc.collect()
        gateway.jvm.System.gc()
        # Java tells Python of a dead proxy when its finalizer runs, which is soon but not at once.
        time.sleep(0.2)
        best = min(best, len(gateway.gateway_property.pool))
    return best


def test_statements_leave_no_threads_and_no_sockets(lake: Lake) -> None:
    """Spark runs each adaptive stage in a thread of its own, and py4j opens a connection for each that calls back."""

    def left() -> tuple[int, int]:
        proxies(lake)  # collects the garbage of both sides
        return threading.active_count(), len(os.listdir("/proc/self/fd"))

    def run(count: int) -> None:
        for _ in range(count):
            lake.rows("SELECT count(*) FROM mem.sales.small GROUP BY label")

    run(20)
    threads, files = left()
    run(64)
    threads_after, files_after = left()
    assert threads_after <= threads + 24
    assert files_after <= files + 24


def test_statements_leave_no_proxies_and_no_open_transactions(lake: Lake) -> None:
    def run(count: int) -> None:
        for number in range(count):
            lake.rows(f"SELECT count(*) FROM mem.sales.small WHERE id > {number % 3}")

    run(30)
    before = proxies(lake)
    run(120)
    after = proxies(lake)
    # Spark keeps the plans of the last statements for its status store; nothing grows with the count.
    assert after <= before + 30
    counts = lake.memory.transactions
    assert counts.rolled_back + counts.committed + counts.open == counts.begun
    assert counts.open < 60


def test_the_batches_of_a_stream_leave_nothing(lake: Lake, tmp_path: Path) -> None:
    """One query of 10 batches, then one of 100: a batch each for a version of the table."""

    def left() -> tuple[int, int, int, int]:
        objects = sum(
            str(type(one).__module__).startswith(("lakeport", "connector", "py4j")) for one in gc.get_objects()
        )
        return proxies(lake), threading.active_count(), len(os.listdir("/proc/self/fd")), objects

    def run(count: int) -> None:
        name = SchemaTableName("sales", f"streamed_{count}")
        lake.memory.create_table(name, pa.table({"id": [0]}))
        for number in range(count):
            lake.memory.insert(name, pa.table({"id": [number]}))
        seen: list[int] = []
        frame = lake.spark.readStream.options(startingVersion="2", maxVersionsPerTrigger="1").table(
            f"mem.{name.schema}.{name.table}"
        )
        writer = frame.writeStream.foreachBatch(lambda batch, number: seen.append(batch.count()))
        writer = writer.option("checkpointLocation", str(tmp_path / name.table)).trigger(availableNow=True)
        query = writer.start()
        query.awaitTermination()
        lake.memory.drop_table(name)
        assert seen == [1] * count

    begun = lake.memory.transactions.open
    run(10)
    before = left()
    run(100)
    after = left()
    for what, most, one, other in zip(
        ("proxies", "threads", "files", "objects"), (30, 24, 24, 500), before, after, strict=True
    ):
        assert other <= one + most, what
    assert lake.memory.transactions.open <= begun + 1
