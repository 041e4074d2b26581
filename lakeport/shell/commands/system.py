r"""``\!``, ``\cd`` and ``\conninfo``."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from connector_spi.errors import InvalidArgumentError
from lakeport.shell.commands.describe import unquoted
from lakeport.shell.shell_session import ShellSession
from lakeport.version import VERSION

__all__ = ["change_directory", "connection", "run_program"]


def run_program(shell: ShellSession, command: str) -> None:
    """Runs a command of the operating system, or its shell if none is given.

    Raises:
        InvalidArgumentError: The command failed; the message has its exit code.
    """
    program = command or os.environ.get("SHELL") or "/bin/sh"
    try:
        code = subprocess.run(program, shell=True, check=False).returncode
    except OSError as error:
        raise InvalidArgumentError(f"cannot run {program}: {error.strerror}") from error
    if code:
        raise InvalidArgumentError(f"{program} ended with exit code {code}")


def change_directory(shell: ShellSession, path: str) -> None:
    """Changes the current directory, by default to the home directory, and prints it.

    Raises:
        InvalidArgumentError: It is no directory that can be entered.
    """
    folder = Path(unquoted(path) or "~").expanduser()
    try:
        os.chdir(folder)
    except OSError as error:
        raise InvalidArgumentError(f"cannot enter {folder}: {error.strerror}") from error
    print(Path.cwd(), flush=True)


def connection(shell: ShellSession, rest: str) -> None:
    """What the shell is connected to; starts no engine."""
    session = shell.session
    where = ".".join(part for part in shell.current if part) or "none is selected"
    lines = [
        f"Lakeport {VERSION}",
        f"Catalogs: {', '.join(session.catalogs.shown_names()) or 'none'}",
        f"Current schema: {where}",
        f"SQL dialect: {session.dialect}",
    ]
    print("\n".join([*lines, *session.engine.facts()]), flush=True)
