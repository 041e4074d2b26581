"""Cutting text into statements as Spark's own lexer sees it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeport.shell.interactive import is_complete
from lakeport.shell.sql.statements import split_statements


@pytest.mark.parametrize(
    ("text", "statements", "rest"),
    [
        ("", [], ""),
        (" ;; ; ", [], ""),
        ("select 1", [], "select 1"),
        ("select 1; select 2;", ["select 1", "select 2"], ""),
        ("select ';' ; x", ["select ';'"], "x"),
        ("select 'it''s; '; x", ["select 'it''s; '"], "x"),
        (r"select 'a\';b'; x", [r"select 'a\';b'"], "x"),
        (r"select r'a\'; x", [r"select r'a\'"], "x"),
        ('select ";"; x', ['select ";"'], "x"),
        ("select `a;b`; x", ["select `a;b`"], "x"),
        ("select 1 -- one; two\n; x", ["select 1 -- one; two"], "x"),
        ("select /* ; /* ; */ ; */ 1; x", ["select /* ; /* ; */ ; */ 1"], "x"),
        ("-- only words\n;/* more */; select 1", [], "select 1"),
        ("select 1; -- done", ["select 1"], ""),
        ("select 4/2; x", ["select 4/2"], "x"),
        ("select bar'x;'; y", ["select bar'x;'"], "y"),
    ],
)
def test_semicolons_count_outside_of_quotes_and_comments(text: str, statements: list[str], rest: str) -> None:
    found = split_statements(text)
    assert (list(found.statements), found.rest, found.is_open) == (statements, rest, False)


@pytest.mark.parametrize("text", ["select 'a;", 'select "a;', "select `a;", "select 1 /* ;", "/* /* */ ;"])
def test_what_is_not_closed_is_open(text: str) -> None:
    found = split_statements("select 0;" + text)
    assert (list(found.statements), found.is_open) == (["select 0"], True)


@given(st.lists(st.sampled_from(["'", '"', "`", ";", "--", "/*", "*/", "\n", "\\", "r", "a", " "]), max_size=20))
def test_no_text_is_lost_or_made_up(parts: list[str]) -> None:
    text = "".join(parts)
    found = split_statements(text)
    position = 0
    for statement in (*found.statements, found.rest):
        position = text.index(statement, position) + len(statement)


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", True),
        ("select 1", False),
        ("select 1;", True),
        ("select ';", False),
        ("select 1; select 2", False),
        ("\\q", True),
        ("exit", True),
        ("-- words", True),
    ],
)
def test_enter_runs_only_what_is_complete(text: str, complete: bool) -> None:
    assert is_complete(text) == complete
