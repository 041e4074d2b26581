"""The command ``lakeport``."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Sequence

from lakeport.shell.configuration import apply_configuration
from lakeport.shell.problems import exit_code, report
from lakeport.shell.subcommands.arguments import Parser
from lakeport.shell.subcommands.catalogs import add_catalogs_command
from lakeport.shell.subcommands.demo import add_demo_command
from lakeport.shell.subcommands.server import add_server_command
from lakeport.shell.subcommands.shell import add_shell_command
from lakeport.shell.subcommands.sql import add_sql_command
from lakeport.version import VERSION

__all__ = ["main"]

_COMMANDS = (add_shell_command, add_sql_command, add_server_command, add_catalogs_command, add_demo_command)
"""Functions that each declare one command, with ``run`` among its defaults."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Returns:
        The exit code: 0, 1 for a user error, 2 for an external error, 3 for a defect, 130 for Ctrl-C.
    """
    _silence_pyspark()
    # Accepted anywhere in the line: argparse's own options belong to one of the commands.
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given[: given.index("--") if "--" in given else None]
    try:
        parsed = _parser().parse_args([argument for argument in given if argument != "--debug"])
        parsed.debug = debug
        apply_configuration(parsed)
        code: int = parsed.run(parsed)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader, such as head, has closed the pipe. Python's own flush at exit must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as error:
        print("cancelled", file=sys.stderr)
        return exit_code(error)
    except Exception as error:
        report(error, debug=debug)
        return exit_code(error)


def _parser() -> Parser:
    parser = Parser(prog="lakeport", description="Hive and Hudi tables by catalog name, in SQL.")
    parser.add_argument("--version", action="version", version=f"lakeport {VERSION}")
    parser.add_argument("--debug", action="store_true", help="show traces and Spark's log")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for add in _COMMANDS:
        add(commands)
    return parser


def _silence_pyspark() -> None:
    """PySpark and py4j log what the command prints itself; ``query_logs.py`` keeps failed statements from their log."""
    # For instance about the version of pandas, which does not concern a user of the command.
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\.")
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
