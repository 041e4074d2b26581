"""Runs a query with a progress bar of its tasks."""

from __future__ import annotations

import contextvars
import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from pyspark import SparkContext

from lakeport.scan_facts import JobCounts
from lakeport.spark.job_progress import JobProgress

__all__ = ["Bar", "bar_html", "run_with_progress"]

T = TypeVar("T")

_SECONDS = 0.2
_numbers = itertools.count(1)


class Bar(Protocol):
    """Where progress is shown."""

    def show(self, html: str) -> None:
        """Replaces the shown HTML; an empty text removes it."""


def run_with_progress(context: SparkContext, work: Callable[[], T], bar: Bar | None) -> T:
    """Runs a query in its own thread while this thread shows the progress.

    An interrupt of this thread, such as the notebook's stop button, cancels the query's jobs.

    Args:
        context: Spark's context.
        work: Runs the query; this function returns its result and raises its error.
        bar: Shows the progress; ``None`` for none.
    """
    group = f"lakeport-notebook-{os.getpid()}-{next(_numbers)}"
    future: Future[T] = Future()
    variables = contextvars.copy_context()  # such as this thread's open transaction block

    def run() -> None:
        try:
            context.setJobGroup(group, "notebook", interruptOnCancel=True)
            future.set_result(variables.run(work))
        except BaseException as error:
            future.set_exception(error)

    thread = threading.Thread(target=run, name=group, daemon=True)
    thread.start()
    progress = JobProgress(context, group)
    shown = False
    try:
        while thread.is_alive():
            thread.join(_SECONDS)
            if bar is not None and thread.is_alive():
                bar.show(bar_html(progress.read()))
                shown = True
    except BaseException:
        context.cancelJobGroup(group)
        thread.join()
        raise
    finally:
        if bar is not None and shown:
            bar.show("")
    return future.result()


def bar_html(counts: JobCounts) -> str:
    """The HTML of the bar; an empty bar if no tasks are known."""
    if not counts.tasks:
        return "<progress></progress> <small>planning</small>"
    rows = f", {counts.rows:,} rows read" if counts.rows else ""
    return (
        f'<progress value="{counts.tasks_done}" max="{counts.tasks}"></progress> '
        f"<small>{counts.tasks_done} of {counts.tasks} tasks{rows}</small>"
    )
