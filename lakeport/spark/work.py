"""What a thread has Spark do: the jobs of a group."""

from __future__ import annotations

import contextlib
import itertools
import os

from pyspark import SparkContext

from lakeport.engine import Work
from lakeport.scan_facts import JobCounts
from lakeport.spark.bridge.errors import is_file_missing
from lakeport.spark.job_progress import JobProgress

__all__ = ["SparkWork"]

_numbers = itertools.count(1)


class SparkWork(Work):
    """The jobs that this thread starts from now on.

    Args:
        context: Spark's context.
        label: Of the jobs, for people.
    """

    def __init__(self, context: SparkContext, label: str) -> None:
        super().__init__()
        self._context = context
        self._group = f"lakeport-{os.getpid()}-{next(_numbers)}"
        context.setJobGroup(self._group, label, interruptOnCancel=True)
        self._progress = JobProgress(context, self._group)

    def cancel(self) -> None:
        # Spark may have been stopped meanwhile; its jobs have ended then.
        with contextlib.suppress(Exception):
            self._context._jsc.sc().cancelJobGroupAndFutureJobs(self._group)

    def counts(self) -> JobCounts:
        return self._progress.read()

    def last_counts(self) -> JobCounts:
        return self._progress.read_last()

    def may_plan_again(self, error: Exception) -> bool:
        return is_file_missing(error)
