"""Keeps PySpark from logging a failed statement as a page of JSON: the error that is raised says all of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pyspark.logger import PySparkLogger

__all__ = ["no_query_logs", "silence_query_logs"]

# PySparkException._log_exception, which PySpark calls for every error that has a place in a query.
_NAMES = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_in_statement: ContextVar[bool] = ContextVar("lakeport_in_statement", default=False)


class _OutsideOfStatements(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return not _in_statement.get()


_filter = _OutsideOfStatements()


@contextmanager
def no_query_logs() -> Iterator[None]:
    """Inside of the block PySpark logs no failed statement of this thread."""
    for name in _NAMES:
        # Its own class, which takes the arguments that PySpark logs with.
        PySparkLogger.getLogger(name).addFilter(_filter)
    token = _in_statement.set(True)
    try:
        yield
    finally:
        _in_statement.reset(token)


def silence_query_logs() -> None:
    """From now on PySpark logs no failed query of this process, for a Spark that is Lakeport's own."""
    for name in _NAMES:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)
