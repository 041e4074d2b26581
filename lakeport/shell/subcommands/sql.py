"""``lakeport sql``: statements from the command line, a file or the standard input."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from connector_spi.errors import InvalidArgumentError
from lakeport.shell.output.formats import BINARY_FORMATS, FORMATS, HEADERLESS_FORMATS
from lakeport.shell.problems import exit_code, report
from lakeport.shell.running import open_session
from lakeport.shell.shell_session import LeaveShell
from lakeport.shell.sql.source_text import SourceText
from lakeport.shell.sql.statements import InputPart, PartKind, split_input, split_statements
from lakeport.shell.subcommands.arguments import Commands, add_catalogs_option, add_name_options
from lakeport.shell.subcommands.script import Script, ScriptFormats

__all__ = ["add_sql_command", "run_statements"]


def add_sql_command(commands: Commands) -> None:
    """Declares the command."""
    command = commands.add_parser(
        "sql",
        help="run SQL statements and print their results",
        description="Runs SQL statements, separated by semicolons, and prints their results to the standard output. "
        "The shell's commands, such as \\d TABLE, take a line each. "
        "The first error ends the run. Exit code: 0, 1 for a user error, 2 for an external error, 3 for a defect.",
    )
    command.add_argument("text", nargs="?", help="the statements; without it and -f the standard input is read")
    command.add_argument("-f", "--file", metavar="FILE", help="a file with statements; - is the standard input")
    add_catalogs_option(command)
    add_name_options(command)
    command.add_argument(
        "--output-format",
        choices=sorted(FORMATS),
        help="default: aligned. arrow and parquet hold the result of the last statement only",
    )
    command.add_argument("--no-header", action="store_true", help="csv and tsv without the names of the columns")
    command.add_argument(
        "-v",
        "--variable",
        metavar="NAME=VALUE",
        action="append",
        dest="variables",
        help="a variable: then :NAME, :'NAME' as text, :\"NAME\" as name; may be repeated",
    )
    command.set_defaults(run=_run)


def run_statements(arguments: argparse.Namespace, text: str, out: BinaryIO, *, name_of_text: str | None = None) -> int:
    """Runs all statements of a text until one fails, which is reported to the standard error.

    Args:
        arguments: The arguments of the command line.
        text: The statements.
        out: Receives the results.
        name_of_text: Name of the text in errors, such as its file.

    Returns:
        The exit code.

    Raises:
        ConnectorError: The settings or catalogs are invalid, or Spark does not start.
    """
    if split_statements(text).is_open:
        raise InvalidArgumentError("the text ends within a quote or a comment; close it")
    parts = split_input(text)
    if not parts:
        raise InvalidArgumentError("there is no statement to run; give one such as: lakeport sql 'SHOW CATALOGS'")
    formats = _formats(arguments, out)
    with open_session(
        arguments.catalogs,
        debug=arguments.debug,
        session_properties=arguments.session_properties,
        engine_settings=arguments.engine_settings,
        dialect=arguments.dialect,
        engine=arguments.engine,
        server=arguments.server,
    ) as session:
        script = Script(session, out, formats, arguments)
        last = max((index for index, part in enumerate(parts) if part.kind is not PartKind.COMMAND), default=None)
        for index, (part, source) in enumerate(zip(parts, _sources(text, parts, name_of_text), strict=True)):
            try:
                script.run(part, is_last=index == last)
            except (KeyboardInterrupt, BrokenPipeError):
                raise
            except LeaveShell:
                break
            except Exception as error:
                report(error, debug=arguments.debug, source=script.source_of(part, source))
                return exit_code(error)
    return 0


def _formats(arguments: argparse.Namespace, out: BinaryIO) -> ScriptFormats:
    name = arguments.output_format
    if name in BINARY_FORMATS and out.isatty():
        raise InvalidArgumentError(
            f"{name} is binary, and the output is a terminal; send it to a file: > result.{name}"
        )
    if not arguments.no_header:
        # Every statement runs, since it may have effects; a binary format holds only the rows of the last one.
        return ScriptFormats(FORMATS[name], FORMATS["null" if name in BINARY_FORMATS else name])
    if name not in HEADERLESS_FORMATS:
        raise InvalidArgumentError(
            f"--no-header is for the formats {' and '.join(HEADERLESS_FORMATS)}; met {name}, give --output-format csv"
        )
    return ScriptFormats(HEADERLESS_FORMATS[name], HEADERLESS_FORMATS[name])


def _sources(text: str, parts: list[InputPart], name: str | None) -> Iterator[SourceText]:
    """The parts with their offsets in the text, in order."""
    position = 0
    for part in parts:
        start = text.find(part.text, position)
        yield SourceText(text, start, part.text, name)
        position = start + len(part.text)


def _run(arguments: argparse.Namespace) -> int:
    file = arguments.file if arguments.file not in (None, "-") else None
    return run_statements(arguments, _text(arguments), sys.stdout.buffer, name_of_text=file)


def _text(arguments: argparse.Namespace) -> str:
    if arguments.text is not None and arguments.file is not None:
        raise InvalidArgumentError("met statements and -f; give one of them")
    if arguments.text is not None:
        return str(arguments.text)
    if arguments.file in (None, "-"):
        return sys.stdin.read()
    try:
        return Path(arguments.file).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidArgumentError(f"cannot read {arguments.file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"{arguments.file} is not UTF-8 text") from error
