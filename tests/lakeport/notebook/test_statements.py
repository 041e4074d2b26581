"""Several statements in one cell, and errors that IPython shows in a few lines."""

from __future__ import annotations

import io
import logging
import re
from contextlib import redirect_stderr

import pytest
from IPython.core.interactiveshell import InteractiveShell
from pyspark.logger import PySparkLogger

from connector_spi.errors import TableNotFoundError
from lakeport.notebook.statements import cell_statements, shown_briefly
from lakeport.spark.query_logs import no_query_logs

_LOGGER = "SQLQueryContextLogger"


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("SELECT 1", ["SELECT 1"]),
        (
            "USE a.b;\nSELECT ';' AS s; -- the; last\nSHOW TABLES",
            ["USE a.b", "SELECT ';' AS s", "-- the; last\nSHOW TABLES"],
        ),
        ("BEGIN SELECT 1; SELECT 2; END", ["BEGIN SELECT 1; SELECT 2; END"]),
        ("-- only a comment", []),
    ],
)
def test_statements_of_a_cell(text: str, statements: list[str]) -> None:
    found = cell_statements(text)
    assert [one.statement for one in found] == statements
    assert [text[one.start : one.start + len(one.statement)] for one in found] == statements


def test_ipython_shows_an_error_in_a_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    source = cell_statements("SELECT 1;\nSELECT * FROM s.ordrs")[1]
    shell = InteractiveShell()
    shell.push(
        {"fail": lambda: _raise(shown_briefly(TableNotFoundError("no table s.ordrs; did you mean 'orders'?"), source))}
    )
    result = shell.run_cell("fail()")
    assert isinstance(result.error_in_exec, TableNotFoundError)
    shown = capsys.readouterr().out
    assert re.sub(r"\x1b\[[\d;]*m", "", shown).splitlines() == [
        "error[TABLE_NOT_FOUND]: no table s.ordrs",
        " --> line 2, column 15",
        "  |",
        "2 | SELECT * FROM s.ordrs",
        "  |               ^^^^^^^",
        "  = help: did you mean 'orders'?",
    ]


def test_pyspark_logs_nothing_of_our_statements() -> None:
    def log() -> None:
        PySparkLogger.getLogger(_LOGGER).error("failed", errorClass="X")

    handler = logging.StreamHandler(io.StringIO())
    logger = PySparkLogger.getLogger(_LOGGER)
    level = logger.level  # where Lakeport has started a Spark in this process, it logs nothing at all
    logger.setLevel(logging.ERROR)
    logger.addHandler(handler)
    try:
        with redirect_stderr(io.StringIO()), no_query_logs():
            log()
        assert handler.stream.getvalue() == ""
        log()
        assert '"msg": "failed"' in handler.stream.getvalue()
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _raise(error: Exception) -> None:
    raise error
