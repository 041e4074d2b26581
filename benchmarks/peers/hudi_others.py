"""Runs one query of a Hudi table by another engine, in a process of its own, and prints what it took as JSON.

It runs under the Python of that engine, so it imports nothing of this project: ``python hudi_others.py ENGINE TABLE
ROUNDS COLUMN...`` with the engine ``hudi-rs`` (package ``hudi``) or the path of a Hudi Spark bundle (with PySpark).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable

Sum = Callable[[], list[float]]


def main(engine: str, table: str, rounds: int, columns: list[str]) -> None:
    """Prints seconds and CPU seconds of each round, and the sums."""
    run = _hudi_rs(table, columns) if engine == "hudi-rs" else _bundle(engine, table, columns)
    taken: dict[str, list[float]] = {"seconds": [], "cpu": []}
    answer: list[float] = []
    for _ in range(rounds):
        started, cpu = time.perf_counter(), TreeCpu()
        answer = run()
        taken["seconds"].append(time.perf_counter() - started)
        taken["cpu"].append(cpu.seconds())
    print(json.dumps({**taken, "answer": answer}))


class TreeCpu:
    """CPU seconds of this process and those below it from now on (Linux's ``/proc``).

    Of this one alone where there is no ``/proc``.
    """

    def __init__(self) -> None:
        self._own = time.process_time()
        self._before = _tree()

    def seconds(self) -> float:
        """What was spent since.

        A process that ended meanwhile counts with its parent, if that waits for it. PySpark's daemon does not, so what
        its workers have spent is lost when it ends them, a minute after their last task.
        """
        after = _tree()
        if not after:
            return time.process_time() - self._own
        ended: dict[int, int] = {}
        for pid, (parent, own, children) in self._before.items():
            if pid not in after:
                ended[parent] = ended.get(parent, 0) + own + children
        spent = 0
        for pid, (_, own, children) in after.items():
            _, own_before, children_before = self._before.get(pid, (0, 0, 0))
            spent += own - own_before + max(0, children - children_before - ended.get(pid, 0))
        return spent / float(os.sysconf("SC_CLK_TCK"))


def _tree() -> dict[int, tuple[int, int, int]]:
    """Of each process: its parent, and the ticks of its own and of its children that ended; none without ``/proc``."""
    if not os.path.isdir("/proc/self"):
        return {}
    found: dict[int, tuple[int, int, int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        user, system, children_user, children_system = map(int, fields[11:15])
        found[int(name)] = (int(fields[1]), user + system, children_user + children_system)
    own = os.getpid()
    parents = {pid: parent for pid, (parent, _, _) in found.items()}
    return {pid: one for pid, one in found.items() if _descends(pid, own, parents)}


def _descends(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid and pid != ancestor:
        pid = parents.get(pid, 0)
    return pid == ancestor


def _hudi_rs(table: str, columns: list[str]) -> Sum:
    import pyarrow.compute as pc
    from hudi import HudiReadOptions, HudiTableBuilder  # type: ignore[import-not-found]

    def run() -> list[float]:
        opened = HudiTableBuilder.from_base_uri(table).build()
        batches = opened.read(HudiReadOptions().with_projection(columns))
        return [sum(float(pc.sum(batch.column(name)).as_py() or 0) for batch in batches) for name in columns]

    return run


def _bundle(jar: str, table: str, columns: list[str]) -> Sum:
    from pyspark.sql import SparkSession

    settings = {
        "spark.jars": os.path.abspath(jar),
        "spark.driver.memory": "6g",
        "spark.ui.enabled": "false",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")

    def run() -> list[float]:
        spark.read.format("hudi").load(table).createOrReplaceTempView("measured")
        sums = ", ".join(f"sum({name})" for name in columns)
        return [float(value) for value in spark.sql(f"SELECT {sums} FROM measured").collect()[0]]

    return run


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
