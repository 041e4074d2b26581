"""Files for Spark's own readers: the same from Java's class and without it."""

from __future__ import annotations

import pytest
from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

from connector_spi.handles import NativeFile
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.scan.partitioned_files import file_partitions

pytestmark = pytest.mark.spark

_FIRST = NativeFile("parquet", "file:/t/p=a/one more.parquet", 4, 100, 900, 1_700_000_000_123)
_LARGE = NativeFile("orc", "s3a://b/p=b/100%25 żółw.orc", 0, 5_000_000_000, 5_000_000_001, 1_700_000_000_000)


@pytest.mark.parametrize("switch", ["true", "false"])
@pytest.mark.parametrize("has_constants", [True, False])
def test_files_and_rows_arrive(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, switch: str, has_constants: bool
) -> None:
    monkeypatch.setenv("LAKEPORT_JAVA_ADAPTERS", switch)
    jvm = Jvm(spark)
    rows = [_row(jvm, 7), _row(jvm, 8)] if has_constants else []
    last = 1 if has_constants else 0
    first, second = jvm.items(file_partitions(jvm, [[(_FIRST, 0), (_LARGE, last)], [(_LARGE, last)]], rows))
    assert [first.index(), second.index()] == [0, 1]
    large = ("s3a://b/p=b/100%25 żółw.orc", 0, 5_000_000_000, 1_700_000_000_000, 5_000_000_001)
    expected = ("file:/t/p=a/one more.parquet", 4, 100, 1_700_000_000_123, 900)
    assert [_facts(file) for file in jvm.items(first.files())] == [expected, large]
    assert [_facts(file) for file in jvm.items(second.files())] == [large]
    for partition, wanted in ((first, [7, 8]), (second, [8])):
        values = [file.partitionValues() for file in jvm.items(partition.files())]
        assert [row.getInt(0) if has_constants else row.numFields() for row in values] == (
            wanted if has_constants else [0 for _ in wanted]
        )


def _row(jvm: Jvm, value: int) -> JavaObject:
    row = jvm.cls("org.apache.spark.sql.catalyst.expressions.GenericInternalRow")(1)
    row.setInt(0, value)
    return row


def _facts(file: JavaObject) -> tuple[str, int, int, int, int]:
    return str(file.toPath().toString()), file.start(), file.length(), file.modificationTime(), file.fileSize()
