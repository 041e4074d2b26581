"""The line below a result, and the progress line of a running query."""

from __future__ import annotations

from lakeport.shell.runner import RunState

__all__ = ["amount", "footer", "progress_text", "row_count", "seconds_text"]

_SIZES = ((1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"))
_THOUSANDS = ((10**9, 10**9, "G"), (10**6, 10**6, "M"), (10**4, 10**3, "k"))
_PHASES = {"starting Spark": "starting Spark", "analysing": "planning", "reading": "running", "writing": "running"}
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def footer(state: RunState, *, shown: str = "", timing: bool = True) -> str:
    """Rows, time, bytes read, and selected partitions and files of a finished statement.

    Args:
        state: The statement's state.
        shown: A text about what is shown, such as columns that did not fit.
        timing: Whether to include more than the rows.
    """
    parts = ["ok" if state.rows is None else row_count(state.rows)]
    if shown:
        parts.append(shown)
    if timing:
        parts.append(seconds_text(state.seconds))
        scans = state.scans
        if scans is not None:
            # Python tasks do not report to Spark how much they read.
            read = state.counts.size_bytes
            parts.append(f"{_size(read)} read" if read else f"{_size(scans.size_bytes)} in splits")
            for what, found in (("partitions", scans.partitions), ("files", scans.files)):
                if found is not None:
                    parts.append(f"{what} {found[0]:,} of {found[1]:,}")
    text = ", ".join(parts)
    return text if state.rows is None else f"({text})"


def progress_text(state: RunState, tick: int) -> str:
    """The progress of a statement, on one line.

    Args:
        state: The statement's state.
        tick: A growing number, for the spinner.
    """
    parts = [f"{_SPINNER[tick % len(_SPINNER)]} {_PHASES[state.phase]} {state.seconds:.0f} s"]
    counts = state.counts
    if state.phase in ("reading", "writing") and counts.tasks:
        parts.append(f"{counts.tasks_done} of {counts.tasks} tasks")
        if counts.rows:
            parts.append(f"{amount(counts.rows)} rows, {amount(counts.rows / max(state.seconds, 0.1))} rows/s")
        if counts.size_bytes:
            parts.append(f"{_size(counts.size_bytes)}, {_size(counts.size_bytes / max(state.seconds, 0.1))}/s")
    return ", ".join(parts)


def row_count(rows: int) -> str:
    """``1 row``, ``1,000 rows``."""
    return f"{rows:,} row{'' if rows == 1 else 's'}"


def seconds_text(seconds: float) -> str:
    """``0.42 s``, ``2 min 5 s``."""
    return f"{seconds:.2f} s" if seconds < 120 else f"{int(seconds // 60)} min {seconds % 60:.0f} s"


def amount(number: float) -> str:
    """A number with few digits: ``1.2 M``."""
    for unit, divisor, letter in _THOUSANDS:
        if number >= unit:
            shown = number / divisor
            return f"{shown:.3g} {letter}" if shown < 1000 else f"{shown:,.0f} {letter}"
    return f"{number:,.0f}"


def _size(size: float) -> str:
    for unit, letter in _SIZES:
        if size >= unit:
            return f"{size / unit:.1f} {letter}"
    return f"{size:.0f} bytes"
