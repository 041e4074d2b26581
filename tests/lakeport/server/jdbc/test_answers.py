"""Patterns of JDBC, and rows of its lists."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from connector_spi.names import SchemaTableName
from connector_spi.schema import ColumnMetadata
from lakeport.server.jdbc.answers import column_rows, matching, schema_rows, table_rows
from lakeport.server.jdbc.content import CatalogContent, FoundTable, Matches


class Fixed(CatalogContent):
    """Two schemas of the same tables."""

    def schemas(self) -> list[str]:
        return ["sales", "old_sales"]

    def tables(self, schema: str, matches: Matches) -> Iterator[FoundTable]:
        for name in ("items", "items_v"):
            if matches(name):
                columns = (ColumnMetadata("id", pa.int64(), nullable=False), ColumnMetadata("s", pa.string()))
                yield FoundTable(SchemaTableName(schema, name), name.endswith("_v"), "words", columns)

    def described(self, schema: str, matches: Matches) -> Iterator[FoundTable]:
        return self.tables(schema, matches)


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        (None, "anything", True),
        ("", "anything", True),
        ("%", "anything", True),
        (".*", "anything", True),
        (".+", "anything", True),
        ("sales", "sales", True),
        ("SALES", "sales", True),
        ("sale", "sales", False),
        ("sal_s", "sales", True),
        ("s%s", "sales", True),
        (r"old\_sales", "old_sales", True),
        (r"old\_sales", "oldxsales", False),
        ("a.b", "axb", False),
        (r"a\%", "a%", True),
        ("x[1", "x[1", True),
    ],
)
def test_patterns(pattern: str | None, name: str, expected: bool) -> None:
    assert matching(pattern)(name) is expected


def test_rows() -> None:
    contents = {"hive": Fixed()}
    assert list(schema_rows(contents, "s%")) == [["sales", "hive"]]
    assert [row[:5] for row in table_rows(contents, "sales", None, ["view"])] == [
        ["hive", "sales", "items_v", "VIEW", "words"]
    ]
    assert {len(row) for row in table_rows(contents, None, None, None)} == {10}
    rows = list(column_rows(contents, "sales", "items", "%"))
    assert {len(row) for row in rows} == {23}
    assert [(row[3], row[4], row[5], row[10], row[16]) for row in rows] == [
        ("id", -5, "BIGINT", 0, 1),
        ("s", 12, "STRING", 1, 2),
    ]
    assert [row[3] for row in column_rows(contents, None, "items", "s")] == ["s", "s"]
