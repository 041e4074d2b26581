"""The progress of a running statement on one line of a terminal, which disappears with the first row."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from typing import BinaryIO, TextIO

import pyarrow as pa

from lakeport.shell.footer import progress_text
from lakeport.shell.output.cells import cut
from lakeport.shell.output.formats import ResultFormat
from lakeport.shell.runner import RunState

__all__ = ["ProgressLine", "ProgressWatch"]

_QUIET_SECONDS = 0.4
"""Statements that end sooner show no progress, which would only flicker."""
_LINE_SECONDS = 0.1
_ERASE = "\r\x1b[K"


class ProgressLine:
    """The line; it is drawn by one thread and ended by another.

    Args:
        stream: A terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._ended = False
        self._is_drawn = False
        self._ticks = 0
        self._last = 0.0

    def draw(self, state: RunState) -> None:
        """Redraws the line, if it is time."""
        with self._lock:
            is_early = state.seconds - self._last < _LINE_SECONDS if self._is_drawn else state.seconds < _QUIET_SECONDS
            if self._ended or is_early:
                return
            self._ticks += 1
            self._last = state.seconds
            columns = shutil.get_terminal_size((80, 24)).columns
            self._stream.write(_ERASE + cut(progress_text(state, self._ticks), max(1, columns - 1)))
            self._stream.flush()
            self._is_drawn = True

    def end(self) -> None:
        """Removes the line for good."""
        with self._lock:
            self._ended = True
            if self._is_drawn:
                self._stream.write(_ERASE)
                self._stream.flush()
                self._is_drawn = False


class ProgressWatch:
    """Shows the progress of one statement whose result goes elsewhere; a ``RunWatch``.

    Args:
        stream: A terminal.
        write: Writes the result.
    """

    def __init__(self, stream: TextIO, write: ResultFormat) -> None:
        self._line = ProgressLine(stream)
        self._write = write

    def write(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
        """A ``ResultFormat``; the first row removes the line."""
        self._line.end()
        return self._write(schema, batches, out)

    def tick(self, state: RunState) -> None:
        """Redraws the line."""
        self._line.draw(state)

    def keeps_waiting(self) -> bool:
        """Never: there is no pager."""
        return False

    def end(self) -> None:
        """Removes the line for good."""
        self._line.end()
