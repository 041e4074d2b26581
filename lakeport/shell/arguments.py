"""The command line's parser: errors of its use are one line and the exit code of a user's error."""

from __future__ import annotations

import argparse
from typing import NoReturn, TypeAlias

from lakeport.shell.problems import USER
from lakeport.sql.dialects import DIALECTS

__all__ = ["Commands", "Parser", "add_catalogs_option", "add_name_options"]


class Parser(argparse.ArgumentParser):
    """``argparse`` with our errors."""

    def error(self, message: str) -> NoReturn:
        """Says what is wrong, and ends the program."""
        self.exit(USER, f"error: {message}; see {self.prog} --help\n")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""What a command declares itself to."""


def add_catalogs_option(command: Parser) -> None:
    """``--catalogs``, and where the settings come from that the command line leaves out."""
    command.add_argument("--catalogs", metavar="DIR", help="folder of catalog files (default: etc/catalog)")
    command.add_argument("--profile", metavar="NAME", help="a profile of the configuration file")
    command.add_argument(
        "--config", metavar="FILE", help="the configuration file (default: ~/.config/lakeport/config.toml)"
    )


def add_name_options(command: Parser) -> None:
    """What names and statements mean: ``--catalog``, ``--schema``, ``--session`` and ``--dialect``."""
    command.add_argument("--catalog", metavar="C", help="catalog of names that say none")
    command.add_argument("--schema", metavar="S", help="schema of names that say none")
    command.add_argument(
        "--session",
        metavar="C.P=VALUE",
        action="append",
        help="a session property of a catalog, such as hive.lock_timeout=30s, or a setting of Spark; may be repeated",
    )
    command.add_argument(
        "--dialect", choices=DIALECTS, help="whose SQL the statements are (default: spark); trino is translated"
    )
