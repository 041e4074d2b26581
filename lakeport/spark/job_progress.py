"""The progress of a group of Spark jobs."""

from __future__ import annotations

import contextlib

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark import SparkContext

from lakeport.scan_facts import JobCounts

__all__ = ["JobProgress"]

_NOTHING = (0, 0, 0, 0)


class JobProgress:
    """Reads the progress from Spark's application status store, which exists without the web UI.

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
        """The sums over all jobs of the group so far; jobs that are not in the store yet count as nothing."""
        for job in sorted(set(self._tracker.getJobIdsForGroup(self._group)) - self._ended):
            self._read_job(int(job))
        known = [(one.tasks_done, one.tasks, one.rows, one.size_bytes) for one in self._jobs.values()]
        return JobCounts(*(sum(column) for column in zip(_NOTHING, *known, strict=True)))

    def read_last(self) -> JobCounts:
        """The sums after all jobs have ended: waits a moment for events that Spark's listeners have not received."""
        # A slow listener may leave the sums slightly low.
        with contextlib.suppress(Py4JError):
            self._bus.waitUntilEmpty(1000)
        return self.read()

    def _read_job(self, job: int) -> None:
        try:
            data = self._store.job(job)
            stages = [self._stage(stage) for stage in _items(data.stageIds())]
            sums = JobCounts(*(sum(column) for column in zip(_NOTHING, *stages, strict=True)))
            self._jobs[job] = sums
            if str(data.status()) != "RUNNING":
                self._ended.add(job)
        except Py4JError:
            return  # the job is not in the store yet, or no longer

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
