"""The line below a result, and the progress line of a running query."""

from __future__ import annotations

from lakeport.scan_facts import kept_text
from lakeport.shell.runner import RunState
from lakeport.units import amount, count_text, seconds_text, size_text

__all__ = ["footer", "progress_text"]

_PHASES = {"starting": "starting {}", "analysing": "planning", "reading": "running", "writing": "running"}
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def footer(state: RunState, *, shown: str = "", timing: bool = True) -> str:
    """Rows, time, bytes read, and selected partitions and files of a finished statement.

    Args:
        state: The statement's state.
        shown: A text about what is shown, such as columns that did not fit.
        timing: Whether to include more than the rows.
    """
    parts = ["ok" if state.rows is None else count_text(state.rows, "row")]
    if shown:
        parts.append(shown)
    if timing:
        parts.append(seconds_text(state.seconds))
        scans = state.scans
        if scans is not None:
            # Python tasks do not report to Spark how much they read.
            read = state.counts.size_bytes
            parts.append(f"{size_text(read)} read" if read else f"{size_text(scans.size_bytes)} in splits")
            for what, found in (("partitions", scans.partitions), ("files", scans.files)):
                if found is not None:
                    parts.append(f"{what} {kept_text(*found)}")
    text = ", ".join(parts)
    return text if state.rows is None else f"({text})"


def progress_text(state: RunState, tick: int) -> str:
    """The progress of a statement, on one line.

    Args:
        state: The statement's state.
        tick: A growing number, for the spinner.
    """
    parts = [f"{_SPINNER[tick % len(_SPINNER)]} {_PHASES[state.phase].format(state.engine)} {state.seconds:.0f} s"]
    counts = state.counts
    if state.phase in ("reading", "writing"):
        if counts.tasks:
            parts.append(f"{counts.tasks_done} of {counts.tasks} tasks")
        if counts.rows:
            parts.append(f"{amount(counts.rows)} rows, {amount(counts.rows / max(state.seconds, 0.1))} rows/s")
        if counts.size_bytes:
            parts.append(f"{size_text(counts.size_bytes)}, {size_text(counts.size_bytes / max(state.seconds, 0.1))}/s")
    return ", ".join(parts)
