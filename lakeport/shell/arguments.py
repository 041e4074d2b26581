"""The command line's parser: errors of its use are one line and the exit code of a user's error."""

from __future__ import annotations

import argparse
from typing import NoReturn, TypeAlias

from lakeport.shell.problems import USER

__all__ = ["Commands", "Parser", "add_catalogs_option", "add_name_options"]


class Parser(argparse.ArgumentParser):
    """``argparse`` with our errors."""

    def error(self, message: str) -> NoReturn:
        """Says what is wrong, and ends the program."""
        self.exit(USER, f"error: {message}; see {self.prog} --help\n")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""What a command declares itself to."""


def add_catalogs_option(command: Parser) -> None:
    """``--catalogs``."""
    command.add_argument("--catalogs", metavar="DIR", help="folder of catalog files (default: etc/catalog)")


def add_name_options(command: Parser) -> None:
    """``--catalog`` and ``--schema``."""
    command.add_argument("--catalog", metavar="C", help="catalog of names that say none")
    command.add_argument("--schema", metavar="S", help="schema of names that say none")
