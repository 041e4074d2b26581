"""Which statements ask for statistics to be computed, and of what."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pytest

from connector_spi.errors import InvalidArgumentError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.schema import ColumnMetadata
from lakeport.sql.analyze import AnalyzeRequest, analyze_request
from lakeport.sql.analyzed_partitions import AnalyzedPartitions


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("ANALYZE TABLE t COMPUTE STATISTICS", AnalyzeRequest("t")),
        (" analyze table hive.`a b`.t\ncompute statistics;", AnalyzeRequest("hive.`a b`.t")),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS", AnalyzeRequest("t")),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS a, `b ``c`", AnalyzeRequest("t", "a, `b ``c`")),
        ("ANALYZE /* all */ TABLE t -- it\nCOMPUTE STATISTICS", AnalyzeRequest("t")),
        ("ANALYZE TABLE t COMPUTE STATISTICS NOSCAN", AnalyzeRequest("t", noscan=True)),
        ("ANALYZE TABLE t PARTITION (ds='a') COMPUTE STATISTICS", AnalyzeRequest("t", partition="ds='a'")),
        (
            "ANALYZE TABLE t PARTITION (ds, `h` = ')') COMPUTE STATISTICS NOSCAN",
            AnalyzeRequest("t", partition="ds, `h` = ')'", noscan=True),
        ),
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


NAME = CatalogSchemaTableName("c", "s", "t")
KEYS = [ColumnMetadata("ds", pa.string()), ColumnMetadata("h", pa.int32()), ColumnMetadata("day", pa.date32())]


@pytest.mark.parametrize(
    ("text", "values", "condition"),
    [
        ("ds", {}, ""),
        ("ds, H", {}, ""),
        ("ds='a'", {"ds": "a"}, "ds = 'a'"),
        (" DS = 'it''s, \\\\ (', h = -7 ", {"ds": "it's, \\ (", "h": -7}, "ds = 'it\\'s, \\\\ (' AND h = -7"),
        (
            "h=NULL, day = DATE '2024-02-29'",
            {"h": None, "day": date(2024, 2, 29)},
            "h IS NULL AND day = DATE '2024-02-29'",
        ),
        ('`ds`="__HIVE_DEFAULT_PARTITION__",h', {"ds": None}, "ds IS NULL"),
    ],
)
def test_partitions(text: str, values: dict[str, object], condition: str) -> None:
    found = AnalyzedPartitions.of(text, NAME, KEYS)
    assert {column.name: value for column, value in found.keys} == values
    assert found.condition == condition
    assert set(found.domain.domains or {}) == set(values)


@pytest.mark.parametrize("text", ["", "ds=", "ds='a' h=1", "ds > 'a'", "id=1", "ds, ds", "h='x'", "day=2024-13-01"])
def test_partitions_that_are_none(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"ANALYZE TABLE c\.s\.t"):
        AnalyzedPartitions.of(text, NAME, KEYS)
