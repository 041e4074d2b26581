"""Rows that Spark replaces: which ones, and what is left where it fails; other readers find the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, DataFrameWriterV2, SparkSession
from pyspark.sql.functions import col

import lakeport
from connector_spi.names import SchemaTableName
from connectors.memory.connector import MemoryConnector
from lakeport import Session

Row = tuple[object, ...]
_BEFORE = [(1, "a", 1), (2, "a", 2), (3, "b", 1), (4, None, 1)]


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("replaced")
    (folder / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
    )
    (folder / "mem.properties").write_text("connector.name=memory\n")
    with lakeport.connect(spark.newSession(), folder) as opened:
        opened.sql("CREATE SCHEMA hive.s")
        yield opened


@pytest.fixture
def table(session: Session, tmp_path: Path) -> Iterator[str]:
    """A table of two keys with four rows; its files are in ``tmp_path``."""
    (tmp_path / "t").mkdir()
    session.sql(
        "CREATE TABLE hive.s.t (id INT, d STRING, h INT) USING parquet PARTITIONED BY (d, h) "
        f"LOCATION '{tmp_path / 't'}'"
    )
    values = ", ".join(f"({i}, {'NULL' if d is None else repr(d)}, {h})" for i, d, h in _BEFORE)
    session.sql(f"INSERT INTO hive.s.t VALUES {values}")
    yield "hive.s.t"
    session.spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    session.sql("DROP TABLE hive.s.t")


def rows(session: Session, text: str = "SELECT * FROM hive.s.t") -> list[Row]:
    return sorted((tuple(row) for row in session.sql(text).collect()), key=repr)


def without(*ids: int) -> list[Row]:
    return [row for row in _BEFORE if row[0] not in ids]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "gone"),
    [
        ("INSERT OVERWRITE {t} SELECT 9, 'a', 1", (1, 2, 3, 4)),
        ("INSERT OVERWRITE TABLE {t} PARTITION (d = 'a', h = 1) SELECT 9", (1,)),
        ("INSERT OVERWRITE TABLE {t} PARTITION (d = 'a', h) SELECT 9, 1", (1, 2)),
        ("INSERT OVERWRITE TABLE {t} PARTITION (d = 'new', h) SELECT 9, 1", ()),
        ("INSERT OVERWRITE TABLE {t} PARTITION (d = NULL, h) SELECT 9, 1", (4,)),
        ("INSERT INTO {t} REPLACE WHERE d = 'a' AND h IN (2, 3) SELECT 9, 'a', 2", (2,)),
        ("INSERT INTO {t} REPLACE WHERE d >= 'b' SELECT 9, 'c', 2", (3,)),
        ("INSERT INTO {t} REPLACE WHERE true SELECT 9, 'c', 2", (1, 2, 3, 4)),
    ],
)
def test_what_a_statement_replaces(session: Session, table: str, tmp_path: Path, statement: str, gone: Row) -> None:
    session.sql(statement.format(t=table))
    found = rows(session)
    assert [row for row in found if row[0] != 9] == sorted((row for row in _BEFORE if row[0] not in gone), key=repr)
    assert [row[0] for row in found].count(9) == 1
    plain = session.spark.read.parquet(str(tmp_path / "t")).selectExpr("id", "CAST(d AS STRING)", "h").collect()
    assert sorted((tuple(row) for row in plain), key=repr) == found


def test_dynamic_partitions_are_those_that_rows_go_to(session: Session, table: str) -> None:
    session.spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    session.sql(f"INSERT OVERWRITE {table} VALUES (9, 'a', 1), (8, 'z', 1)")
    assert rows(session) == sorted([(9, "a", 1), (8, "z", 1), *without(1)], key=repr)
    session.sql(f"INSERT OVERWRITE {table} PARTITION (d = 'a', h) SELECT 7, 2")
    assert rows(session) == sorted([(9, "a", 1), (8, "z", 1), (7, "a", 2), *without(1, 2)], key=repr)
    session.sql(f"INSERT OVERWRITE {table} SELECT * FROM {table} WHERE false")
    assert len(rows(session)) == 5


@pytest.mark.slow
def test_programs_that_overwrite(session: Session, table: str) -> None:
    frame = session.spark.sql("SELECT 9 AS id, 'a' AS d, 1 AS h")
    frame.writeTo(table).overwritePartitions()
    assert rows(session) == sorted([(9, "a", 1), *without(1)], key=repr)
    more = session.spark.sql("SELECT 8 AS id, 'b' AS d, 5 AS h")
    more.writeTo(table).overwrite(col("d") == "b")
    assert rows(session) == sorted([(9, "a", 1), (8, "b", 5), *without(1, 3)], key=repr)
    frame.write.mode("overwrite").insertInto(table)
    assert rows(session) == [(9, "a", 1)]
    frame.write.insertInto(table, overwrite=True)
    assert rows(session) == [(9, "a", 1)]


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_a_table_is_replaced_by_a_query_of_itself(session: Session, tmp_path: Path, file_format: str) -> None:
    session.sql(f"CREATE TABLE hive.s.own (id BIGINT) USING {file_format} LOCATION '{tmp_path}'")
    session.sql("INSERT INTO hive.s.own SELECT id FROM range(0, 100, 1, 4)")
    session.sql("INSERT OVERWRITE hive.s.own SELECT id + 1 FROM hive.s.own WHERE id < 50")
    assert rows(session, "SELECT count(*), min(id), max(id) FROM hive.s.own") == [(50, 1, 50)]
    session.sql("INSERT OVERWRITE hive.s.own SELECT id FROM hive.s.own WHERE false")
    assert rows(session, "SELECT * FROM hive.s.own") == []
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
    session.sql("DROP TABLE hive.s.own")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "says"),
    [
        (lambda writer: writer.overwrite(col("id") == 1), r"`?id`? = 1: 'id' is no partition key"),
        (lambda writer: writer.overwrite((col("d") == "a") | (col("h") == 1)), "values of single keys"),
        (lambda writer: writer.overwrite(col("d").like("%a")), "values of single keys|no partition key"),
    ],
    ids=["column", "several keys", "pattern"],
)
def test_conditions_that_are_no_whole_partitions_are_refused(
    session: Session, table: str, write: Callable[[DataFrameWriterV2], None], says: str
) -> None:
    frame: DataFrame = session.spark.sql("SELECT 9 AS id, 'a' AS d, 1 AS h")
    with pytest.raises(Exception, match=rf"NOT_SUPPORTED.*hive\.s\.t cannot be replaced.*({says})"):
        write(frame.writeTo(table))
    assert rows(session) == sorted(_BEFORE, key=repr)


def test_a_query_that_fails_leaves_the_rows(session: Session, table: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        session.sql(f"INSERT OVERWRITE {table} SELECT CAST(1 / (id - 7) AS INT), 'a', 1 FROM range(0, 10, 1, 2)")
    assert rows(session) == sorted(_BEFORE, key=repr)
    assert not list((tmp_path / "t").glob(".lakeport*"))


def test_explaining_replaces_nothing(session: Session, table: str) -> None:
    [plan] = session.spark.sql(f"EXPLAIN INSERT OVERWRITE {table} PARTITION (d = 'a', h) SELECT 9, 1").collect()
    assert "overwrite hive.s.t, d in" in plan[0]
    assert rows(session) == sorted(_BEFORE, key=repr)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "file_format"), [("default", "orc"), ("insert_only", "parquet")], ids=["full", "insert_only"]
)
def test_transactional_tables(session: Session, tmp_path: Path, kind: str, file_format: str) -> None:
    session.sql(
        f"CREATE TABLE hive.s.acid (id BIGINT, d STRING) USING {file_format} PARTITIONED BY (d) LOCATION '{tmp_path}' "
        f"TBLPROPERTIES ('transactional' = 'true', 'transactional_properties' = '{kind}')"
    )
    shown = "SELECT d, count(*), count(DISTINCT id), max(id) FROM hive.s.acid GROUP BY d"
    session.sql("INSERT INTO hive.s.acid SELECT id, IF(id % 2 = 0, 'a', 'b') FROM range(0, 100, 1, 4)")
    session.sql("INSERT OVERWRITE hive.s.acid PARTITION (d = 'a') SELECT id FROM range(0, 30, 1, 3)")
    assert rows(session, shown) == [("a", 30, 30, 29), ("b", 50, 50, 99)]
    session.sql("INSERT OVERWRITE hive.s.acid SELECT id, d FROM hive.s.acid WHERE id >= 20 AND id < 60")
    assert rows(session, shown) == [("a", 10, 10, 29), ("b", 20, 20, 59)]
    if kind == "default":
        keys = rows(session, "SELECT count(DISTINCT d, `$row_id`), min(`$row_id`.writeid) FROM hive.s.acid")
        assert keys == [(30, 3)]
    session.sql("INSERT OVERWRITE hive.s.acid SELECT id, d FROM hive.s.acid WHERE false")
    assert rows(session, shown) == []
    session.sql("DROP TABLE hive.s.acid")


def test_tables_in_memory(session: Session) -> None:
    connector = session.catalogs.get("mem")
    assert isinstance(connector, MemoryConnector)
    given = pa.table({"id": pa.array([1, 2], pa.int32()), "d": ["a", "b"]})
    connector.create_table(SchemaTableName("s", "t"), given, partitioned_by=["d"])
    session.sql("INSERT OVERWRITE mem.s.t PARTITION (d = 'a') SELECT 9")
    assert rows(session, "SELECT * FROM mem.s.t") == [(2, "b"), (9, "a")]
    session.sql("INSERT OVERWRITE mem.s.t VALUES (7, 'c')")
    assert rows(session, "SELECT * FROM mem.s.t") == [(7, "c")]
