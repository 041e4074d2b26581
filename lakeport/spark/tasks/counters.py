"""Numbers that tasks count and the driver adds up, by Spark's accumulators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark import SparkContext
from pyspark.accumulators import Accumulator, AccumulatorParam, _accumulatorRegistry

from connector_spi.scan_counters import ScanCounts, counting

__all__ = ["TaskCounters", "TaskCounts", "counted", "forget_counters", "new_counters"]


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """What one task counted.

    Attributes:
        times: How often it was read to its end: Spark runs a task again to sample rows, after a failure, or for a
            second use.
        counts: Of one time, by names in words.
    """

    times: int
    counts: Mapping[str, int]


TaskCounters = Accumulator[dict[str, TaskCounts]]
"""By task; one that was not read to its end is not in it."""


class _ByTask(AccumulatorParam[dict[str, TaskCounts]]):
    def zero(self, value: dict[str, TaskCounts]) -> dict[str, TaskCounts]:
        return {}

    def addInPlace(self, value1: dict[str, TaskCounts], value2: dict[str, TaskCounts]) -> dict[str, TaskCounts]:
        for task, found in value2.items():
            known = value1.get(task)
            value1[task] = found if known is None else TaskCounts(known.times + found.times, known.counts)
        return value1


def new_counters(context: SparkContext) -> TaskCounters:
    """An accumulator for the tasks of one scan; to be forgotten again."""
    return context.accumulator({}, _ByTask())


def forget_counters(counters: TaskCounters) -> None:
    """Takes it out of PySpark's registry of accumulators, which would keep it for as long as the process lives."""
    _accumulatorRegistry.pop(counters.aid, None)


def counted(batches: Iterator[pa.RecordBatch], counters: TaskCounters, task: str) -> Iterator[pa.RecordBatch]:
    """The same batches; what is counted while they are made is sent when they have ended.

    Args:
        batches: All that the task gives.
        counters: Where to.
        task: What identifies the task among those of its scan, however often it runs.
    """
    counts = ScanCounts()
    while True:
        with counting(counts):
            batch = next(batches, None)
        if batch is None:
            break
        counts.add("rows given to Spark", batch.num_rows)
        yield batch
    counters.add({task: TaskCounts(1, counts.as_mapping())})
