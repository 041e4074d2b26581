"""``lakeport shell``."""

from __future__ import annotations

import argparse
import sys

from lakeport.shell.output.themes import THEMES
from lakeport.shell.subcommands.arguments import Commands, add_catalogs_option, add_name_options
from lakeport.shell.subcommands.sql import run_statements

__all__ = ["add_shell_command"]


def add_shell_command(commands: Commands) -> None:
    """Declares the command."""
    command = commands.add_parser(
        "shell", help="an interactive SQL shell", description="An interactive SQL shell; \\? in it lists its commands."
    )
    add_catalogs_option(command)
    add_name_options(command)
    command.add_argument("--theme", choices=THEMES, help="colours of the prompt (default: terminal)")
    command.set_defaults(run=_run, output_format="aligned", no_header=False, variables=None)


def _run(arguments: argparse.Namespace) -> int:
    if not sys.stdin.isatty():
        return run_statements(arguments, sys.stdin.read(), sys.stdout.buffer)
    # Not needed by the other commands, and half of their start time.
    from lakeport.shell.interactive import run_shell

    return run_shell(arguments)
