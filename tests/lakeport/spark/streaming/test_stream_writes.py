"""Streaming queries of Spark that write to tables: each batch once, over restarts from the checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import lakeport
from connectors.hive.connector import HiveConnector
from lakeport import Session

_COLUMNS = "id bigint, name string, ds string"
_KINDS = {
    "plain": "USING parquet",
    "partitioned": "USING parquet PARTITIONED BY (ds)",
    "full": "USING orc TBLPROPERTIES ('transactional' = 'true')",
    "bucketed": "USING orc TBLPROPERTIES ('transactional' = 'true', 'bucketed_by' = 'id', 'bucket_count' = '3')",
    "insert_only": "USING parquet PARTITIONED BY (ds) "
    "TBLPROPERTIES ('transactional' = 'true', 'transactional_properties' = 'insert_only')",
}


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("streamed")
    (folder / "catalogs").mkdir()
    (folder / "catalogs" / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
    )
    (folder / "catalogs" / "mem.properties").write_text("connector.name=memory\n")
    with lakeport.connect(spark.newSession(), folder / "catalogs") as opened:
        opened.sql(f"CREATE SCHEMA hive.s LOCATION '{folder / 's'}'")
        yield opened


class Source:
    """A stream of files, each of which is a batch."""

    def __init__(self, session: Session, folder: Path) -> None:
        self.session = session
        self.folder = folder / "source"
        self.checkpoint = folder / "checkpoint"
        self.folder.mkdir()

    def add(self, *numbers: int) -> None:
        rows = {
            "id": pa.array(numbers, pa.int64()),
            "name": [f"v{n}" for n in numbers],
            "ds": [f"{n % 2}" for n in numbers],
        }
        new = self.folder / f".{len(list(self.folder.iterdir()))}"
        pq.write_table(pa.table(rows), new)
        new.rename(self.folder / f"{new.name[1:]}.parquet")

    @property
    def frame(self) -> DataFrame:
        reader = self.session.spark.readStream.schema(_COLUMNS).option("maxFilesPerTrigger", "1")
        return reader.parquet(str(self.folder))

    def run(self, table: str, frame: DataFrame | None = None, **options: str) -> None:
        writer = (self.frame if frame is None else frame).writeStream.trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(self.checkpoint)).options(**options).toTable(table)
        query.awaitTermination(120)
        assert not query.isActive

    def forget_commit(self) -> None:
        """As if Spark had been killed after the batch's rows were there, before it wrote so into its own log."""
        commits = sorted(int(path.name) for path in (self.checkpoint / "commits").iterdir() if path.name.isdecimal())
        (self.checkpoint / "commits" / f"{commits[-1]}").unlink()
        (self.checkpoint / "commits" / f".{commits[-1]}.crc").unlink(missing_ok=True)


@pytest.fixture
def source(session: Session, tmp_path: Path) -> Source:
    return Source(session, tmp_path)


def until(is_so: Callable[[], bool]) -> bool:
    """Whether something becomes so within a minute."""
    end = time.monotonic() + 60
    while not is_so() and time.monotonic() < end:
        time.sleep(0.1)
    return is_so()


def numbers(session: Session, table: str) -> list[int]:
    found = session.sql(f"SELECT id, name, ds FROM {table} ORDER BY id").collect()
    assert [(row["name"], row["ds"]) for row in found] == [(f"v{row['id']}", f"{row['id'] % 2}") for row in found]
    return [row["id"] for row in found]


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind == "plain" else pytest.mark.slow) for kind in _KINDS]
)
def test_each_batch_comes_once_over_restarts(session: Session, source: Source, kind: str) -> None:
    table = f"hive.s.{kind}"
    session.sql(f"CREATE TABLE {table} ({_COLUMNS}) {_KINDS[kind]}")
    source.add(1, 2)
    source.add(3)
    source.run(table)
    assert numbers(session, table) == [1, 2, 3]
    source.forget_commit()
    source.run(table)
    assert numbers(session, table) == [1, 2, 3]
    source.add(4, 5)
    source.run(table)
    assert numbers(session, table) == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_a_stream_holds_no_locks_between_batches(session: Session, source: Source) -> None:
    session.sql(f"CREATE TABLE hive.s.unlocked ({_COLUMNS}) {_KINDS['full']}")
    transactions = cast(HiveConnector, session.catalogs.get("hive")).metastore.transactions
    source.add(1)
    writer = source.frame.writeStream.trigger(processingTime="1 hour")
    query = writer.option("checkpointLocation", str(source.checkpoint)).toTable("hive.s.unlocked")
    try:
        assert until(lambda: (source.checkpoint / "commits" / "0").exists())
        assert until(lambda: not transactions.get_valid_transactions().open)
        assert query.isActive
        assert transactions.show_locks("s", "unlocked") == []
    finally:
        query.stop()


