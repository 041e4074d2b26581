"""A terminal with the shell in it: keys go in, and its screen can be looked at."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pyte

from lakeport.connection import connect
from lakeport.demo.sample_warehouse import TABLES, SampleWarehouse, prepare
from lakeport.transactions.plain_statement import plain_statement

__all__ = ["Terminal", "sample_warehouse", "terminal"]

_PROGRAM = "import sys; from lakeport.shell.main import main; sys.exit(main())"
_WHERE_IS_THE_CURSOR = b"\x1b[6n"
_PATIENCE = 300.0


class Terminal:
    """A pseudo-terminal and its screen.

    Args:
        spawned: The program.
        columns: Of the screen.
        rows: Of the screen.
    """

    def __init__(self, spawned: pexpect.spawn, columns: int, rows: int) -> None:
        self.process = spawned
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)

    def send(self, keys: str) -> None:
        """Types."""
        self.process.send(keys)

    def run(self, line: str, until: str) -> None:
        """Types a line and Enter on an empty screen, and waits for a text below it and a new prompt."""
        self.clear()
        self.send(line + "\r")
        self.wait_for(rf"(?s)> .*\n.*{until}.*\n[\w.]+> *$")

    def clear(self) -> None:
        """An empty screen with a prompt."""
        self.send("\x0c")
        self.wait_for(r"^[\w.]+> *$")

    def wait_for(self, pattern: str) -> str:
        """Waits until the screen has what a regular expression says; gives the screen."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            self.pump(0.05)
            if re.search(pattern, self.text()):
                return self.text()
        raise AssertionError(f"no {pattern!r} on the screen:\n{self.text()}")

    def pump(self, seconds: float) -> None:
        """Lets the program write for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                data = self.process.read_nonblocking(65536, 0.02)
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                return
            self._stream.feed(data)
            if _WHERE_IS_THE_CURSOR in data:
                self.process.send(f"\x1b[{self._screen.cursor.y + 1};{self._screen.cursor.x + 1}R")

    def resize(self, columns: int, rows: int) -> None:
        """Gives the screen another size."""
        self.process.setwinsize(rows, columns)
        self._screen.resize(rows, columns)

    def text(self) -> str:
        """What is on the screen, with no blanks at the ends of lines and of the screen."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()


@contextmanager
def terminal(
    arguments: Sequence[str], home: Path, environment: Mapping[str, str], columns: int = 90, rows: int = 26
) -> Iterator[Terminal]:
    """The shell in a terminal, started in the folder ``home``; it is ended by force if it has not by itself."""
    state = home / "state"
    ours = {"TERM": "xterm", "XDG_STATE_HOME": str(state), "XDG_CONFIG_HOME": str(state), "LC_ALL": "C.UTF-8"}
    # A size in the environment would win over that of the screen.
    unwanted = ("PAGER", "LESS", "LAKEPORT_PAGER", "COLUMNS", "LINES")
    kept = {key: value for key, value in os.environ.items() if key not in unwanted}
    spawned = pexpect.spawn(
        sys.executable,
        ["-c", _PROGRAM, "shell", *arguments],
        cwd=str(home),
        dimensions=(rows, columns),
        env={**kept, **ours, **environment},
    )
    try:
        yield Terminal(spawned, columns, rows)
    finally:
        spawned.close(force=True)


def sample_warehouse(folder: Path) -> SampleWarehouse:
    """The tables of the tour, registered with no Spark."""
    warehouse = prepare(folder)
    with connect(catalogs=warehouse.catalogs) as session:
        for table in TABLES:
            access = plain_statement(session.catalogs).access(table.connector)
            [procedure] = [one for one in access.connector.procedures if one.name == "register_table"]
            given = {argument.name: argument.default for argument in procedure.arguments}
            given |= {
                "schema_name": "sales",
                "table_name": table.name,
                "table_location": str(warehouse.location(table)),
            }
            given |= {"transactional": True} if table.transactional else {}
            procedure.function(access.session, given)
    return warehouse
