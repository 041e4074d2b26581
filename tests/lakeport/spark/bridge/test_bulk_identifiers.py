"""Names that go to Java all at once are the same as names that go one by one."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from lakeport.spark.bridge.bulk_identifiers import identifiers, table_summaries
from lakeport.spark.bridge.jvm import CATALOG, Jvm


@pytest.mark.spark
@pytest.mark.parametrize("names", [[], ["t"], ["a.b", "ä 日本", 'q"\\', "x" * 200, "null", "1"]])
def test_identifiers_and_summaries(spark: SparkSession, names: list[str]) -> None:
    jvm = Jvm(spark)
    namespace = jvm.strings(["s"])
    one = jvm.cls(CATALOG + "Identifier")
    expected = [one.of(namespace, name) for name in names]
    assert [found.equals(other) for found, other in zip(identifiers(jvm, namespace, names), expected, strict=True)] == [
        True for _ in names
    ]
    summaries = list(table_summaries(jvm, namespace, names, "EXTERNAL"))
    assert [(str(found.identifier().name()), str(found.tableType())) for found in summaries] == [
        (name, "EXTERNAL") for name in names
    ]
