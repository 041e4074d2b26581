"""Columns of type ``char``: Spark compares them as its own tables', whose literals it pads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.lakeport.spark.warehouse import Warehouse

_COLUMNS = "id INT, c CHAR(5), v VARCHAR(5)"
_VALUES = ["ab", "ab ", "abc", "abcde", "", None, "ab\t", "b"]
_QUERIES = [
    "SELECT id, c, length(c), v FROM {t}",
    "SELECT id FROM {t} WHERE c = 'ab'",
    "SELECT id FROM {t} WHERE c = 'ab  '",
    "SELECT id FROM {t} WHERE 'ab        ' = c",
    "SELECT id FROM {t} WHERE c <=> 'abc' OR c <=> NULL",
    "SELECT id FROM {t} WHERE c IN ('ab', 'b', 'x', '')",
    "SELECT id FROM {t} WHERE NOT c IN ('ab', 'b')",
    "SELECT id FROM {t} WHERE c <> 'ab' AND id > 1",
    "SELECT id FROM {t} WHERE c > 'ab' AND c <= 'abcde'",
    "SELECT id FROM {t} WHERE v = 'ab' OR c = 'b' OR k = 'y'",
    "SELECT id FROM {t} WHERE k = 'x' AND c = 'ab'",
    "SELECT id, k FROM {t} WHERE k IN ('x', 'zz')",
    "SELECT c, count(*) FROM {t} GROUP BY c",
    "SELECT count(*) FROM {t} WHERE c = 'ab'",
    "SELECT a.id, b.id FROM {t} a JOIN {t} b ON a.c = b.c WHERE a.c = 'ab'",
]


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    folder = tmp_path_factory.mktemp("char")
    warehouse = Warehouse(spark, folder)
    for at, key in enumerate(("x", "y")):
        ids = pa.array(range(at * 10, at * 10 + len(_VALUES)), pa.int32())
        _write(folder / "t" / f"k={key}" / "000000_0", pa.table({"id": ids, "c": _VALUES, "v": _VALUES}))
    warehouse.spark.sql("CREATE SCHEMA hive.s")
    warehouse.spark.sql(
        f"CREATE TABLE hive.s.t ({_COLUMNS}, k CHAR(3)) STORED AS PARQUET PARTITIONED BY (k) LOCATION '{folder}/t'"
    )
    warehouse.spark.sql("CALL hive.system.sync_partition_metadata(schema_name => 's', table_name => 't')")
    warehouse.spark.sql(
        f"CREATE TABLE own_chars ({_COLUMNS}, k CHAR(3)) USING parquet PARTITIONED BY (k) LOCATION '{folder}/t'"
    )
    warehouse.spark.sql("ALTER TABLE own_chars RECOVER PARTITIONS")
    yield warehouse
    warehouse.spark.sql("DROP TABLE own_chars")
    warehouse.registry.shutdown()


def test_chars_are_compared_as_those_of_sparks_own_tables(warehouse: Warehouse) -> None:
    for at, query in enumerate(_QUERIES):
        warehouse.native_reader("hive", at % 2 == 0)
        own = warehouse.rows(query.format(t="own_chars"))
        found = warehouse.rows(query.format(t="hive.s.t"))
        assert sorted(map(str, found)) == sorted(map(str, own)), query
        assert found, query


def test_chars_are_strings_that_spark_knows_the_length_of(warehouse: Warehouse) -> None:
    own, found = (warehouse.spark.table(name).select("id", "c", "k").schema for name in ("own_chars", "hive.s.t"))
    assert found.jsonValue() == own.jsonValue()


def _write(path: Path, rows: pa.Table) -> None:
    path.parent.mkdir(parents=True)
    pq.write_table(rows, path)
