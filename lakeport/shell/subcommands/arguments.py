"""The command line parser: a usage error is one line, with the exit code of a user error."""

from __future__ import annotations

import argparse
from typing import NoReturn, TypeAlias

from lakeport.engine import ENGINES
from lakeport.shell.configuration import EXAMPLE
from lakeport.shell.problems import USER
from lakeport.sql.dialects import DIALECTS

__all__ = ["Commands", "Parser", "add_catalogs_option", "add_name_options"]


class Parser(argparse.ArgumentParser):
    """``argparse`` with Lakeport's error format."""

    def error(self, message: str) -> NoReturn:
        """Prints the error and ends the program."""
        self.exit(USER, f"error: {message}; see {self.prog} --help\n")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""The collection to which a command adds its parser."""


def add_catalogs_option(command: Parser) -> None:
    """``--catalogs``, and the configuration file for settings that the command line does not give."""
    command.add_argument("--catalogs", metavar="DIR", help="directory of catalog files (default: etc/catalog)")
    command.add_argument("--profile", metavar="NAME", help="a profile of the configuration file")
    command.add_argument(
        "--config", metavar="FILE", help="the configuration file (default: ~/.config/lakeport/config.toml)"
    )


def add_name_options(command: Parser) -> None:
    """Who runs statements, and how to interpret them: ``--server``, ``--catalog``, ``--schema``, ``--session`` and
    ``--dialect``.
    """
    command.add_argument("--server", metavar="URL", help="run the statements at a server, such as sc://localhost:15002")
    command.add_argument("--catalog", metavar="C", help="catalog of names without one")
    command.add_argument("--schema", metavar="S", help="schema of names without one")
    command.add_argument(
        "--session",
        metavar="C.P=VALUE",
        action="append",
        help=f"a session property of a catalog, such as {EXAMPLE}, or a setting of the engine; may be repeated",
    )
    command.add_argument(
        "--engine",
        choices=ENGINES,
        help="what runs the statements (default: spark; duckdb where there is no Java)",
    )
    command.add_argument(
        "--dialect",
        choices=DIALECTS,
        help="SQL dialect of the statements (default: spark); trino is translated, duckdb is for the engine duckdb",
    )
