"""Runs a statement with a progress bar of its tasks."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from lakeport.engine import Engine, LazyResult, Work
from lakeport.scan_facts import JobCounts

__all__ = ["Bar", "bar_html", "run_with_progress"]

T = TypeVar("T")

_SECONDS = 0.2


class Bar(Protocol):
    """Where progress is shown."""

    def show(self, html: str) -> None:
        """Replaces the shown HTML; an empty text removes it."""


def run_with_progress(engine: Engine[LazyResult], action: Callable[[Work], T], bar: Bar | None) -> T:
    """Runs a statement in its own thread while this thread shows the progress.

    An interrupt of this thread, such as the notebook's stop button, cancels it.

    Args:
        engine: What runs it.
        action: Runs it; this function returns its result and raises its error.
        bar: Shows the progress; ``None`` for none.
    """
    engine.start()  # here, where an interrupt ends it
    future: Future[T] = Future()
    begun: Future[Work] = Future()
    variables = contextvars.copy_context()  # such as this thread's open transaction block

    def run() -> None:
        try:
            begun.set_result(engine.work("notebook"))
            future.set_result(variables.run(action, begun.result()))
        except BaseException as error:
            future.set_exception(error)

    thread = threading.Thread(target=run, name="lakeport-notebook", daemon=True)
    thread.start()
    shown = False
    try:
        while thread.is_alive():
            thread.join(_SECONDS)
            if bar is not None and thread.is_alive() and begun.done():
                bar.show(bar_html(begun.result().counts()))
                shown = True
    except BaseException:
        if begun.done():
            begun.result().cancel()
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
