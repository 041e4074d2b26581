"""Columns from Python tasks: the rows are those of Spark's own reader, whatever Spark does with the batches."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame

from connector_spi.names import SchemaTableName
from lakeport.spark.bridge import columns
from lakeport.spark.bridge.columns import columns_unavailable
from lakeport.spark.bridge.jvm import Jvm
from tests.lakeport.spark.conftest import Lake

pytestmark = pytest.mark.spark

QUESTIONS = [
    "SELECT * FROM {t}",
    "SELECT count(*) FROM {t}",
    "SELECT id FROM {t} WHERE id < 0",
    # Values of an earlier batch are kept while its memory is filled anew.
    "SELECT max(name), min(name), max(raw), min(raw), max(wide), max(part), min(point), max(tags) FROM {t}",
    "SELECT max(concat(name, 'x')), max_by(name, id), min_by(raw, id), max_by(point, id), min_by(tags, id) FROM {t}",
    "SELECT sort_array(collect_list(name)), sort_array(collect_set(raw)), sort_array(collect_list(wide)) FROM {t}",
    "SELECT part, max(name), count(DISTINCT raw), sum(price * 2), max(wide) FROM {t} GROUP BY part",
    "SELECT name, raw, point FROM {t} ORDER BY name NULLS LAST, id LIMIT 20",
    "SELECT id, lag(name) OVER (ORDER BY id), last(name, true) OVER (PARTITION BY flag ORDER BY id) FROM {t}",
    "SELECT a.name, b.point.y.z, b.tags FROM {t} a JOIN {t} b ON a.name = b.name AND a.id <= b.id",
    "SELECT /*+ MERGE(b) */ a.id, b.name, b.raw FROM {t} a LEFT JOIN {t} b ON a.name = b.name AND b.id > 30",
    "SELECT /*+ SHUFFLE_HASH(b) */ a.id, b.name FROM {t} a JOIN {t} b ON a.raw = b.raw",
    "SELECT id FROM {t} WHERE name IN (SELECT max(name) FROM {t} GROUP BY part)",
    "SELECT id, explode(tags) FROM {t}",
    "SELECT id, k, v FROM {t} LATERAL VIEW explode(attributes) e AS k, v",
    "SELECT point.x + 1, point.y.z || '!', get(tags, 0), try_element_at(attributes, 'z') FROM {t}",
    "SELECT map_keys(attributes), size(tags), point IS NULL, point.y IS NULL FROM {t}",
    "SELECT hash(*), xxhash64(name, raw, wide) FROM (SELECT name, raw, wide, point, tags, day, at, wall FROM {t})",
    "SELECT flag, tiny + id, big + id, real * 2, double / 3, price + 1, upper(name), day + 1, year(at) FROM {t}",
    "SELECT at - INTERVAL 1 HOUR, wall + INTERVAL 2 DAY, date_format(at, 'HH:mm:ss.SSSSSS'), hex(raw) FROM {t}",
    "SELECT /*+ REPARTITION(3) */ name, raw, point, attributes FROM {t}",
]


@pytest.fixture(params=[True, False], ids=["columns", "rows"])
def handover(lake: Lake, request: pytest.FixtureRequest) -> Iterator[bool]:
    lake.spark.sql(f"SET spark.lakeport.mem.columnar_reader = {str(request.param).lower()}")
    lake.spark.sql("SET spark.lakeport.mem.task_pushdown = false")
    yield request.param
    lake.spark.sql("RESET spark.lakeport.mem.columnar_reader")
    lake.spark.sql("RESET spark.lakeport.mem.task_pushdown")


def test_these_tests_run_with_the_options_of_our_sessions(lake: Lake) -> None:
    checks = Jvm(lake.spark).cls("org.apache.arrow.memory.BoundsChecking")
    assert checks.BOUNDS_CHECKING_ENABLED is False
    assert Jvm(lake.spark).cls("org.apache.arrow.vector.NullCheckingForGet").NULL_CHECKING_ENABLED is False


def reader(lake: Lake) -> str:
    return str(lake.spark.sql("EXPLAIN SELECT id FROM mem.sales.small").collect()[0][0])


def test_the_reader_is_told(lake: Lake, handover: bool) -> None:
    wanted = "as columns" if handover else "row by row (mem.columnar_reader is false)"
    assert f"reader: Python tasks, {wanted}" in reader(lake)


@pytest.mark.parametrize("question", QUESTIONS)
def test_rows_are_those_of_sparks_own_reader(lake: Lake, handover: bool, question: str) -> None:
    assert lake.rows(question.format(t="mem.sales.everything")) == lake.rows(question.format(t="plain_everything"))


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kathmandu"])
def test_zones(lake: Lake, handover: bool, zone: str) -> None:
    before = lake.spark.conf.get("spark.sql.session.timeZone")
    lake.spark.sql(f"SET spark.sql.session.timeZone={zone}")
    try:
        text = "SELECT cast(at AS string), cast(wall AS string), hour(at), cast(at AS date) FROM {t}"
        assert lake.rows(text.format(t="mem.sales.everything")) == lake.rows(text.format(t="plain_everything"))
    finally:
        lake.spark.sql(f"SET spark.sql.session.timeZone={before}")


def test_types_that_parquet_does_not_have(lake: Lake, handover: bool) -> None:
    """Intervals, NULLs in structs of structs, decimals of all sizes, empty and long texts, dictionaries."""
    long = "x" * 70_000
    inner = pa.struct([("d", pa.decimal128(38, 10)), ("s", pa.struct([("n", pa.int8())]))])
    nested = [None, {"d": None, "s": None}, {"d": Decimal("1.5"), "s": {"n": None}}, {"d": None, "s": {"n": 3}}]
    data = pa.table(
        {
            "span": pa.array([dt.timedelta(days=1, microseconds=1), None, dt.timedelta(0), -dt.timedelta(hours=5)]),
            "small": pa.array([Decimal("-9.9"), None, Decimal(0), Decimal("9.9")], pa.decimal128(2, 1)),
            "large": pa.array([Decimal(10) ** 37, None, -(Decimal(10) ** 37), Decimal(1)], pa.decimal128(38, 0)),
            "text": pa.array(["", None, long, "é"], pa.large_string()),
            "word": pa.array(["a", "b", None, "a"]).dictionary_encode(),
            "nothing": pa.nulls(4),
            "nested": pa.array(nested, inner),
            "lists": pa.array([[[1], None, []], None, [], [None]], pa.list_(pa.list_(pa.int64()))),
        }
    )
    lake.memory.create_table(SchemaTableName("sales", f"odd_{int(handover)}"), data, (), chunk_rows=3)
    found = lake.spark.sql(f"SELECT * FROM mem.sales.odd_{int(handover)}").collect()
    assert [row["span"] for row in found] == data["span"].to_pylist()
    assert [row["small"] for row in found] == data["small"].to_pylist()
    assert [row["large"] for row in found] == data["large"].to_pylist()
    assert [row["text"] for row in found] == ["", None, long, "é"]
    assert [row["word"] for row in found] == ["a", "b", None, "a"]
    assert [row["nothing"] for row in found] == [None] * 4
    given = [None if row["nested"] is None else row["nested"].asDict(recursive=True) for row in found]
    assert given == nested
    assert [row["lists"] for row in found] == data["lists"].to_pylist()


@pytest.mark.slow
def test_kept_data(lake: Lake, handover: bool) -> None:
    """A DataFrame that Spark caches or checkpoints outlives the batches."""
    frame = lake.spark.sql("SELECT * FROM mem.sales.everything").cache()
    try:
        assert frame.count() == 60
        frame.createOrReplaceTempView("kept")
        text = "SELECT id, name, raw, point, wide FROM {t}"
        assert lake.rows(text.format(t="kept")) == lake.rows(text.format(t="plain_everything"))
    finally:
        frame.unpersist(blocking=True)
    checkpointed = lake.spark.sql("SELECT id, name FROM mem.sales.everything").localCheckpoint()
    assert sorted(checkpointed.collect()) == sorted(lake.spark.sql("SELECT id, name FROM plain_everything").collect())


@pytest.mark.slow
def test_streams(lake: Lake, handover: bool, tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = []

    def keep(frame: DataFrame, batch: int) -> None:
        rows.extend(tuple(row) for row in frame.selectExpr("to_json(struct(*))").collect())

    writer = lake.spark.readStream.table("mem.sales.everything").writeStream.foreachBatch(keep)
    query = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start()
    query.awaitTermination()
    assert sorted(rows) == lake.rows("SELECT to_json(struct(*)) FROM plain_everything")


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_filters_of_a_join_at_run_time(lake: Lake, handover: bool, adaptive: str) -> None:
    """Spark leaves out partitions by the keys of the other side."""
    values = "SELECT * FROM VALUES ('north', 3, 'x'), ('west', 4, 'x'), ('south', 5, 'y') AS t(p, i, w)"
    lake.spark.sql(values).createOrReplaceTempView("few")
    text = "SELECT f.id, f.name, f.raw FROM {t} f JOIN few ON f.part = few.p WHERE few.w = 'x'"
    lake.spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    try:
        frame = lake.spark.sql(text.format(t="mem.sales.everything"))
        assert "dynamicpruning" in frame._jdf.queryExecution().toString().lower()
        assert sorted(map(tuple, frame.collect()), key=repr) == lake.rows(text.format(t="plain_everything"))
        assert "partitions: 1 of 3" in frame._jdf.queryExecution().toString()
    finally:
        lake.spark.conf.unset("spark.sql.adaptive.enabled")


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_bloom_filters_of_a_join_at_run_time(lake: Lake, handover: bool, adaptive: str) -> None:
    """Spark builds a Bloom filter of one side's keys, and asks it for the rows of the other side."""
    text = "SELECT e.id, e.raw, s.label FROM {t}everything e JOIN {t}small s ON e.id = s.id WHERE s.label > 'a'"
    settings = {
        "spark.sql.adaptive.enabled": adaptive,
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.optimizer.runtime.bloomFilter.enabled": "true",
        "spark.sql.optimizer.runtime.bloomFilter.applicationSideScanSizeThreshold": "0",
    }
    for name, value in settings.items():
        lake.spark.conf.set(name, value)
    try:
        frame = lake.spark.sql(text.format(t="mem.sales."))
        assert "might_contain" in frame._jdf.queryExecution().toString()
        found = sorted(map(tuple, frame.collect()), key=repr)
        assert found
        assert found == lake.rows(text.format(t="plain_"))
    finally:
        for name in settings:
            lake.spark.conf.unset(name)


@pytest.mark.slow
def test_memory_is_given_back(lake: Lake, handover: bool) -> None:
    """Also where a query stops in the middle, and where a task fails."""
    jvm = Jvm(lake.spark)
    arrow = jvm.scala_object("org.apache.spark.sql.util.ArrowUtils").rootAllocator()
    before = arrow.getAllocatedMemory()
    for number in range(2):
        lake.rows("SELECT name, point FROM mem.sales.everything LIMIT 3")
        with pytest.raises(Exception, match="out of it"):
            lake.rows(f"SELECT if(id > {number}, raise_error('out of it'), name) FROM mem.sales.everything")
    assert arrow.getAllocatedMemory() == before


def test_a_class_that_cannot_be_compiled_is_no_error(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(columns, "_source", lambda: "package lakeport.spark; public class Other extends Missing {}")
    reason = columns_unavailable(Jvm(lake.spark))
    assert reason is not None
    assert "PythonTasks cannot be loaded" in reason
    assert "Missing" in reason
    assert "\n" not in reason
