"""``lakeport sql``: statements from the command line, a file or the standard input."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from connector_spi.errors import InvalidArgumentError
from lakeport.shell.arguments import Commands, add_catalogs_option, add_name_options
from lakeport.shell.output.formats import BINARY_FORMATS, FORMATS
from lakeport.shell.problems import exit_code, report
from lakeport.shell.running import Runner, open_session, use_statement
from lakeport.shell.sql.source_text import SourceText
from lakeport.shell.sql.statements import split_statements

__all__ = ["add_sql_command", "run_statements"]


def add_sql_command(commands: Commands) -> None:
    """Declares the command."""
    command = commands.add_parser(
        "sql",
        help="run SQL statements and print their results",
        description="Runs SQL statements, separated by semicolons, and prints their results to the standard output. "
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
    split = split_statements(text)
    if split.is_open:
        raise InvalidArgumentError("the text ends within a quote or a comment; close it")
    statements = [*split.statements, *([split.rest] if split.rest else [])]
    if not statements:
        raise InvalidArgumentError("there is no statement to run; give one such as: lakeport sql 'SHOW CATALOGS'")
    name = arguments.output_format
    if name in BINARY_FORMATS and out.isatty():
        raise InvalidArgumentError(
            f"{name} is binary, and the output is a terminal; send it to a file: > result.{name}"
        )
    use = use_statement(arguments.catalog, arguments.schema)
    with open_session(
        arguments.catalogs,
        debug=arguments.debug,
        session_properties=arguments.session_properties,
        spark=arguments.spark,
        dialect=arguments.dialect,
    ) as session:
        runner = Runner(session, out)
        if use is not None:
            runner.run(use, None)
        for index, source in enumerate(_sources(text, statements, name_of_text)):
            is_last = index == len(statements) - 1
            # Every statement runs, since it may have effects; a binary format holds only the rows of the last one.
            write = FORMATS[name if is_last or name not in BINARY_FORMATS else "null"]
            try:
                runner.run(source.statement, write)
            except (KeyboardInterrupt, BrokenPipeError):
                raise
            except Exception as error:
                report(error, debug=arguments.debug, source=source)
                return exit_code(error)
    return 0


def _sources(text: str, statements: list[str], name: str | None) -> Iterator[SourceText]:
    """The statements with their offsets in the text, in order."""
    position = 0
    for statement in statements:
        start = text.find(statement, position)
        yield SourceText(text, start, statement, name)
        position = start + len(statement)


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
