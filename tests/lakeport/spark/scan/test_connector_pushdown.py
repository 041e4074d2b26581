"""What a connector computes by itself: aggregates, first rows, conditions. Spark over plain Parquet is the judge."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.names import SchemaTableName
from lakeport.spark.catalog.install import install
from tests.lakeport.spark.conftest import Lake
from tests.plugin_example.sqlite_tables import SqliteFactory
from tests.plugin_example.test_sqlite_tables import write

ROWS = pa.table(
    {
        "id": pa.array(range(40), pa.int64()),
        "n": pa.array([[2**63 - 1, -(2**63), None, 0, 2**53 + 1][i % 5] for i in range(40)], pa.int64()),
        "k": pa.array([None if i % 4 == 3 else i % 3 for i in range(40)], pa.int64()),
        "name": pa.array([["a", "B", None, "ä", "", "\U0001f600", "a%_", "b'c"][i % 8] for i in range(40)]),
    }
)
BY_CONNECTOR = "aggregated by the connector"
FILTERED = "filter applied by the connector"
FIRST = "first rows by the connector"


@pytest.fixture(scope="module")
def databases(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("sqlite")
    write(folder, SchemaTableName("s", "t"), ROWS)
    write(folder, SchemaTableName("s", "none"), ROWS.slice(0, 0))
    registry = CatalogRegistry(PluginSet.of(SqliteFactory()), "test")
    session = spark.newSession()
    installation = install(session, registry)
    registry.register("db", "sqlite", {"sqlite.folder": str(folder)})
    for name, rows in (("t", ROWS), ("none", ROWS.slice(0, 0))):
        pq.write_table(rows, folder / f"{name}.parquet")
        session.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(f"plain_{name}")
    yield session
    installation.remove()
    registry.shutdown()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT count(*) FROM {t}", f"{BY_CONNECTOR}: count(*)"),
        ("SELECT count(*), count(n), min(n), max(n), min(name), max(name) FROM {t}", BY_CONNECTOR),
        ("SELECT count(*), max(n) FROM {none}", BY_CONNECTOR),
        ("SELECT k, count(*), max(n) FROM {none} GROUP BY k", BY_CONNECTOR),
        ("SELECT k, name, count(*), min(n) FROM {t} GROUP BY k, name", f"{BY_CONNECTOR}: count(*), min(n) by k, name"),
        ("SELECT DISTINCT name FROM {t}", f"{BY_CONNECTOR}: distinct by name"),
        ("SELECT k, count(*) FROM {t} GROUP BY k HAVING count(*) > 9 ORDER BY k NULLS LAST", BY_CONNECTOR),
        ("SELECT count(*) FROM {t} WHERE name = 'a' AND n < 0", BY_CONNECTOR),
        ("SELECT count(*) FROM {t} WHERE n = 1 AND n = 2", ""),
        ("SELECT k + 1, max(n) FROM {t} WHERE k < 2 OR name = 'ä' GROUP BY k", FILTERED),
        ("SELECT max(k) - min(k) FROM {t} WHERE name IS NULL OR n >= 9007199254740993", BY_CONNECTOR),
        ("SELECT count(DISTINCT k) FROM {t}", ""),
        ("SELECT sum(k), avg(k), count(*) FROM {t}", ""),
        ("SELECT name, avg(k) FROM {t} GROUP BY name", ""),
        ("SELECT count(*) FROM {t} WHERE name LIKE '%a'", ""),
        ("SELECT count(*) FILTER (WHERE k = 1) FROM {t}", ""),
        ("SELECT a.k, b.c FROM {t} a JOIN (SELECT k, count(*) c FROM {t} GROUP BY k) b ON a.k = b.k", BY_CONNECTOR),
        ("SELECT max(c) FROM (SELECT k, count(*) c FROM {t} GROUP BY k)", BY_CONNECTOR),
        ("SELECT k, count(*) c FROM {t} GROUP BY k ORDER BY c DESC, k LIMIT 2", BY_CONNECTOR),
        ("SELECT k, count(*) c FROM {t} GROUP BY k LIMIT 100", BY_CONNECTOR),
        ("SELECT id FROM {t} WHERE k = 1 OR name = 'ä'", f"{FILTERED}: ((k = 1) OR (name = 'ä'))"),
        ("SELECT id FROM {t} WHERE NOT (k = 1 OR name = 'ä')", ""),
        ("SELECT id FROM {t} WHERE n = id OR k = id", FILTERED),
        ("SELECT id FROM {t} WHERE (k <=> NULL OR name <=> 'a') AND id > 3", FILTERED),
        ("SELECT id FROM {t} WHERE k IN (1, NULL) OR name IN ('a', 'B')", FILTERED),
        ("SELECT id FROM {t} WHERE NOT (k IN (1, NULL) OR name IN ('a', 'B'))", ""),
        ("SELECT id FROM {t} WHERE k = 1 OR name LIKE 'a%'", ""),
        (f"SELECT id FROM {{t}} WHERE id IN ({', '.join(map(str, range(0, 24_000, 2)))})", ""),
        ("SELECT id, name FROM {t} ORDER BY id DESC LIMIT 3", f"{FIRST}: 3 by id DESC NULLS LAST"),
        ("SELECT name, id FROM {t} ORDER BY name, id DESC LIMIT 7", FIRST),
        ("SELECT k, id FROM {t} ORDER BY k DESC NULLS FIRST, id LIMIT 12", FIRST),
        ("SELECT id FROM {t} WHERE k = 1 OR n = 0 ORDER BY n NULLS LAST, id LIMIT 5 OFFSET 2", FILTERED),
        ("SELECT id FROM {t} ORDER BY k + 1, id LIMIT 4", ""),
        ("SELECT count(*) FROM (SELECT * FROM {t} ORDER BY id LIMIT 7)", FIRST),
        ("SELECT max(id) FROM (SELECT * FROM {t} LIMIT 7)", ""),
        ("SELECT id FROM (SELECT * FROM {t} ORDER BY id LIMIT 7) WHERE id > 4", FIRST),
    ],
)
def test_a_connector_computes(databases: SparkSession, query: str, words: str) -> None:
    pushed = databases.sql(query.format(t="db.s.t", none="db.s.none"))
    plain = databases.sql(query.format(t="plain_t", none="plain_none"))
    assert pushed.dtypes == plain.dtypes
    met, expected = ([tuple(row) for row in frame.collect()] for frame in (pushed, plain))
    if "max(id)" in query:
        assert len(met) == len(expected) == 1  # of any seven rows
    elif "ORDER BY" in query:
        assert met == expected
    else:
        assert sorted(met, key=repr) == sorted(expected, key=repr)
    text = pushed._jdf.queryExecution().toString()
    assert words in text, text


@pytest.mark.parametrize("suffix", ["LIMIT 5", "LIMIT 23", "LIMIT 4 OFFSET 3", "LIMIT 1000"])
@pytest.mark.parametrize(
    "order",
    [
        "double, id",
        "double DESC, id",
        "real DESC NULLS FIRST, id DESC",
        "name NULLS LAST, id",
        "raw DESC, id",
        "flag, wide DESC, id",
        "at DESC, id",
        "wall NULLS LAST, id",
        "day, tiny DESC, id",
        "price DESC NULLS FIRST, part, id",
    ],
)
def test_tasks_choose_the_first_rows(lake: Lake, order: str, suffix: str) -> None:
    """The memory connector knows no order: the tasks that read its splits keep the first rows only."""
    assert "first rows chosen in tasks" in first_rows_agree(lake, f"{order} {suffix}")


def test_spark_orders_by_expressions(lake: Lake) -> None:
    assert "first rows chosen in tasks" not in first_rows_agree(lake, "-0.0 + double, id LIMIT 5")


def first_rows_agree(lake: Lake, tail: str) -> str:
    """The plan of a query that has Spark's own answer."""
    query = f"SELECT id, double, name FROM {{t}} WHERE id <> 4 ORDER BY {tail}"
    met = lake.spark.sql(query.format(t="mem.sales.everything"))
    expected = lake.spark.sql(query.format(t="plain_everything"))
    assert list(map(repr, met.collect())) == list(map(repr, expected.collect()))
    return str(met._jdf.queryExecution().toString())
