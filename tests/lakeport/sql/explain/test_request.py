"""Which texts are EXPLAIN statements of ours, and what they ask for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from lakeport.sql.explain.request import ExplainRequest, explain_request


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("EXPLAIN SELECT 1", ExplainRequest("SELECT 1")),
        ("EXPLAIN (SELECT 1)", ExplainRequest("(SELECT 1)")),
        ("EXPLAIN ANALYZE SELECT 1", ExplainRequest("SELECT 1", analyze=True)),
        ("explain analyze verbose\n(SELECT 1) ; ", ExplainRequest("(SELECT 1)", analyze=True)),
        ("EXPLAIN ANALYZE (FORMAT JSON) SELECT 1", ExplainRequest("SELECT 1", analyze=True, json=True)),
        ("EXPLAIN (TYPE IO, FORMAT JSON) SELECT 1", ExplainRequest("SELECT 1", kind="IO", json=True)),
        ("-- why\nEXPLAIN (format text) WITH c AS (SELECT 1) SELECT * FROM c",
         ExplainRequest("WITH c AS (SELECT 1) SELECT * FROM c")),
        ("EXPLAIN (TYPE LOGICAL) SELECT ';'", ExplainRequest("SELECT ';'", kind="LOGICAL")),
    ],
)  # fmt: skip
def test_requests(text: str, request_: ExplainRequest) -> None:
    found = explain_request(text)
    assert found is not None
    assert replace(found, query=found.query.lstrip()) == request_
    assert text.index(request_.query) == found.query.index(request_.query)


def test_errors_name_the_line_that_was_written() -> None:
    found = explain_request("-- why\nEXPLAIN\n  SELECT 1")
    assert found is not None
    assert found.query == "      \n       \n  SELECT 1"


@pytest.mark.parametrize(
    "text",
    [
        "EXPLAIN EXTENDED SELECT 1",
        "EXPLAIN FORMATTED SELECT 1",
        "EXPLAINS SELECT 1",
        "EXPLAIN ANALYZE TABLE t COMPUTE STATISTICS",
        "SELECT 'EXPLAIN ANALYZE SELECT 1'",
        "ANALYZE TABLE t COMPUTE STATISTICS",
    ],
)
def test_what_spark_knows_is_sparks(text: str) -> None:
    assert explain_request(text) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("EXPLAIN (FORMAT JSN) SELECT 1", "did you mean 'JSON'"),
        ("EXPLAIN (TYPE IO, TYPE IO) SELECT 1", "each once"),
        ("EXPLAIN ANALYZE (TYPE IO) SELECT 1", "has no TYPE"),
    ],
)
def test_wrong_options(text: str, says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        explain_request(text)


def test_a_format_that_is_not_written() -> None:
    with pytest.raises(NotSupportedError, match="GRAPHVIZ"):
        explain_request("EXPLAIN (FORMAT GRAPHVIZ) SELECT 1")
