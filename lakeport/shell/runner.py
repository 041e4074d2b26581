"""Runs statements so that Ctrl-C cancels the Spark jobs and the program continues."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, BinaryIO, Protocol

import pyarrow as pa

from lakeport.duckdb.session import LocalSession
from lakeport.scan_facts import JobCounts, ScanTotals, scan_totals
from lakeport.session import Session
from lakeport.shell.output.formats import ResultFormat
from lakeport.transactions.lease import ReadLease

if TYPE_CHECKING:
    from pyspark import SparkContext

__all__ = ["RunState", "RunWatch", "Runner"]

_groups = itertools.count(1)
_PATIENCE = 5.0
"""Seconds to wait for a cancelled statement to end; then it is abandoned."""
_STARTING = "starting Spark"
_LOOK_SECONDS = 0.2
"""Seconds between two looks at the jobs."""


@dataclass(frozen=True, slots=True)
class RunState:
    """The progress of a statement.

    Attributes:
        phase: ``starting Spark``, ``analysing``, ``reading`` or ``writing``.
        seconds: Seconds since it began.
        counts: Tasks, rows and bytes of its jobs.
        rows: Rows of the result; ``None`` for a statement without a result, or one that is still running.
        scans: Totals of its scans, once they are planned.
    """

    phase: str
    seconds: float
    counts: JobCounts
    rows: int | None = None
    scans: ScanTotals | None = None


class RunWatch(Protocol):
    """Observes a running statement; called in the thread that waits for it."""

    def tick(self, state: RunState) -> None:
        """Called about twenty times a second."""

    def keeps_waiting(self) -> bool:
        """Whether to wait for a cancelled statement without limit, since a pager still shows its rows."""


class Runner:
    """Runs one statement at a time.

    Args:
        session: The session; the first statement starts Spark if necessary.
        out: Receives the results.
    """

    def __init__(self, session: Session, out: BinaryIO) -> None:
        self._session = session
        self._out = out
        self.last = RunState("analysing", 0.0, JobCounts())
        """The last statement, when it has ended."""

    def run(
        self, statement: str, write: ResultFormat | None, *, watch: RunWatch | None = None, out: BinaryIO | None = None
    ) -> int | None:
        """Runs a statement and writes its result.

        Args:
            statement: SQL without a semicolon at its end.
            write: Writes the result; ``None`` does not read the rows, so that a query does not run.
            watch: Receives the progress; without one Spark is not polled.
            out: Receives the result instead of the runner's own output.

        Returns:
            The number of rows; ``None`` for a statement without a result.

        Raises:
            KeyboardInterrupt: Ctrl-C; the Spark jobs are cancelled.
            BrokenPipeError: The reader of the result has closed it; the jobs are cancelled.
            ConnectorError, PySparkException: The statement failed.
        """
        kind = _LocalWork if isinstance(self._session, LocalSession) else _Work
        work = kind(self._session, statement, write, out or self._out, counts_jobs=watch is not None)
        worker = threading.Thread(target=work, name="lakeport-statement", daemon=True)
        worker.start()
        try:
            while worker.is_alive():
                worker.join(0.05)
                if watch is not None:
                    watch.tick(work.state())
        except KeyboardInterrupt:
            _cancel(work, worker, watch)
            raise
        finally:
            self.last = work.state()
        if isinstance(work.error, BrokenPipeError):
            work.cancel()
        if work.error is not None:
            raise work.error
        return work.rows


def _cancel(work: _Work, worker: threading.Thread, watch: RunWatch | None) -> None:
    # In its own thread: another Ctrl-C must not interrupt a call into Java.
    canceller = threading.Thread(target=work.cancel, name="lakeport-cancel", daemon=True)
    canceller.start()
    end = time.monotonic() + _PATIENCE
    # Whoever goes on at once might stop Spark before the jobs are cancelled. Spark that still starts has none.
    while (
        not work.starts_spark
        and (worker.is_alive() or canceller.is_alive())
        and (time.monotonic() < end or (watch is not None and watch.keeps_waiting()))
    ):
        try:
            (canceller if canceller.is_alive() else worker).join(0.05)
        except KeyboardInterrupt:
            # A second Ctrl-C: the user does not want to wait. A pager has its own key to quit.
            end = 0.0


class _Work:
    """The work of the worker thread; its results are read when it has ended."""

    def __init__(
        self, session: Session, statement: str, write: ResultFormat | None, out: BinaryIO, *, counts_jobs: bool
    ) -> None:
        self.error: BaseException | None = None
        self.rows: int | None = None
        self._begun = time.monotonic()
        self._session = session
        self._statement = statement
        self._write = write
        self._out = out
        self._counts_jobs = counts_jobs
        self._counts = JobCounts()
        self._progress = "analysing" if session.is_started else _STARTING
        self._lease: ReadLease | None = None
        self._cancelled = threading.Event()
        self._ended = threading.Event()
        self._group = f"lakeport-{os.getpid()}-{next(_groups)}"
        self._cancel_jobs: Callable[[], object] | None = None

    @property
    def starts_spark(self) -> bool:
        """Whether it still waits for Spark to start."""
        return self._progress == _STARTING

    def __call__(self) -> None:
        try:
            self._run()
        except BaseException as error:
            self.error = error
        finally:
            self._ended.set()

    def state(self) -> RunState:
        """The current progress."""
        lease = self._lease
        scans = scan_totals(lease.scans) if lease is not None else None
        return RunState(self._progress, time.monotonic() - self._begun, self._counts, self.rows, scans)

    def cancel(self) -> None:
        """Cancels the running jobs and those that would follow."""
        self._cancelled.set()
        if self._cancel_jobs is not None:
            # Spark may have been stopped meanwhile; its jobs have ended then.
            with contextlib.suppress(Exception):
                self._cancel_jobs()
        if self._lease is not None:
            self._lease.cancel()

    def _run(self) -> None:
        # Spark may start here for the first time: with it PySpark is imported.
        engine = self._session.engine
        self._progress = "analysing"
        from lakeport.spark.bridge.errors import is_file_missing

        context = engine.spark.sparkContext
        context.setJobGroup(self._group, self._statement[:200], interruptOnCancel=True)
        self._cancel_jobs = lambda: context._jsc.sc().cancelJobGroupAndFutureJobs(self._group)
        if self._cancelled.is_set():
            return
        follower = self._follow(context) if self._counts_jobs else None
        try:
            self._answer()
        except Exception as error:
            # Files of the snapshot were removed. Nothing was written yet, so a new snapshot gives the whole result.
            if self._progress != "reading" or not is_file_missing(error):
                raise
            self._answer()
        self._ended.set()
        if follower is not None and self.rows is not None:
            follower.join()  # it reads the final counts

    def _follow(self, context: SparkContext) -> threading.Thread:
        from lakeport.spark.job_progress import JobProgress

        progress = JobProgress(context, self._group)

        def follow() -> None:
            # Spark may have stopped; the statement itself reports it.
            with contextlib.suppress(Exception):
                while not self._ended.wait(_LOOK_SECONDS):
                    self._counts = progress.read()
                self._counts = progress.read_last()

        follower = threading.Thread(target=follow, name="lakeport-progress", daemon=True)
        follower.start()
        return follower

    def _answer(self) -> None:
        from lakeport.spark.results import arrow_result

        # Releases locks with the last row, not when Java collects garbage.
        with self._session.transaction():
            self._lease = self._session.read_lease
            frame = self._session.sql(self._statement)
            if not frame.columns or self._write is None:
                return
            self._progress = "reading"
            result = arrow_result(frame)
            self._write_rows(self._write, result.schema, result.batches)

    def _write_rows(self, write: ResultFormat, schema: pa.Schema, rows: Iterator[pa.RecordBatch]) -> None:
        batches = self._until_cancelled(rows)
        first = list(islice(batches, 1))
        self._progress = "writing"
        self.rows = write(schema, chain(first, batches), self._out)
        self._out.flush()

    def _until_cancelled(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if self._cancelled.is_set():
                raise KeyboardInterrupt
            yield batch


class _LocalWork(_Work):
    """A statement of a session without Spark."""

    def _run(self) -> None:
        assert isinstance(self._session, LocalSession)
        with self._session.transaction():
            self._lease = self._session.read_lease
            result = self._session.sql(self._statement)
            self._cancel_jobs = result.cancel
            if not result.columns or self._write is None or self._cancelled.is_set():
                return
            self._progress = "reading"
            with result.to_reader() as rows:
                self._write_rows(self._write, result.schema, iter(rows))
