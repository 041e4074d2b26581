"""Errors as they are shown: the line, the caret, and what may help."""

from __future__ import annotations

import re

import pytest
from pyspark.sql import SparkSession

from connector_spi.errors import InvalidArgumentError, StorageError, TableNotFoundError
from lakeport.shell.diagnosis import Diagnosis, diagnose
from lakeport.shell.problems import exit_code, render
from lakeport.shell.sql.source_text import SourceText, Span


def shown(error: BaseException, text: str, name: str | None = None) -> list[str]:
    source = SourceText(text, 0, text, name)
    return render(diagnose(error, source), source).splitlines()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("SELEC 1", [
            "error[PARSE_SYNTAX_ERROR]: Syntax error at or near 'SELEC'",
            " --> line 1, column 1",
            "  |",
            "1 | SELEC 1",
            "  | ^^^^^",
            "  = help: 'SELEC': did you mean 'SELECT'?",
        ]),
        ("SELECT id,\n  '\U0001f422 żółw', idd\nFROM range(2)", [
            "error[UNRESOLVED_COLUMN.WITH_SUGGESTION]: A column, variable, or function parameter with name `idd` "
            "cannot be resolved",
            " --> line 2, column 13",
            "  |",
            "2 |   '\U0001f422 żółw', idd",
            "  |              ^^^",  # the animal is two columns wide
            "  = help: did you mean 'id'?",
        ]),
        ("SELECT * FRM range(1)", [
            "error[PARSE_SYNTAX_ERROR]: Syntax error at or near 'range'",
            " --> line 1, column 14",
            "  |",
            "1 | SELECT * FRM range(1)",
            "  |              ^^^^^",
            "  = help: 'FRM': did you mean 'FROM'?",
        ]),
        ("SELECT 1 +", [
            "error[PARSE_SYNTAX_ERROR]: Syntax error at or near end of input",
            " --> line 1, column 11",
            "  |",
            "1 | SELECT 1 +",
            "  |           ^",
        ]),
        ("SELECT\tnope(1)", [
            "error[UNRESOLVED_ROUTINE]: Cannot resolve routine `nope` on search path [`system`.`builtin`, "
            "`system`.`session`, `spark_catalog`.`default`]",
            " --> line 1, column 8",
            "  |",
            "1 | SELECT    nope(1)",
            "  |           ^^^^",
        ]),
    ],
)  # fmt: skip
def test_sparks_errors(spark: SparkSession, text: str, lines: list[str]) -> None:
    with pytest.raises(Exception, match=r".") as caught:
        spark.sql(text).collect()
    assert shown(caught.value, text) == lines


def test_an_error_while_rows_are_made(spark: SparkSession) -> None:
    text = "SELECT 1 / (id - 3) AS x FROM range(5)"
    with pytest.raises(Exception, match=r".") as caught:
        spark.sql(text).collect()
    lines = shown(caught.value, text)
    assert lines[0] == "error[DIVIDE_BY_ZERO]: Division by zero"
    assert lines[3:5] == [f"1 | {text}", "  |        ^^^^^^^^^^^^"]
    assert lines[5].startswith("  = help: Use `try_divide` to tolerate")


def test_our_errors_point_at_the_name_that_the_statement_has_once() -> None:
    error = TableNotFoundError("no table hive.s.ordrs; did you mean 'orders'?")
    assert shown(error, "SELECT ordrs_id\nFROM s.ordrs", "q.sql") == [
        "error[TABLE_NOT_FOUND]: no table hive.s.ordrs",
        " --> q.sql:2:8",
        "  |",
        "2 | FROM s.ordrs",
        "  |        ^^^^^",
        "  = help: did you mean 'orders'?",
    ]
    # Twice: which one is meant nobody knows.
    assert shown(error, "SELECT ordrs FROM ordrs")[1:] == ["  = help: did you mean 'orders'?"]
    with_place = InvalidArgumentError("not understood at 'WHERE': expected a table (line 2, pos 5)")
    assert shown(with_place, "SELECT 1\nFROM WHERE")[1:] == [
        " --> line 2, column 6",
        "  |",
        "2 | FROM WHERE",
        "  |      ^^^^^",
    ]


def test_a_statement_inside_of_a_text_and_a_long_line() -> None:
    text = "SELECT 1;\nSELECT '" + "x" * 300 + "', nope"
    statement = text.partition(";\n")[2]
    source = SourceText(text, text.index(statement), statement)
    excerpt = source.excerpt(Span(statement.index("nope"), len(statement)))
    assert (excerpt.number, excerpt.column) == (2, statement.index("nope") + 1)
    assert len(excerpt.line) < 130
    assert excerpt.line.startswith("...")
    assert excerpt.line[excerpt.indent : excerpt.indent + excerpt.carets] == "nope"


def test_no_java_and_no_plan_in_what_is_shown(spark: SparkSession) -> None:
    text = "SELECT java_method('java.lang.Integer', 'parseInt', 'x')"
    with pytest.raises(Exception, match=r".") as caught:
        spark.sql(text).collect()
    lines = shown(caught.value, text)
    assert not [line for line in lines if "\tat " in line or "org.apache.spark" in line or "SQLSTATE" in line]


@pytest.mark.slow
def test_an_error_of_ours_out_of_a_task(spark: SparkSession) -> None:
    def fail(_: object) -> object:
        raise StorageError("s3://b/k: refused")

    with pytest.raises(Exception, match=r".") as caught:
        spark.sparkContext.parallelize([1], 1).map(fail).collect()
    found = diagnose(caught.value)
    assert (found.code, found.message) == ("STORAGE_ERROR", "s3://b/k: refused")
    assert exit_code(caught.value) == 2


def test_colours_are_asked_for() -> None:
    source = SourceText.of("SELECT t")
    diagnosis = diagnose(TableNotFoundError("no table 't'"), source)
    assert "\x1b[" in render(diagnosis, source, colours=True)
    assert "\x1b" not in render(diagnosis, source)


def test_long_texts_are_broken_between_words_for_a_terminal() -> None:
    source = SourceText("SELECT a", 0, "SELECT a", None)
    diagnosis = Diagnosis("X", "a message of some words", None, ("help of some more words",))
    assert render(diagnosis, source, columns=20).splitlines() == [
        "error[X]: a message",
        "  of some words",
        "  = help: help of",
        "    some more words",
    ]
    assert len(render(diagnosis, source).splitlines()) == 2
    coloured = render(diagnosis, source, columns=20, colours=True)
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render(diagnosis, source, columns=20)
