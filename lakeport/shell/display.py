r"""Shows results on the screen, with a pager and a progress line, or writes them to the file of ``\o``."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError
from lakeport.shell.footer import footer
from lakeport.shell.output.formats import BINARY_FORMATS, FORMATS, ResultFormat
from lakeport.shell.output.pager import PagedOutput, pager_command
from lakeport.shell.output.screen_table import ScreenTable
from lakeport.shell.output.settings import ShellSettings
from lakeport.shell.progress_line import ProgressLine
from lakeport.shell.runner import Runner, RunState

__all__ = ["Display", "ResultView"]


class Display:
    r"""Shows the results of a shell.

    Args:
        out: The standard output.
    """

    def __init__(self, out: BinaryIO) -> None:
        self.settings = ShellSettings()
        self._out = out
        self._file: BinaryIO | None = None
        self._path = ""

    @property
    def is_terminal(self) -> bool:
        """Whether the output is a terminal."""
        return self._out.isatty()

    def size(self) -> tuple[int, int]:
        """The current columns and lines of the screen."""
        found = shutil.get_terminal_size((80, 24))
        return found.columns, found.lines

    def open_file(self, path: str) -> None:
        """Sends all following results to a file; an empty path sends them to the screen again.

        Raises:
            InvalidArgumentError: The file cannot be written.
        """
        self.close()
        if not path:
            return
        try:
            self._file = Path(path).expanduser().open("wb")
        except OSError as error:
            raise InvalidArgumentError(f"cannot write {path}: {error.strerror}") from error
        self._path = path

    def close(self) -> None:
        """Closes the file, if there is one."""
        if self._file is not None:
            self._file.close()
        self._file, self._path = None, ""

    def run(self, runner: Runner, statement: str, *, vertical: bool = False, title: str = "") -> None:
        """Runs a statement and shows its result.

        Args:
            runner: Runs it.
            statement: The statement.
            vertical: Shows one column on each line, for this statement only.
            title: A line before the result.

        Raises:
            KeyboardInterrupt, ConnectorError, PySparkException: As in ``Runner.run``.
        """
        settings = self.settings if not vertical else self.settings.with_text("expanded", "on")
        if self._file is not None:
            self._run_to_file(runner, statement, settings, self._file)
            return
        if settings.format in BINARY_FORMATS and self.is_terminal:
            raise InvalidArgumentError(
                f"{settings.format} is binary, and the output is a terminal; "
                f"send it to a file: \\o result.{settings.format}"
            )
        columns, rows = self.size()
        pages = self.is_terminal and settings.pager == "on"
        output = PagedOutput(self._out, rows, columns, pager_command(os.environ) if pages else None)
        view = ResultView(settings, columns if self.is_terminal else None, output, self.is_terminal)
        if title:
            output.write(f"{title}\n".encode())
        try:
            runner.run(statement, view.write, watch=view, out=cast("BinaryIO", output))
            if view.is_table or runner.last.rows is None:
                line = footer(runner.last, shown=view.left_out, timing=settings.timing == "on")
                output.write(f"{line}\n".encode())
        except BrokenPipeError:
            pass  # the user has seen enough
        finally:
            view.end()
            output.finish()

    def show(self, table: pa.Table, title: str = "", notes: Sequence[str] = ()) -> None:
        """Shows given rows, with a line above and lines below; uses the pager as well."""
        columns, rows = self.size()
        pages = self.is_terminal and self.settings.pager == "on"
        output = PagedOutput(self._out, rows, columns, pager_command(os.environ) if pages else None)
        try:
            if title:
                output.write(f"{title}\n".encode())
            ScreenTable(columns if self.is_terminal else None, self.settings)(
                table.schema, iter(table.to_batches()), cast("BinaryIO", output)
            )
            for note in notes:
                output.write(f"{note}\n".encode())
        except BrokenPipeError:
            pass  # the user has seen enough
        finally:
            output.finish()

    def print_text(self, text: str) -> None:
        """Shows a text of whole lines; one that is longer than the screen goes through the pager."""
        columns, rows = self.size()
        pages = self.is_terminal and self.settings.pager == "on"
        output = PagedOutput(self._out, rows, columns, pager_command(os.environ) if pages else None)
        try:
            output.write(text.encode())
        except BrokenPipeError:
            pass  # the user has seen enough
        finally:
            output.finish()

    def _run_to_file(self, runner: Runner, statement: str, settings: ShellSettings, file: BinaryIO) -> None:
        table = ScreenTable(None, settings)
        write: ResultFormat = table if settings.format == "aligned" else FORMATS[settings.format]
        view = ResultView(settings, None, file, self.is_terminal, write)
        try:
            runner.run(statement, view.write, watch=view, out=file)
        finally:
            view.end()
        file.flush()
        line = footer(runner.last, shown=f"to {self._path}" if runner.last.rows is not None else "")
        if settings.format in BINARY_FORMATS and runner.last.rows is not None:
            # A file of these holds one result.
            self.close()
        self._out.write(f"{line}\n".encode())
        self._out.flush()


class ResultView:
    """One result being shown, and the progress line until its first row.

    Args:
        settings: How to show it.
        columns: Columns of the screen; ``None`` cuts nothing.
        output: Receives the result.
        is_terminal: Whether progress is shown.
        write: How to write it; ``None`` uses the format in the settings.
    """

    def __init__(
        self,
        settings: ShellSettings,
        columns: int | None,
        output: BinaryIO | PagedOutput,
        is_terminal: bool,
        write: ResultFormat | None = None,
    ) -> None:
        self._table = ScreenTable(columns, settings)
        self.is_table = write is None and settings.format == "aligned"
        chosen = self._table if self.is_table else FORMATS[settings.format]
        self._write = write or chosen
        self._output = output
        self._line = ProgressLine(sys.stdout) if is_terminal and settings.progress == "on" else None

    @property
    def left_out(self) -> str:
        """A text about columns that did not fit the screen; empty where all did."""
        count = self._table.left_out
        return f"{count} more column{'' if count == 1 else 's'}: \\x shows all" if count else ""

    def write(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
        """A ``ResultFormat``; the first row removes the progress line."""
        self.end()
        return self._write(schema, batches, out)

    def tick(self, state: RunState) -> None:
        """Redraws the progress line."""
        if self._line is not None:
            self._line.draw(state)

    def keeps_waiting(self) -> bool:
        """Whether a pager shows the rows."""
        return isinstance(self._output, PagedOutput) and self._output.is_paging

    def end(self) -> None:
        """Removes the progress line for good."""
        if self._line is not None:
            self._line.end()
