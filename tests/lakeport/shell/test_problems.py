"""Errors as the user of the command meets them."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from connector_spi.errors import (
    ConnectorError,
    ExternalError,
    InternalError,
    MetastoreError,
    ResourceError,
    TableNotFoundError,
)
from lakeport.shell.problems import exit_code, headline


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TableNotFoundError("x"), 1),
        (MetastoreError("x"), 2),
        (ExternalError("x"), 2),
        (ResourceError("x"), 2),
        (InternalError("x"), 3),
        (ConnectorError("x"), 3),
        (ZeroDivisionError("x"), 3),
        (KeyboardInterrupt(), 130),
    ],
)
def test_exit_codes_of_our_errors(error: BaseException, code: int) -> None:
    assert exit_code(error) == code


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("SELEC 1", 1, "[PARSE_SYNTAX_ERROR] Syntax error at or near 'SELEC' (line 1, column 1)"),
        ("SELECT\n  nope", 1, "with name `nope` cannot be resolved (line 2, column 3)"),
        ("SELECT * FROM nope.nope", 1, "[TABLE_OR_VIEW_NOT_FOUND]"),
        ("SELECT 1/0", 1, "[DIVIDE_BY_ZERO]"),
        ("SELECT 1 / (id - 3) FROM range(5)", 1, "[DIVIDE_BY_ZERO]"),
        ("SELECT * FROM parquet.`/nowhere/at/all`", 1, "[PATH_NOT_FOUND]"),
        ("SELECT java_method('java.lang.System', 'nope')", 1, "nope"),
    ],
)
def test_sparks_errors_are_one_line_with_the_place(spark: SparkSession, text: str, code: int, says: str) -> None:
    with pytest.raises(Exception, match=r".") as caught:
        spark.sql(text).collect()
    line = headline(caught.value)
    assert says in line
    assert "\n" not in line
    assert "SQLSTATE" not in line
    assert exit_code(caught.value) == code


def test_a_java_exception_is_its_message(spark: SparkSession) -> None:
    with pytest.raises(Py4JJavaError) as caught:
        spark.sparkContext._jvm.java.util.LinkedList().getFirst()  # type: ignore[union-attr]
    assert headline(caught.value) == "NoSuchElementException"
