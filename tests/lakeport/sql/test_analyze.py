"""Which statements ask for statistics to be computed, and of what."""

from __future__ import annotations

import pytest

from connector_spi.errors import InvalidArgumentError
from lakeport.sql.analyze import AnalyzeRequest, analyze_request


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("ANALYZE TABLE t COMPUTE STATISTICS", AnalyzeRequest("t")),
        (" analyze table hive.`a b`.t\ncompute statistics;", AnalyzeRequest("hive.`a b`.t")),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS", AnalyzeRequest("t")),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS a, `b ``c`", AnalyzeRequest("t", "a, `b ``c`")),
        ("ANALYZE /* all */ TABLE t -- it\nCOMPUTE STATISTICS", AnalyzeRequest("t")),
        ("ANALYZE TABLE t COMPUTE STATISTICS NOSCAN", AnalyzeRequest("t", None, "NOSCAN")),
        ("ANALYZE TABLE t PARTITION (ds='a') COMPUTE STATISTICS", AnalyzeRequest("t", None, "PARTITION")),
        ("ANALYZE TABLES IN s COMPUTE STATISTICS", None),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR SOME COLUMNS", None),
        ("SELECT 'ANALYZE TABLE t COMPUTE STATISTICS'", None),
    ],
)
def test_requests(text: str, request_: AnalyzeRequest | None) -> None:
    assert analyze_request(text) == request_


def test_names_of_columns() -> None:
    assert AnalyzeRequest("t", "a, `b ``c`").column_names() == ["a", "b `c"]
    with pytest.raises(InvalidArgumentError, match="expected names of columns"):
        AnalyzeRequest("t", "a + 1").column_names()
