"""Output that goes through a pager if it exceeds the screen."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from typing import BinaryIO

from lakeport.shell.output.cells import shown_width

__all__ = ["PagedOutput", "pager_command"]

_LESS_OPTIONS = "SRFX"
"""Cut lines instead of wrapping them, keep colours, quit if everything fits, leave the text on the screen."""


def pager_command(environment: Mapping[str, str]) -> list[str] | None:
    """``$LAKEPORT_PAGER``, else ``$PAGER``, else ``less``; ``None`` if that is empty or not installed."""
    for name in ("LAKEPORT_PAGER", "PAGER"):
        if name in environment:
            return shlex.split(environment[name]) or None
    found = shutil.which("less")
    return [found] if found else None


class PagedOutput(io.RawIOBase):
    """Buffers the output until it exceeds the screen; then streams it to a pager.

    One thread writes and another one finishes.

    Args:
        out: The terminal.
        rows: Lines of the screen.
        columns: Columns of the screen; longer lines wrap.
        command: The pager and its arguments; ``None`` writes everything directly to the terminal.
    """

    def __init__(self, out: BinaryIO, rows: int, columns: int, command: list[str] | None) -> None:
        self._out = out
        self._room = max(1, rows - 2)
        self._columns = max(1, columns)
        self._command = command
        self._buffered: list[bytes] = []
        self._lines = 0
        self._pager: subprocess.Popen[bytes] | None = None

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Writes the bytes of whole lines.

        Raises:
            BrokenPipeError: The user has left the pager.
        """
        if self._pager is not None:
            self._feed(bytes(data))
        elif self._command is None:
            self._out.write(data)
        else:
            self._buffered.append(bytes(data))
            self._lines += self._height(bytes(data))
            if self._lines > self._room:
                self._start(self._command)
        return len(data)

    @property
    def is_paging(self) -> bool:
        """Whether a pager controls the terminal."""
        return self._pager is not None and self._pager.poll() is None

    def finish(self) -> None:
        """Shows the buffered output, or waits until the user leaves the pager, which handles Ctrl-C meanwhile."""
        for data in self._buffered:
            self._out.write(data)
        self._buffered = []
        self._out.flush()
        pager = self._pager
        if pager is None or pager.stdin is None:
            return
        # The user may have left it.
        with contextlib.suppress(OSError):
            pager.stdin.close()
        while pager.poll() is None:
            try:
                pager.wait()
            except KeyboardInterrupt:
                continue

    def _height(self, data: bytes) -> int:
        lines = data.decode("utf-8", "replace").split("\n")
        whole = sum(max(1, -(-shown_width(line) // self._columns)) for line in lines[:-1])
        return whole + (1 if lines[-1] else 0)

    def _start(self, command: list[str]) -> None:
        environment = dict(os.environ)
        environment.setdefault("LESS", _LESS_OPTIONS)
        environment.setdefault("LESSCHARSET", "utf-8")
        try:
            self._pager = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
        except OSError:
            # No such program: everything goes to the terminal.
            self._command = None
        buffered, self._buffered = self._buffered, []
        for data in buffered:
            self.write(data)

    def _feed(self, data: bytes) -> None:
        assert self._pager is not None
        assert self._pager.stdin is not None
        self._pager.stdin.write(data)
        self._pager.stdin.flush()
