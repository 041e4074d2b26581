"""Runs statements so that Ctrl-C cancels them and the program continues."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import BinaryIO, Protocol

import pyarrow as pa

from lakeport.catalog_session import AnySession
from lakeport.engine import Work
from lakeport.scan_facts import JobCounts, ScanTotals, scan_totals
from lakeport.shell.output.formats import ResultFormat
from lakeport.transactions.lease import ReadLease

__all__ = ["RunState", "RunWatch", "Runner"]

_STARTING = "starting"
_LOOK_SECONDS = 0.2
"""Seconds between two looks at how far a statement is."""


@dataclass(frozen=True, slots=True)
class RunState:
    """The progress of a statement.

    Attributes:
        phase: ``starting`` the engine, ``analysing``, ``reading`` or ``writing``.
        seconds: Seconds since it began.
        counts: Tasks, rows and bytes, as far as the engine counts them.
        rows: Rows of the result; ``None`` for a statement without a result, or one that is still running.
        scans: Totals of its scans, once they are planned.
        engine: What runs it, as people write it.
    """

    phase: str
    seconds: float
    counts: JobCounts
    rows: int | None = None
    scans: ScanTotals | None = None
    engine: str = ""


class RunWatch(Protocol):
    """Observes a running statement; called in the thread that waits for it."""

    def tick(self, state: RunState) -> None:
        """Called about twenty times a second."""

    def keeps_waiting(self) -> bool:
        """Whether to wait for a cancelled statement without limit, since a pager still shows its rows."""


class Runner:
    """Runs one statement at a time.

    Args:
        session: The session; the first statement starts its engine if necessary.
        out: Receives the results.
    """

    def __init__(self, session: AnySession, out: BinaryIO) -> None:
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
            watch: Receives the progress; without one nothing is counted.
            out: Receives the result instead of the runner's own output.

        Returns:
            The number of rows; ``None`` for a statement without a result.

        Raises:
            KeyboardInterrupt: Ctrl-C; the statement is cancelled.
            BrokenPipeError: The reader of the result has closed it; the statement is cancelled.
            ConnectorError, PySparkException: The statement failed.
        """
        work = _Statement(self._session, statement, write, out or self._out, is_counted=watch is not None)
        worker = threading.Thread(target=work, name="lakeport-statement", daemon=True)
        try:
            worker.start()
            while worker.is_alive():
                worker.join(0.05)
                if watch is not None:
                    watch.tick(work.state())
        except KeyboardInterrupt:
            _cancel(work, watch, self._session.engine.patience_seconds)
            raise
        finally:
            self.last = work.state()
        if isinstance(work.error, BrokenPipeError):
            work.cancel()
        if work.error is not None:
            raise work.error
        return work.rows


def _cancel(work: _Statement, watch: RunWatch | None, patience: float) -> None:
    # In its own thread: another Ctrl-C must not interrupt a call into Java.
    canceller = threading.Thread(target=work.cancel, name="lakeport-cancel", daemon=True)
    canceller.start()
    end = time.monotonic() + patience
    # Whoever goes on at once might stop Spark before its jobs are cancelled. An engine that still starts has none.
    while (
        not work.is_starting
        and (canceller.is_alive() or not work.has_ended)
        and (time.monotonic() < end or (watch is not None and watch.keeps_waiting()))
    ):
        try:
            if canceller.is_alive():
                canceller.join(0.05)
            else:
                work.wait(0.05)
        except KeyboardInterrupt:
            # A second Ctrl-C: the user does not want to wait. A pager has its own key to quit.
            end = 0.0


class _Statement:
    """The work of the worker thread; its results are read when it has ended."""

    def __init__(
        self,
        session: AnySession,
        statement: str,
        write: ResultFormat | None,
        out: BinaryIO,
        *,
        is_counted: bool,
    ) -> None:
        self.error: BaseException | None = None
        self.rows: int | None = None
        self._begun = time.monotonic()
        self._session = session
        self._statement = statement
        self._write = write
        self._out = out
        self._is_counted = is_counted
        self._counts = JobCounts()
        self._progress = "analysing" if session.engine.is_started else _STARTING
        self._lease: ReadLease | None = None
        self._cancelled = threading.Event()
        self._ended = threading.Event()
        self._work: Work | None = None

    @property
    def is_starting(self) -> bool:
        """Whether it still waits for the engine to start."""
        return self._progress == _STARTING

    @property
    def has_ended(self) -> bool:
        """Whether its thread has nothing more to do; it may not have begun to run."""
        return self._ended.is_set()

    def wait(self, seconds: float) -> None:
        """Waits until it has ended, so long at most."""
        self._ended.wait(seconds)

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
        seconds = time.monotonic() - self._begun
        return RunState(
            self._progress, seconds, self._counts, rows=self.rows, scans=scans, engine=self._session.engine.title
        )

    def cancel(self) -> None:
        """Cancels what runs and what would follow."""
        self._cancelled.set()
        if self._work is not None:
            self._work.cancel()
        if self._lease is not None:
            self._lease.cancel()

    def _run(self) -> None:
        work = self._session.engine.work(self._statement[:200])
        self._progress = "analysing"
        self._work = work
        if self._cancelled.is_set():
            return
        follower = self._follow(work) if self._is_counted else None
        try:
            self._answer(work)
        except Exception as error:
            # Nothing was written yet, so a new snapshot gives the whole result.
            if self._progress != "reading" or not work.may_plan_again(error):
                raise
            self._answer(work)
        self._ended.set()
        if follower is not None and self.rows is not None:
            follower.join()  # it reads the final counts

    def _follow(self, work: Work) -> threading.Thread:
        def follow() -> None:
            # The engine may have stopped; the statement itself reports it.
            with contextlib.suppress(Exception):
                while not self._ended.wait(_LOOK_SECONDS):
                    self._counts = work.counts()
                self._counts = work.last_counts()

        follower = threading.Thread(target=follow, name="lakeport-progress", daemon=True)
        follower.start()
        return follower

    def _answer(self, work: Work) -> None:
        # Releases locks with the last row, not when Java collects garbage.
        with self._session.statement_block():
            self._lease = self._session.read_lease
            result = self._session.plan(self._statement)
            work.watch(result)
            if not result.columns or self._write is None or self._cancelled.is_set():
                return
            self._progress = "reading"
            rows = result.rows()
            self._write_rows(self._write, rows.schema, rows.batches)

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
