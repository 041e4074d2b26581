"""Runs the statements and commands of ``lakeport sql``, one by one."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import BinaryIO

from connector_spi.errors import InvalidArgumentError
from lakeport.catalog_session import AnySession
from lakeport.shell.completion.names import NameCache
from lakeport.shell.display import Display
from lakeport.shell.output.formats import FORMATS, ResultFormat
from lakeport.shell.progress_line import ProgressWatch
from lakeport.shell.shell_session import ShellSession
from lakeport.shell.sql.source_text import SourceText
from lakeport.shell.sql.statements import InputPart, PartKind
from lakeport.shell.variables import interpolate

__all__ = ["Script", "ScriptFormats"]


@dataclass(frozen=True, slots=True)
class ScriptFormats:
    """How results are written.

    Attributes:
        last: That of the last statement.
        others: Those of all others.
    """

    last: ResultFormat
    others: ResultFormat


class Script:
    """Runs parts of a text in one session; a terminal as the standard error shows their progress.

    Args:
        session: The session.
        out: Receives the results.
        formats: How they are written.
        arguments: Those of the command line: the catalog, the schema and the variables.

    Raises:
        InvalidArgumentError: A variable has no value, or its name is none.
    """

    def __init__(
        self, session: AnySession, out: BinaryIO, formats: ScriptFormats, arguments: argparse.Namespace
    ) -> None:
        self._out = out
        self._formats = formats
        self._variables = dict(map(_variable, arguments.variables or ()))
        display = Display(out)
        display.settings = display.settings.with_text("pager", "off")
        self._shell = ShellSession(session, display, NameCache(session), _run_command, debug=arguments.debug)
        self._shell.variables = self._variables
        self._shell.begin_in(arguments.catalog, arguments.schema)

    def run(self, part: InputPart, *, is_last: bool) -> None:
        """Runs a statement or a command.

        Args:
            part: The part.
            is_last: No statement follows.

        Raises:
            LeaveShell: The command leaves.
            KeyboardInterrupt, BrokenPipeError, ConnectorError, PySparkException: As in ``Runner.run``.
        """
        if part.kind is PartKind.COMMAND:
            self._shell.look_where()
            _run_command(self._shell, part.text)
            return
        self._shell.settle()
        write = self._formats.last if is_last else self._formats.others
        if part.kind is PartKind.VERTICAL:
            write = FORMATS["vertical"]
        self._run(self._filled(part), write)

    def source_of(self, part: InputPart, source: SourceText) -> SourceText | None:
        """Where a part is that failed; ``None`` for a command. With variables, it is the text that they made."""
        if part.kind is PartKind.COMMAND:
            return None
        statement = self._filled(part)
        return source if statement == part.text else SourceText(statement, 0, statement, source.name)

    def _filled(self, part: InputPart) -> str:
        """A statement with the values of variables."""
        return interpolate(part.text, self._variables, self._shell.session.dialect)

    def _run(self, statement: str, write: ResultFormat) -> None:
        runner = self._shell.runner
        if not sys.stderr.isatty():
            runner.run(statement, write, out=self._out)
            return
        watch = ProgressWatch(sys.stderr, write)
        try:
            runner.run(statement, watch.write, watch=watch, out=self._out)
        finally:
            watch.end()


def _run_command(shell: ShellSession, text: str) -> None:
    # Statements do not need it: the commands know what completes them, and with that the prompt.
    from lakeport.shell.commands.registry import run_command

    run_command(shell, text)


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise InvalidArgumentError(f"-v {text}: expected NAME=VALUE, such as -v day=2024-01-01")
    return name, value
