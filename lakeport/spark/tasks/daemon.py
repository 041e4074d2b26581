"""The process that Spark forks its Python workers from, with what our tasks import loaded before the fork.

Spark starts ``python -m <spark.python.daemon.module> <worker module>`` once and forks a worker for each task that runs
at the same time. Its own ``pyspark.daemon`` imports nothing early, since a library that starts threads does not survive
a fork: pyarrow starts only jemalloc's background thread, which jemalloc itself restarts in the child, and numpy's
OpenBLAS starts none while ``OMP_NUM_THREADS`` is 1, as Spark sets it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib

from pyspark.daemon import manager

_EARLY = (
    "pyspark.worker",
    "pyspark.sql.worker.plan_data_source_read",
    "pyarrow.compute",
    "pyarrow.parquet",
    "pyarrow.orc",
    "lakeport.spark.tasks.task",
    "lakeport.spark.tasks.writing",
    "connectors.memory.page_source",
    "connectors.hive.page_source",
    "connectors.hive.write.sink.page_sink",
    "connectors.hudi.page_source",
)


def main() -> None:
    """Imports, then forks workers as Spark asks, until Spark closes the standard input."""
    for module in _EARLY:
        # A module that cannot be imported here fails where it is needed, with the task's own message.
        with contextlib.suppress(Exception):
            importlib.import_module(module)
    # Objects that live for ever are kept out of the children's collections, so that their pages stay shared.
    gc.collect()
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()
