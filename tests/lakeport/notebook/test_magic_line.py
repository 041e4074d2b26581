"""Options of the magics, and SQL that stays as it is written."""

from __future__ import annotations

import pytest

from connector_spi.errors import InvalidArgumentError
from lakeport.notebook.magic_line import MagicLine, parse_magic


@pytest.mark.parametrize(
    ("line", "cell", "expected"),
    [
        ("SELECT 'a  b' -- why", None, MagicLine("SELECT 'a  b' -- why")),
        ("SELECT -1;", None, MagicLine("SELECT -1")),
        ("", "SELECT 1\n  AS a;\n", MagicLine("SELECT 1\n  AS a")),
        ("-o rows --format=pandas SELECT 1", None, MagicLine("SELECT 1", output="rows", format="pandas")),
        ("--rows 3", "SELECT 1", MagicLine("SELECT 1", rows=3)),
        ('--catalogs "my folder" --no-progress', None, MagicLine(catalogs="my folder", progress=False)),
        ("--session s SHOW TABLES", None, MagicLine("SHOW TABLES", session="s")),
        ("", "-- a comment\nSELECT 1", MagicLine("-- a comment\nSELECT 1")),
    ],
)
def test_options_end_where_sql_begins(line: str, cell: str | None, expected: MagicLine) -> None:
    assert parse_magic(line, cell) == expected


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--formta pandas SELECT 1", "did you mean '?--format"),
        ("--format panda SELECT 1", "did you mean '?pandas"),
        ("-o 1a SELECT 1", "the name of a variable"),
        ("--rows few SELECT 1", "a whole number"),
        ("-o", "needs a value"),
    ],
)
def test_options_that_are_wrong(line: str, says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        parse_magic(line, None)
