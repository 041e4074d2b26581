"""Queries through our catalogs give what Spark gives over the same rows as plain Parquet."""

from __future__ import annotations

import datetime as dt
import threading

import pyarrow as pa
import pytest
from pyspark.sql import types as spark_types

from connector_spi.errors import NotSupportedError
from connector_spi.names import SchemaTableName
from lakeport.duckdb.engine import DuckDbEngine
from lakeport.spark.results import arrow_result
from tests.lakeport.spark.conftest import Lake

QUERIES = [
    "SELECT * FROM {everything}",
    "SELECT count(*) FROM {everything}",
    "SELECT count(name), count(DISTINCT part), min(day), max(at), sum(price) FROM {everything}",
    "SELECT point.y.z, id FROM {everything} WHERE point.x > 10",
    "SELECT attributes['z'], tags[0], wall FROM {everything} WHERE size(tags) > 1",
    "SELECT id FROM {everything} WHERE part = 'north' AND name >= 'ab'",
    "SELECT id FROM {everything} WHERE part IS NULL OR part <> 'north'",
    "SELECT part, count(*) FROM {everything} WHERE day BETWEEN DATE'2024-03-01' AND DATE'2024-03-20' GROUP BY part",
    "SELECT e.id, s.label FROM {everything} e JOIN {small} s ON e.id = s.id",
    "SELECT e.id FROM {everything} e LEFT ANTI JOIN {small} s ON e.id = s.id",
    "SELECT 1 FROM {small} WHERE false",
    "SELECT id, tiny + 1 AS t FROM {everything} ORDER BY id DESC LIMIT 5",
    "WITH w AS (SELECT part, sum(big) AS b FROM {everything} GROUP BY part) SELECT * FROM w WHERE b > 0",
]

REUSED = [
    "SELECT id FROM {everything} WHERE id < 10 UNION ALL SELECT id FROM {everything} WHERE id >= 50",
    "SELECT (SELECT count(*) FROM {everything} WHERE id < 10), (SELECT count(*) FROM {everything})",
    "SELECT a.id FROM {everything} a JOIN {everything} b ON a.id = b.id + 1 WHERE a.id < 20 AND b.id > 5",
    "SELECT count(*) FROM {everything} e WHERE id IN (SELECT id FROM {everything} WHERE part = 'south')",
]


@pytest.mark.parametrize("query", [*QUERIES, *REUSED])
def test_query_equals_plain_spark(lake: Lake, query: str) -> None:
    ours = query.format(everything="mem.sales.everything", small="mem.sales.small")
    plain = query.format(everything="plain_everything", small="plain_small")
    assert lake.rows(ours) == lake.rows(plain)


@pytest.mark.slow
def test_the_engine_duckdb_gives_the_same(lake: Lake) -> None:
    """Rows and types; what may differ is refused by name."""
    engine = DuckDbEngine(lake.registry)
    ran = 0
    for query in (*QUERIES, *REUSED):
        try:
            found = engine.plan(query.format(everything="mem.sales.everything", small="mem.sales.small")).arrow()
        except NotSupportedError:
            continue
        plain = arrow_result(lake.spark.sql(query.format(everything="plain_everything", small="plain_small")))
        expected = pa.Table.from_batches(plain.batches, plain.schema)
        assert [(one.name, one.type) for one in found.schema] == [(one.name, one.type) for one in expected.schema]
        assert sorted(map(str, found.to_pylist())) == sorted(map(str, expected.to_pylist()))
        ran += 1
    engine.close()
    assert ran >= 15


def test_types_are_those_of_plain_spark(lake: Lake) -> None:
    ours = lake.spark.table("mem.sales.everything").schema
    plain = lake.spark.table("plain_everything").schema
    assert [(f.name, f.dataType) for f in ours] == [(f.name, f.dataType) for f in plain]


def test_types_that_parquet_has_no_spark_reader_for(lake: Lake) -> None:
    waits = [dt.timedelta(days=-1, microseconds=1), None, dt.timedelta(0)]
    clocks = [dt.time(23, 59, 59, 999999), dt.time(0), None]
    columns = {"wait": pa.array(waits, pa.duration("us")), "nothing": pa.nulls(3)}
    fields = ["wait", "nothing"]
    if hasattr(spark_types, "TimeType"):
        columns["clock"] = pa.array(clocks, pa.time64("us"))
        columns["second"] = pa.array([dt.time(1, 2, 3), None, dt.time(0)], pa.time32("s"))
        fields += ["clock", "second"]
    lake.memory.create_table(SchemaTableName("sales", "rare"), pa.table(columns))
    rows = lake.spark.sql(f"SELECT {', '.join(fields)} FROM mem.sales.rare").collect()
    assert [row.wait for row in rows] == waits
    assert [row.nothing for row in rows] == [None] * 3
    if "clock" in fields:
        assert [row.clock for row in rows] == clocks
        assert [row.second for row in rows] == [dt.time(1, 2, 3), None, dt.time(0)]
        late = lake.spark.sql("SELECT clock FROM mem.sales.rare WHERE clock >= TIME'23:00:00'").collect()
        assert [row.clock for row in late] == clocks[:1]


