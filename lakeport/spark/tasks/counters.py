"""Numbers that tasks count and the driver adds up, by Spark's accumulators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
from pyspark import SparkContext
from pyspark.accumulators import Accumulator, AccumulatorParam, _accumulatorRegistry

from connector_spi.scan_counters import ScanCounts, counting

__all__ = ["TASKS_COUNTED", "TaskCounters", "counted", "forget_counters", "new_counters"]

TASKS_COUNTED = "tasks counted"
"""How many tasks were read to their end; what others counted is lost."""

TaskCounters = Accumulator[dict[str, int]]


class _Sums(AccumulatorParam[dict[str, int]]):
    def zero(self, value: dict[str, int]) -> dict[str, int]:
        return {}

    def addInPlace(self, value1: dict[str, int], value2: Mapping[str, int]) -> dict[str, int]:
        for name, amount in value2.items():
            value1[name] = value1.get(name, 0) + amount
        return value1


def new_counters(context: SparkContext) -> TaskCounters:
    """An accumulator for the tasks of one scan; to be forgotten again."""
    return context.accumulator({}, _Sums())


def forget_counters(counters: TaskCounters) -> None:
    """Takes it out of PySpark's registry of accumulators, which would keep it for as long as the process lives."""
    _accumulatorRegistry.pop(counters.aid, None)


def counted(batches: Iterator[pa.RecordBatch], counters: TaskCounters) -> Iterator[pa.RecordBatch]:
    """The same batches; what is counted while they are made is sent when they have ended."""
    counts = ScanCounts()
    while True:
        with counting(counts):
            batch = next(batches, None)
        if batch is None:
            break
        counts.add("rows given to Spark", batch.num_rows)
        yield batch
    counts.add(TASKS_COUNTED, 1)
    counters.add(counts.as_mapping())
