"""The screens that docs/shell.md shows: each is played in a real shell and written down."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lakeport.shell.terminal import Terminal, sample_warehouse, terminal
from tests.paths import PROJECT

__all__ = ["PAGE", "SCREENS", "played", "shell_over_samples", "shown_screens", "with_screens"]

PAGE = PROJECT / "docs" / "shell.md"
_BLOCK = re.compile(r"(<!-- screen: (?P<name>[\w-]+) -->\n```text\n)(?P<text>.*?)(\n```)", re.DOTALL)
# What is another at each run: times, places, and how far a query was.
_CHANGING = (
    (re.compile(r"\b\d+\.\d\d s\b"), "0.25 s"),
    (re.compile(r"\S*/lakeport-screens-\w+"), "/data"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?= \(every)"), "2024-05-01 12:00:00"),
    (re.compile(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] running \d+ s, \d+ of \d+ tasks"), "⠹ running 3 s, 0 of 2 tasks"),
    (re.compile(r"Lakeport \d+\.\S+"), "Lakeport 0.1.0"),
    (re.compile(r"[\d.]+ (?:bytes|kB|MB) read"), "12.3 kB read"),
)


def _first_query(shell: Terminal) -> str:
    shell.run("SELECT region, count(*) AS visits, sum(price) AS total\r  FROM hudi.sales.visits\r  "
              "GROUP BY region ORDER BY region;", r"rows, .* s")  # fmt: skip
    return shell.text()


def _use(shell: Terminal) -> str:
    shell.run("USE hudi.sales;", "ok, ")
    return shell.text()


def _complete_tables(shell: Terminal) -> str:
    return _menu(shell, "SELECT * FROM v", r"visits +table")


def _complete_columns(shell: Terminal) -> str:
    return _menu(shell, "SELECT * FROM visits AS v WHERE v.re", r"region +column")


def _complete_settings(shell: Terminal) -> str:
    return _menu(shell, "SET spark.lakeport.hudi.na", r"native_reader +setting")


def _vertical(shell: Terminal) -> str:
    shell.run(r"SELECT id, sub, price, region, day FROM visits ORDER BY id, sub LIMIT 2 \G", "2 rows")
    return shell.text()


def _cut(shell: Terminal) -> str:
    shell.run("SELECT 1 AS id, repeat('long ', 40) AS text, '日本' AS wide, CAST(NULL AS INT) AS nothing;", "1 row")
    return shell.text()


def _describe(shell: Terminal) -> str:
    shell.run(r"\d hive.sales.products", "Location: ")
    return shell.text()


def _list(shell: Terminal) -> str:
    shell.run(r"\dt p*", "2 rows")
    return shell.text()


def _wrong_column(shell: Terminal) -> str:
    shell.run("SELECT id, prise FROM visits;", "price")
    return shell.text()


def _wrong_command(shell: Terminal) -> str:
    shell.run(r"\timming on", "did you mean")
    return shell.text()


def _variables(shell: Terminal) -> str:
    shell.run("\\set area eu\r" + "SELECT count(*) AS visits FROM visits WHERE region = :'area';", "1 row")
    return shell.text()


def _copy(shell: Terminal) -> str:
    shell.run(r"\copy (SELECT region, price FROM visits) TO 'visits.parquet'", r"rows, to .*")
    return shell.text()


def _markdown(shell: Terminal) -> str:
    shell.run("\\format markdown\rSELECT id, price FROM visits ORDER BY id, price LIMIT 2;", r"\| *\d+ \| .*\n\|.*")
    screen = shell.text()
    shell.run("\\format aligned", "format is aligned")
    return screen


def _progress(shell: Terminal) -> str:
    shell.clear()
    shell.send("SELECT count(*) FROM range(1000000000000) WHERE id % 7 = 3;\r")
    return shell.wait_for(r"running \d+ s, \d+ of \d+ tasks")


def _cancelled(shell: Terminal) -> str:
    shell.send("\x03")
    return shell.wait_for(r"cancelled\n\nhudi.sales> *$|cancelled\nhudi.sales> *$")


def _pager(shell: Terminal) -> str:
    shell.clear()
    shell.send("SELECT id, id * id AS square FROM range(1000);\r")
    screen = shell.wait_for(r"(?s)square.*\n:$")
    shell.send("q")
    shell.wait_for(r"hudi.sales> *$")
    return screen


def _watch(shell: Terminal) -> str:
    shell.clear()
    shell.send("SELECT 6 * 7 AS answer \\watch 0.5\r")
    screen = shell.wait_for(r"(?s)every.*1 row.*every.*1 row.*\)$")
    shell.send("\x03")
    shell.wait_for(r"hudi.sales> *$")
    return "\n".join(screen.split("\n")[:11])


SCREENS: dict[str, Callable[[Terminal], str]] = {
    "first-query": _first_query,
    "use": _use,
    "complete-tables": _complete_tables,
    "complete-columns": _complete_columns,
    "complete-settings": _complete_settings,
    "vertical": _vertical,
    "cut": _cut,
    "describe": _describe,
    "list": _list,
    "wrong-column": _wrong_column,
    "wrong-command": _wrong_command,
    "variables": _variables,
    "copy": _copy,
    "markdown": _markdown,
    "progress": _progress,
    "cancelled": _cancelled,
    "pager": _pager,
    "watch": _watch,
}
"""Played in this order in one shell."""


def played(name: str, shell: Terminal) -> str:
    """A screen, with what changes from run to run replaced."""
    text = SCREENS[name](shell)
    for pattern, shown in _CHANGING:
        text = pattern.sub(shown, text)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


@contextmanager
def shell_over_samples() -> Iterator[Terminal]:
    """A shell at its first prompt, over the tables of the tour."""
    # A short path, so that it fits on one line wherever this runs.
    with tempfile.TemporaryDirectory(prefix="lakeport-screens-", dir="/tmp") as folder:
        warehouse = sample_warehouse(Path(folder))
        editor = Path(folder, "editor")
        editor.write_text('#!/bin/sh\nsed -i s/first/second/ "$1"\n')
        editor.chmod(0o755)
        with terminal(
            ["--catalogs", str(warehouse.catalogs)], Path(folder), {"PAGER": "less", "EDITOR": str(editor)}
        ) as shell:
            shell.wait_for(r"lakeport> *$")
            yield shell


def shown_screens() -> dict[str, str]:
    """The screens of the page."""
    return {match.group("name"): match.group("text") for match in _BLOCK.finditer(PAGE.read_text(encoding="utf-8"))}


def with_screens(page: str, screens: dict[str, str]) -> str:
    """A page with other screens in the places of its own."""
    return _BLOCK.sub(lambda match: match.group(1) + screens[match.group("name")] + match.group(4), page)


def _menu(shell: Terminal, typed: str, until: str) -> str:
    shell.clear()
    shell.send(typed)
    screen = shell.wait_for(until)
    shell.send("\x03")
    shell.wait_for(r"\n?[\w.]+> *$")
    return screen
