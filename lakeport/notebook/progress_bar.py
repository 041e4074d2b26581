"""Runs a query beside a bar that shows how far its tasks are."""

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
        """Shows this instead of what was there; an empty text takes it away."""


def run_with_progress(context: SparkContext, work: Callable[[], T], bar: Bar | None) -> T:
    """Runs a query in a thread of its own while this one shows how far it is.

    An interrupt of this thread, such as the notebook's stop button, cancels the query's jobs.

    Args:
        context: Spark's context.
        work: Runs the query; its result and its error are those of this function.
        bar: Where to show progress; ``None`` shows none.
    """
    group = f"lakeport-notebook-{os.getpid()}-{next(_numbers)}"
    future: Future[T] = Future()
    variables = contextvars.copy_context()  # such as the block of transactions that this thread is in

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
    """The bar; of no known tasks an empty one."""
    if not counts.tasks:
        return "<progress></progress> <small>planning</small>"
    rows = f", {counts.rows:,} rows read" if counts.rows else ""
    return (
        f'<progress value="{counts.tasks_done}" max="{counts.tasks}"></progress> '
        f"<small>{counts.tasks_done} of {counts.tasks} tasks{rows}</small>"
    )
