r"""``\o``, ``\copy``, ``\i`` and ``\e``."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

from connector_spi.errors import InvalidArgumentError
from lakeport.shell.commands.describe import unquoted
from lakeport.shell.display import ResultView
from lakeport.shell.footer import footer
from lakeport.shell.output.formats import file_format
from lakeport.shell.shell_session import ShellSession
from lakeport.shell.variables import interpolate

__all__ = ["copy", "edit", "include", "output"]

_COPY = re.compile(r"(?P<what>.*?)\s+TO\s+(?P<file>'[^']+'|\"[^\"]+\"|\S+)", re.IGNORECASE | re.DOTALL)
_MOST_FILES = 16


def output(shell: ShellSession, path: str) -> None:
    """Sends all following results to a file."""
    shell.display.open_file(unquoted(path))


def copy(shell: ShellSession, rest: str) -> None:
    r"""``\copy (SELECT ...) TO 'file.parquet'``: writes the file completely or not at all.

    Raises:
        InvalidArgumentError: The syntax is wrong, or the file cannot be written, or its ending has no format.
        ConnectorError, PySparkException: The query failed.
    """
    match = _COPY.fullmatch(interpolate(rest, shell.variables, shell.session.dialect))
    if match is None:
        raise InvalidArgumentError(r"expected \copy (QUERY) TO 'FILE', or \copy TABLE TO 'FILE'")
    what = match.group("what").strip()
    statement = what[1:-1].strip() if what.startswith("(") and what.endswith(")") else f"SELECT * FROM {what}"
    path = Path(unquoted(match.group("file"))).expanduser()
    write = file_format(path.name)
    shell.settle()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            view = ResultView(shell.display.settings, None, file, shell.display.is_terminal, write)
            try:
                rows = shell.runner.run(statement, view.write, watch=view, out=file)
            finally:
                view.end()
        if rows is None:
            raise InvalidArgumentError("the statement has no result to write; expected a query")
        part.replace(path)
    except OSError as error:
        raise InvalidArgumentError(f"cannot write {path}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)
    print(footer(shell.runner.last, shown=f"to {path}"), flush=True)


def include(shell: ShellSession, path: str) -> None:
    """Runs a file of statements and commands until one fails.

    Raises:
        InvalidArgumentError: The file cannot be read, or files include each other in a cycle.
    """
    file = Path(unquoted(path)).expanduser()
    if not path:
        raise InvalidArgumentError(r"expected a file: \i FILE")
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidArgumentError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"{file} is not UTF-8 text") from error
    if shell.depth >= _MOST_FILES:
        raise InvalidArgumentError(f"{file} is the {_MOST_FILES}th nested file; does it include itself?")
    shell.depth += 1
    try:
        if not shell.run_input(text, str(file)):
            raise InvalidArgumentError(f"{file} was not run to its end")
    finally:
        shell.depth -= 1


def edit(shell: ShellSession, path: str) -> None:
    """Opens the editor; the next prompt starts with the edited text.

    Raises:
        InvalidArgumentError: There is no editor, or it failed; then nothing changes.
    """
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="lakeport-edit-") as folder:
        file = Path(unquoted(path)).expanduser() if path else Path(folder, "statement.sql")
        if not path:
            file.touch(mode=0o600)
            file.write_text(shell.typed + "\n", encoding="utf-8")
        try:
            subprocess.run([*command, str(file)], check=True)
            shell.draft = file.read_text(encoding="utf-8").rstrip()
        except (OSError, subprocess.CalledProcessError, UnicodeDecodeError) as error:
            raise InvalidArgumentError(
                f"the editor {command[0]} failed: {error}; set $EDITOR to another one"
            ) from error
