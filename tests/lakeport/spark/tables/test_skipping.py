"""Files with Bloom filters that Spark wrote, and joins that prune, through SQL against Spark's own answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain, Value
from connectors.toolkit.orc.reader import orc_page_source
from connectors.toolkit.parquet.reader import parquet_page_source
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.toolkit.reads import Reader, whole_file
from tests.lakeport.spark.tables.warehouse import Warehouse

# Every 7th row is NULL; the keys have no order, so that ranges say nothing.
_ROWS = """
    SELECT k, CASE WHEN id % 7 > 0 THEN concat('k', k) END AS s, CAST(k AS INT) AS i, date_add(DATE '2000-01-01',
           CAST(k AS INT)) AS d, array(id) AS l, id
    FROM (SELECT id, (id * 7919) % 20011 * 2 AS k FROM range(0, 20000, 1, 1))
"""
_FILTERS = (
    "k = 14",
    "k = 15",
    "k IN (15, 17, 38)",
    "s = 'k16' OR s = 'k38'",
    "s = 'k15'",
    "i = 14 AND s = 'k15'",
    "i IN (15, 16)",
    "d = DATE '2000-01-15'",
    "d = DATE '2000-01-16'",
    "s IS NULL AND k < 100",
    "k > 40020",
)


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("warehouse"))
    rows = spark.sql(_ROWS)
    for kind in ("orc", "parquet"):
        writer = rows.write.format(kind)
        for name in ("k", "s", "i", "d"):
            writer = writer.option(f"parquet.bloom.filter.enabled#{name}", "true")
        writer = writer.option("parquet.block.size", str(1 << 18)).option("parquet.page.size", "16384")
        writer = writer.option("orc.bloom.filter.columns", "k,s,i,d").option("orc.row.index.stride", "2000")
        writer.save(str(warehouse.folder / kind))
        warehouse.call("hive", "written", kind, warehouse.folder / kind)
    facts = spark.sql("SELECT id, CAST(id % 10 AS INT) AS p FROM range(0, 100, 1, 1)")
    facts.write.partitionBy("p").parquet(str(warehouse.folder / "facts"))
    warehouse.call("hive", "written", "facts", warehouse.folder / "facts")
    yield warehouse
    warehouse.registry.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["orc", "parquet"])
def test_filters_over_indexes_of_spark_give_sparks_rows(warehouse: Warehouse, kind: str) -> None:
    warehouse.native_reader("hive", on=False)
    try:
        found: Counter[bool] = Counter()
        for condition in _FILTERS:
            columns = "id, k, s, i, d, l[0]"
            own = warehouse.rows(f"SELECT {columns} FROM {kind}.`{warehouse.folder / kind}` WHERE {condition}")
            ours = warehouse.rows(f"SELECT {columns} FROM hive.written.{kind} WHERE {condition}")
            assert Counter(ours) == Counter(own), condition
            found[bool(own)] += 1
        assert min(found[True], found[False]) > 2
    finally:
        warehouse.native_reader("hive", on=True)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "source"), [("orc", orc_page_source), ("parquet", parquet_page_source)])
def test_bloom_filters_of_java_writers_exclude_what_is_not_there(
    warehouse: Warehouse, kind: str, source: Reader
) -> None:
    [path] = (warehouse.folder / kind).glob("part-*")
    there: dict[str, tuple[pa.DataType, Value, Value]] = {
        "k": (pa.int64(), 15, 14),
        "s": (pa.string(), "k15", "k16"),
        "i": (pa.int32(), 15, 14),
        "d": (pa.date32(), date(2000, 1, 16), date(2000, 1, 15)),
    }
    for name, (kind_of, absent, present) in there.items():
        column = ColumnHandle(name, kind_of)
        counts = []
        for value in (absent, present):
            predicate = TupleDomain.with_column_domains({column: Domain.single_value(kind_of, value)})
            with source(FileSystem(), whole_file(path, (column,), predicate=predicate)) as pages:
                counts.append(sum(batch.num_rows for batch in pages))
        assert counts[0] == 0, name
        assert counts[1] > 0, name


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
def test_a_join_with_a_small_table_reads_the_partitions_that_it_needs(warehouse: Warehouse, native: bool) -> None:
    warehouse.native_reader("hive", on=native)
    warehouse.spark.sql("SELECT * FROM VALUES (3, 'x'), (5, 'x'), (7, 'y') AS t(p, name)").createOrReplaceTempView(
        "few"
    )
    query = "SELECT f.id, f.p FROM hive.written.facts f JOIN few ON f.p = few.p WHERE few.name = 'x'"
    plan = warehouse.plan(query)
    assert "dynamicpruning" in plan.lower()
    frame = warehouse.spark.sql(query)
    assert sorted(row["id"] for row in frame.collect()) == [n for n in range(100) if n % 10 in (3, 5)]
    assert "partitions: 2 of 10" in frame._jdf.queryExecution().toString()
