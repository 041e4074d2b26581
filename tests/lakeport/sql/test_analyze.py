"""Which statements ask for statistics to be computed, and of what."""

from __future__ import annotations

import pytest

from connector_spi.errors import InvalidArgumentError
from lakeport.sql.analyze import AnalyzeRequest, analyze_request


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("ANALYZE TABLE t COMPUTE STATISTICS", AnalyzeRequest(("t",), None)),
        (" analyze table hive.`a b`.t\ncompute statistics;", AnalyzeRequest(("hive", "a b", "t"), None)),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS", AnalyzeRequest(("t",), None)),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS a, `b ``c`", AnalyzeRequest(("t",), ("a", "b `c"))),
        ("ANALYZE /* all */ TABLE t -- it\nCOMPUTE STATISTICS", AnalyzeRequest(("t",), None)),
        ("ANALYZE TABLE t COMPUTE STATISTICS NOSCAN", AnalyzeRequest(("t",), None, "NOSCAN")),
        ("ANALYZE TABLE t PARTITION (ds='a') COMPUTE STATISTICS", AnalyzeRequest(("t",), None, "PARTITION")),
        ("ANALYZE TABLES IN s COMPUTE STATISTICS", None),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR SOME COLUMNS", None),
        ("SELECT 'ANALYZE TABLE t COMPUTE STATISTICS'", None),
    ],
)
def test_requests(text: str, request_: AnalyzeRequest | None) -> None:
    assert analyze_request(text) == request_


def test_what_are_no_columns() -> None:
    with pytest.raises(InvalidArgumentError, match="expected names of columns"):
        analyze_request("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS a + 1")