@pytest.mark.slow
def test_another_checkpoint_is_another_query(session: Session, source: Source, tmp_path: Path) -> None:
    session.sql(f"CREATE TABLE hive.s.twice ({_COLUMNS}) USING parquet")
    source.add(1)
    source.run("hive.s.twice")
    source.checkpoint = tmp_path / "other"
    source.run("hive.s.twice")
    assert numbers(session, "hive.s.twice") == [1, 1]


@pytest.mark.slow
def test_a_table_that_is_not_there_is_made(session: Session, source: Source) -> None:
    source.add(1, 2)
    source.run("hive.s.made")
    assert numbers(session, "hive.s.made") == [1, 2]


@pytest.mark.slow
def test_rows_of_an_aggregation_in_append_mode(session: Session, source: Source) -> None:
    """Behind a shuffle, and of a table of another connector."""
    session.sql("CREATE TABLE hive.s.counted (name string, n bigint) USING parquet")
    source.add(1, 2)
    source.add(1, 3)
    source.run("hive.s.counted", source.frame.dropDuplicates(["id"]).selectExpr("name", "id AS n").repartition(2))
    found = session.sql("SELECT name, n FROM hive.s.counted ORDER BY n").collect()
    assert [tuple(row) for row in found] == [("v1", 1), ("v2", 2), ("v3", 3)]


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "words"), [("complete", "append only, met complete"), ("update", "Update mode")])
def test_other_output_modes_are_refused_by_name(session: Session, source: Source, mode: str, words: str) -> None:
    session.sql(f"CREATE TABLE hive.s.{mode} (ds string, n bigint) USING parquet")
    source.add(1)
    counts = source.frame.groupBy("ds").count().withColumnRenamed("count", "n")
    writer = counts.writeStream.trigger(availableNow=True).outputMode(mode)
    query = writer.option("checkpointLocation", str(source.checkpoint)).toTable(f"hive.s.{mode}")
    with pytest.raises(StreamingQueryException, match=f"(?s)hive.s.{mode}.*{words}"):
        query.awaitTermination(120)
    assert session.sql(f"SELECT * FROM hive.s.{mode}").collect() == []


@pytest.mark.slow
def test_continuous_queries_are_refused_by_name(session: Session, source: Source) -> None:
    session.sql("CREATE TABLE hive.s.continuous (value bigint) USING parquet")
    rates = session.spark.readStream.format("rate").option("numPartitions", "1").load().select("value")
    writer = rates.writeStream.trigger(continuous="1 second").option("checkpointLocation", str(source.checkpoint))
    query = writer.toTable("hive.s.continuous")
    with pytest.raises(StreamingQueryException, match=r"hive.s.continuous .* Trigger.Continuous"):
        query.awaitTermination(120)


@pytest.mark.slow
def test_columns_that_the_table_lacks_are_named(session: Session, source: Source) -> None:
    session.sql("CREATE TABLE hive.s.narrow (id bigint) USING parquet")
    source.add(1)
    with pytest.raises(StreamingQueryException, match="no column 'name'"):
        source.run("hive.s.narrow")
    assert session.sql("SELECT * FROM hive.s.narrow").collect() == []
    source.run("hive.s.narrow", source.frame.select("id"))
    assert [row["id"] for row in session.sql("SELECT * FROM hive.s.narrow").collect()] == [1]
