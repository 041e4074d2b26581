"""How far the Spark jobs of a group are."""

from __future__ import annotations

import contextlib

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark import SparkContext

from lakeport.scan_facts import JobCounts

__all__ = ["JobProgress"]

_NOTHING = (0, 0, 0, 0)


class JobProgress:
    """Asks Spark's own store of the running application, which is there without a web page, too.

    Args:
        context: Spark's context.
        group: The job group.
    """

    def __init__(self, context: SparkContext, group: str) -> None:
        self._tracker = context._jsc.statusTracker()
        self._store = context._jsc.sc().statusStore()
        self._bus = context._jsc.sc().listenerBus()
        self._group = group
        self._jobs: dict[int, JobCounts] = {}
        self._ended: set[int] = set()

    def read(self) -> JobCounts:
        """The sums over all jobs of the group so far; what Spark does not know yet counts nothing."""
        for job in sorted(set(self._tracker.getJobIdsForGroup(self._group)) - self._ended):
            self._look_at(int(job))
        known = [(one.tasks_done, one.tasks, one.rows, one.size_bytes) for one in self._jobs.values()]
        return JobCounts(*(sum(column) for column in zip(_NOTHING, *known, strict=True)))

    def read_last(self) -> JobCounts:
        """The sums when all jobs have ended: waits a moment for what Spark's listeners have not heard yet."""
        # Where a listener is slow, a little is missing in the sums.
        with contextlib.suppress(Py4JError):
            self._bus.waitUntilEmpty(1000)
        return self.read()

    def _look_at(self, job: int) -> None:
        try:
            data = self._store.job(job)
            stages = [self._stage(stage) for stage in _items(data.stageIds())]
            sums = JobCounts(*(sum(column) for column in zip(_NOTHING, *stages, strict=True)))
            self._jobs[job] = sums
            if str(data.status()) != "RUNNING":
                self._ended.add(job)
        except Py4JError:
            return  # Spark has not heard of it yet, or has forgotten it

    def _stage(self, stage: int) -> tuple[int, int, int, int]:
        data = self._store.lastStageAttempt(stage)
        if str(data.status()) in ("SKIPPED", "PENDING"):
            # A skipped one was done by an earlier job; a pending one may still be skipped.
            return (0, 0 if str(data.status()) == "SKIPPED" else int(data.numTasks()), 0, 0)
        return (
            int(data.numCompleteTasks()),
            int(data.numTasks()),
            int(data.inputRecords()),
            int(data.inputBytes()),
        )


def _items(sequence: JavaObject) -> list[int]:
    return [int(sequence.apply(index)) for index in range(sequence.size())]
