"""Many statements in one session leave nothing behind in either process."""

from __future__ import annotations

import gc
import os
import threading
import time

from tests.lakeport.spark.conftest import Lake


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
