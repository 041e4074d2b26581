"""Runs statements so that Ctrl-C cancels the Spark jobs and leaves the program alive."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import BinaryIO

import pyarrow as pa

from connector_spi.names import quote_identifier
from lakeport.cleanup import CLEANUP
from lakeport.session import Session, load_catalogs
from lakeport.shell.formats import ResultFormat
from lakeport.shell.state import state_directory
from lakeport.spark.options import SparkOptions
from lakeport.transactions import SharedTransactions

__all__ = ["Runner", "open_session", "use_statement"]

_groups = itertools.count(1)
_PATIENCE = 5.0
"""Seconds that a cancelled statement gets to end; then it is left behind."""


@contextmanager
def open_session(folder: str | None, *, debug: bool) -> Iterator[Session]:
    """A session whose Spark writes its log to a file, which stays only where Spark does not start.

    Args:
        folder: The catalogs; see ``connect``.
        debug: Spark writes to the standard error.

    Raises:
        InvalidPropertyError: The folder of catalogs is not there.
    """
    catalogs = load_catalogs(folder)
    log = None if debug else state_directory() / f"spark-{os.getpid()}.log"
    session = Session(catalogs, options=SparkOptions(log=log))
    try:
        yield session
    finally:
        started = session.is_started
        session.close()
        if log is not None and started:
            log.unlink(missing_ok=True)


def use_statement(catalog: str | None, schema: str | None) -> str | None:
    """The statement behind ``--catalog`` and ``--schema``."""
    parts = [quote_identifier(part) for part in (catalog, schema) if part]
    return f"USE {'.'.join(parts)}" if parts else None


class Runner:
    """Runs one statement at a time.

    Args:
        session: Spark starts with the first statement, if it has not.
        out: Takes the results.
    """

    def __init__(self, session: Session, out: BinaryIO) -> None:
        self._session = session
        self._out = out

    def run(self, statement: str, write: ResultFormat | None) -> int | None:
        """Runs a statement and writes its result.

        Args:
            statement: SQL with no semicolon at its end.
            write: ``None`` drops the rows unread: a query does not run then.

        Returns:
            The number of rows; ``None`` for a statement that has no result.

        Raises:
            KeyboardInterrupt: Ctrl-C; the Spark jobs are cancelled.
            ConnectorError, PySparkException: The statement failed.
        """
        work = _Work(self._session, statement, write, self._out)
        worker = threading.Thread(target=work, name="lakeport-statement", daemon=True)
        worker.start()
        try:
            while worker.is_alive():
                worker.join(0.05)
        except KeyboardInterrupt:
            work.cancel()
            worker.join(_PATIENCE)
            raise
        if work.error is not None:
            raise work.error
        return work.rows


class _Work:
    """What the worker thread does; its results are read when it has ended."""

    def __init__(self, session: Session, statement: str, write: ResultFormat | None, out: BinaryIO) -> None:
        self.error: BaseException | None = None
        self.rows: int | None = None
        self._session = session
        self._statement = statement
        self._write = write
        self._out = out
        self._progress = "analysing"
        self._transactions: SharedTransactions | None = None
        self._cancelled = threading.Event()
        self._group = f"lakeport-{os.getpid()}-{next(_groups)}"
        self._cancel_jobs: Callable[[], object] | None = None

    def __call__(self) -> None:
        try:
            self._run()
        except BaseException as error:
            self.error = error

    def cancel(self) -> None:
        """Stops the jobs that run and those that would follow."""
        self._cancelled.set()
        if self._cancel_jobs is not None:
            self._cancel_jobs()
        if self._transactions is not None:
            # It may be waiting for a lock.
            CLEANUP.later(self._transactions.group.rollback)

    def _run(self) -> None:
        # Spark may start here for the first time: with it PySpark is imported.
        engine = self._session.engine
        from lakeport.spark.errors import is_file_missing

        context = engine.spark.sparkContext
        context.setJobGroup(self._group, self._statement[:200], interruptOnCancel=True)
        self._cancel_jobs = lambda: context._jsc.sc().cancelJobGroupAndFutureJobs(self._group)
        if self._cancelled.is_set():
            return
        try:
            self._answer()
        except Exception as error:
            # Files of the snapshot were cleaned away. Nothing was written yet: a new snapshot gives a whole answer.
            if self._progress != "reading" or not is_file_missing(error):
                raise
            self._answer()

    def _answer(self) -> None:
        from lakeport.spark.results import arrow_result

        # Locks are let go with the last row, not when Java collects its garbage.
        with self._session.transaction():
            self._transactions = self._session.shared_transactions
            frame = self._session.sql(self._statement)
            if not frame.columns or self._write is None:
                return
            self._progress = "reading"
            result = arrow_result(frame)
            batches = self._until_cancelled(result.batches)
            first = list(islice(batches, 1))
            self._progress = "writing"
            self.rows = self._write(result.schema, chain(first, batches), self._out)
            self._out.flush()

    def _until_cancelled(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if self._cancelled.is_set():
                raise KeyboardInterrupt
            yield batch
