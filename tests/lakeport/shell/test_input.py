"""What is typed: parts of input, scripts, variables, the history."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lakeport.shell.history import ShellHistory
from lakeport.shell.sql.help import sql_help
from lakeport.shell.sql.statements import PartKind, split_input, split_statements
from lakeport.shell.variables import interpolate
from lakeport.sql.secrets import may_hold_secret

SCRIPT = (
    "BEGIN\n DECLARE x INT;\n IF x > 0 THEN SET x = CASE WHEN x = 1 THEN 2 END; END IF;\n SELECT t.end FROM t;\nEND"
)


@pytest.mark.parametrize(
    "script",
    [
        SCRIPT,
        "lbl: BEGIN SELECT 1; END lbl",
        "BEGIN WHILE a DO SELECT 1; END WHILE; REPEAT SELECT 2; UNTIL true END REPEAT; END",
        "begin case when a then select 1; else select 2; end case; end",
        "BEGIN SELECT ';'; BEGIN SELECT 2; END; /* END */ END",
        "/* before */ BEGIN LOOP SELECT 1; LEAVE a; END LOOP; FOR r AS SELECT 1 DO SELECT 2; END FOR; END",
    ],
)
def test_a_script_is_one_statement(script: str) -> None:
    found = split_statements(f"SELECT 0; {script}; SELECT 9")
    assert (found.statements, found.rest) == (("SELECT 0", script), "SELECT 9")
    # Without its END it is not over.
    assert split_statements(script[: script.upper().rindex("END")] + ";").statements == ()


def test_words_of_scripts_are_names_elsewhere() -> None:
    text = "SELECT begin FROM t; SELECT CASE WHEN a THEN 1 END; WITH begin AS (SELECT 1) SELECT 1"
    assert len(split_statements(text).statements) == 2


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("SELECT 1; SELECT 2", [("STATEMENT", "SELECT 1"), ("UNFINISHED", "SELECT 2")]),
        ("SELECT 1 \\G", [("VERTICAL", "SELECT 1")]),
        ("SELECT 1 \\G SELECT 2;", [("VERTICAL", "SELECT 1"), ("STATEMENT", "SELECT 2")]),
        ("SELECT 1 \\g\nSELECT 2;", [("STATEMENT", "SELECT 1"), ("STATEMENT", "SELECT 2")]),
        ("SELECT 1 \\watch 2", [("STATEMENT", "SELECT 1"), ("COMMAND", "\\watch 2")]),
        ("\\set a 'x;y'\nSELECT :a;", [("COMMAND", "\\set a 'x;y'"), ("STATEMENT", "SELECT :a")]),
        ("SELECT '\\d';", [("STATEMENT", "SELECT '\\d'")]),
        ("SELECT 'open", [("UNFINISHED", "SELECT 'open")]),
        ("-- only words", []),
    ],
)
def test_statements_and_commands(text: str, parts: list[tuple[str, str]]) -> None:
    assert [(part.kind, part.text) for part in split_input(text)] == [(PartKind[kind], said) for kind, said in parts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT :n + :n", "SELECT 5 + 5"),
        ("SELECT :'t'", r"SELECT 'it\'s'"),
        ('SELECT :"t"', "SELECT `it's`"),
        ("SELECT ':n', \":n\", `:n` -- :n", "SELECT ':n', \":n\", `:n` -- :n"),
        ("SELECT x::n, v:n, :unset", "SELECT x::n, v:n, :unset"),
        ("n: BEGIN END", "n: BEGIN END"),
        ("a = :n)", "a = 5)"),
    ],
)
def test_variables(text: str, expected: str) -> None:
    assert interpolate(text, {"n": "5", "t": "it's"}) == expected


@pytest.mark.parametrize("dialect", ["trino", "duckdb"])
def test_variables_of_other_dialects(dialect: str) -> None:
    """A backslash is a character there, so that it cannot keep a quote from ending a text."""
    variables = {"t": "x' OR 1=1 --", "n": 'a"b\\'}
    assert interpolate("SELECT :'t', :'n', :\"n\"", variables, dialect) == (
        "SELECT 'x'' OR 1=1 --', 'a\"b\\', \"a\"\"b\\\""
    )


@pytest.mark.parametrize(
    "text",
    [
        "CALL c.system.register(password => 'x')",
        "SET spark.hadoop.fs.s3a.secret.key = abc",
        "CREATE TABLE t TBLPROPERTIES ('fs.s3a.access.key' = 'x')",
        "\\set api_token abc",
        "SELECT * FROM t OPTIONS (url 'jdbc://me:word@host/')",
        "CREATE CATALOG x WITH (`hive.metastore.client.credential` = 'y')",
    ],
)
def test_secrets_are_not_kept(text: str, tmp_path: Path) -> None:
    history = ShellHistory(tmp_path / "history")
    history.append_string("SELECT 1;")
    history.append_string(text)
    assert may_hold_secret(text)
    assert "SELECT 1;" in (tmp_path / "history").read_text()
    assert text not in (tmp_path / "history").read_text()
    assert history.get_strings()[-1] == text  # for this session it is
    assert stat.S_IMODE(os.stat(tmp_path / "history").st_mode) == 0o600


def test_ordinary_statements_are_kept() -> None:
    assert not may_hold_secret("SELECT token, count(*) FROM words GROUP BY token;")
    assert not may_hold_secret("SELECT secret FROM t WHERE day = '2024-01-01'")


def test_help_on_sql() -> None:
    assert sql_help("show").startswith("SHOW CATALOGS")
    assert "SELECT" in sql_help("")
    with pytest.raises(ValueError, match="did you mean 'SELECT'"):
        sql_help("SELCT")