@pytest.mark.slow
def test_dataframe_used_twice_with_other_filters(lake: Lake) -> None:
    frame = lake.spark.table("mem.sales.everything")
    assert frame.where("part = 'north'").count() == 20
    assert frame.count() == 60
    assert frame.where("id < 10").union(frame.where("id >= 50")).count() == 20
    parent = frame.where("id < 30")
    assert parent.where("id >= 20").join(parent, "id").count() == 10


def test_use_makes_short_names_work(lake: Lake) -> None:
    session = lake.spark
    session.sql("USE mem.sales")
    try:
        assert lake.rows("SELECT label FROM small WHERE id = 2") == [("y",)]
        assert lake.rows("SELECT current_catalog(), current_schema()") == [("mem", "sales")]
    finally:
        session.sql("USE spark_catalog.default")


def test_listings(lake: Lake) -> None:
    assert ("mem",) in lake.rows("SHOW CATALOGS")
    assert ("sales",) in lake.rows("SHOW SCHEMAS IN mem")
    assert {("sales", "everything", False), ("sales", "small", False)} <= set(lake.rows("SHOW TABLES IN mem.sales"))
    assert lake.rows("SHOW COLUMNS IN mem.sales.small") == [("id",), ("label",)]
    assert lake.rows("DESCRIBE mem.sales.small") == [("id", "int", None), ("label", "string", None)]
    assert lake.rows("SHOW PARTITIONS mem.sales.everything") == [("part=north",), ("part=null",), ("part=south",)]
    assert lake.rows("SHOW PARTITIONS mem.sales.everything PARTITION (part = 'south')") == [("part=south",)]
    [[create]] = lake.rows("SHOW CREATE TABLE mem.sales.everything")
    assert "PARTITIONED BY (part)" in str(create)


def test_explain_tells_what_was_skipped(lake: Lake) -> None:
    text = "EXPLAIN SELECT name FROM mem.sales.everything WHERE part = 'south' AND id > 3 AND length(name) > 1"
    [[plan]] = lake.rows(text)
    assert "columns: 2 of 18" in str(plan)
    assert "part = 'south'" in str(plan)
    assert "filter left to Spark: " in str(plan)
    left = str(plan).split("filter left to Spark: ")[1].split(", partitions")[0]
    assert "part" not in left, "a partition key is exact: Spark need not check it again"
    assert "partitions: 1 of 3" in str(plan)


@pytest.mark.slow
def test_a_join_prunes_partitions_while_it_runs(lake: Lake) -> None:
    """Spark gives the build side's keys to the scan; the answer stays the same."""
    text = (
        "SELECT /*+ BROADCAST(d) */ count(*) FROM {e} e JOIN (SELECT 'south' AS p, id FROM {s} WHERE id > 1) d "
        "ON e.part = d.p"
    )
    ours = text.format(e="mem.sales.everything", s="mem.sales.small")
    assert lake.rows(ours) == lake.rows(text.format(e="plain_everything", s="plain_small"))


@pytest.mark.slow
def test_ten_threads_at_once(lake: Lake) -> None:
    answers: dict[int, object] = {}

    def ask(number: int) -> None:
        text = f"SELECT count(*), sum(id) FROM mem.sales.everything WHERE id >= {number}"
        answers[number] = [lake.rows(text) for _ in range(3)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {n: [[(60 - n, sum(range(n, 60)))]] * 3 for n in range(10)}


def test_hidden_and_system_tables(lake: Lake) -> None:
    snapshots = lake.rows("SELECT * FROM mem.sales.`small$snapshots`")
    assert len(snapshots) == 1
    assert lake.rows("SELECT count(*) FROM mem.sales.`small$snapshots`") == [(1,)]


def test_dataframe_keeps_its_snapshot(lake: Lake) -> None:
    import pyarrow as pa

    from connector_spi.names import SchemaTableName

    name = SchemaTableName("sales", "growing")
    lake.memory.create_table(name, pa.table({"id": [1, 2]}))
    frame = lake.spark.table("mem.sales.growing")
    lake.memory.insert(name, pa.table({"id": [3]}))
    assert frame.count() == 2
    assert lake.rows("SELECT count(*) FROM mem.sales.growing") == [(3,)]
    assert lake.rows("SELECT count(*) FROM mem.sales.growing VERSION AS OF 1") == [(2,)]
    lake.memory.drop_table(name)
