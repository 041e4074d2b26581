"""Writes of Spark to bucketed tables: each row in the file of its bucket, and few files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from pyarrow import orc
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, partitioning

import lakeport
from lakeport import Session
from lakeport.spark.bridge import writers

pytestmark = pytest.mark.slow

_numbers = count()
_KINDS = {
    "plain": "",
    "full": ", 'transactional' = 'true'",
    "insert_only": ", 'transactional' = 'true', 'transactional_properties' = 'insert_only'",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("buckets")


@pytest.fixture(scope="module")
def session(spark: SparkSession, folder: Path) -> Iterator[Session]:
    (folder / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
        "hive.validate-bucketing=true\n"
    )
    with lakeport.connect(spark.newSession(), folder) as opened:
        opened.sql("CREATE SCHEMA hive.s")
        yield opened


def new_table(session: Session, folder: Path, kind: str, by: str, keys: str = "", buckets: int = 4) -> tuple[str, Path]:
    """A bucketed table with no rows, and its directory; ``keys`` is its clause ``PARTITIONED BY``."""
    number = next(_numbers)
    location = folder / f"t{number}"
    location.mkdir()
    name = f"hive.s.t{number}"
    session.sql(
        f"CREATE TABLE {name} (id BIGINT, v STRING, c CHAR(6), d DECIMAL(20, 4), f DOUBLE, t DATE, p INT) "
        f"USING orc {keys} LOCATION '{location}' "
        f"TBLPROPERTIES ('bucketed_by' = '{by}', 'bucket_count' = '{buckets}', 'bucketing_version' = '2'{_KINDS[kind]})"
    )
    return name, location


def files(location: Path) -> list[str]:
    found = (str(path.relative_to(location)) for path in location.rglob("*") if path.is_file())
    return sorted(one for one in found if "/_" not in f"/{one}" and "/." not in f"/{one}")


_ROWS = (
    "SELECT id, concat('v', id % 7) AS v, IF(id % 5 = 0, NULL, CAST(id % 3 AS STRING)) AS c, "
    "CAST(id / 8 AS DECIMAL(20, 4)) AS d, id / 3 AS f, DATE_ADD(DATE '2020-01-01', CAST(id AS INT)) AS t, "
    "CAST(id % 2 AS INT) AS p FROM range(0, 300, 1, 6)"
)


@pytest.mark.parametrize("keys", ["", "PARTITIONED BY (p)"], ids=["flat", "partitioned"])
@pytest.mark.parametrize("kind", list(_KINDS))
def test_each_bucket_of_a_partition_is_one_file(session: Session, folder: Path, kind: str, keys: str) -> None:
    table, location = new_table(session, folder, kind, "id", keys)
    session.sql(f"INSERT INTO {table} {_ROWS}")
    assert session.sql(f"SELECT count(DISTINCT id), count(*), sum(id) FROM {table}").collect() == [(300, 300, 44850)]
    assert len(files(location)) == (8 if keys else 4)
    session.sql(f"INSERT OVERWRITE {table} {_ROWS}")
    session.sql(f"INSERT INTO {table} {_ROWS}")
    assert session.sql(f"SELECT count(*), sum(id) FROM {table}").collect() == [(600, 2 * 44850)]
    assert session.sql(f"SELECT count(*) FROM {table} WHERE id = 77").collect() == [(2,)]


def test_spark_deals_rows_out_by_hives_hash(session: Session, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Java's function and ours would differ, tasks would share buckets: then files have names of copies."""
    monkeypatch.setattr(writers, "FEW_ROWS", 0)
    for by, version in (("v,c,d,f,t,id,p", 1), ("v,c,d,f,t,id,p", 2), ("c", 1)):
        table, location = new_table(session, folder, "plain", by, buckets=3)
        session.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('bucketing_version' = '{version}')")
        session.sql(f"INSERT INTO {table} {_ROWS}")
        assert not [name for name in files(location) if "copy" in name], (by, version)
        assert session.sql(f"SELECT count(*) FROM {table}").collect() == [(300,)]


def test_changed_rows_go_to_their_new_buckets(session: Session, folder: Path) -> None:
    table, location = new_table(session, folder, "full", "id", "PARTITIONED BY (p)")
    session.sql(f"INSERT INTO {table} {_ROWS}")
    before = set(files(location))
    session.sql(f"UPDATE {table} SET id = id + 1000, p = 1 - p WHERE id % 3 = 0")
    made = set(files(location)) - before
    assert len([name for name in made if "/delete_delta" in name]) == 8
    assert len([name for name in made if "/delta" in name]) == 8
    session.sql(f"DELETE FROM {table} WHERE id < 100")
    session.sql(
        f"MERGE INTO {table} t USING (SELECT id + 1290 AS id FROM range(20)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET id = t.id - 1 WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, 9)"
    )
    model = [n + 1000 if n % 3 == 0 else n for n in range(300)]
    model = [n for n in model if n >= 100]
    source = range(1290, 1310)
    expected = [n - 1 if n in source else n for n in model] + [n for n in source if n not in model]
    assert sorted(row.id for row in session.sql(f"SELECT id FROM {table}").collect()) == sorted(expected)
    for number in (101, 1295, 1302):
        assert session.sql(f"SELECT count(*) FROM {table} WHERE id = {number}").collect() == [(expected.count(number),)]


def test_clauses_make_buckets_whose_rows_are_sorted(session: Session, folder: Path) -> None:
    clauses = "CLUSTERED BY (id) SORTED BY (c, id) INTO 3 BUCKETS"
    (folder / "clauses").mkdir()
    session.sql(
        f"CREATE TABLE hive.s.clauses (id BIGINT, c STRING, p INT) USING orc PARTITIONED BY (p) {clauses} "
        f"LOCATION '{folder / 'clauses'}'"
    )
    session.sql(f"INSERT INTO hive.s.clauses SELECT id, c, p FROM ({_ROWS})")
    found = files(folder / "clauses")
    assert len(found) == 6
    for one in found:
        rows = orc.read_table(folder / "clauses" / one).to_pylist()
        keys = [(row["c"] is not None, row["c"] or "", row["id"]) for row in rows]
        assert keys == sorted(keys)
        assert len(keys) > 30
    assert session.sql("SELECT count(*), sum(id) FROM hive.s.clauses").collect() == [(300, 44850)]
    assert [one.name for one in session.spark.catalog.listColumns("hive.s.clauses") if one.isBucket] == ["id"]
    [[text]] = session.sql("SHOW CREATE TABLE hive.s.clauses").collect()
    assert "PARTITIONED BY (p, sorted_bucket(id, 3, c, id))\n" in text
    session.sql("DROP TABLE hive.s.clauses")
    session.sql(text)
    assert session.sql("SHOW CREATE TABLE hive.s.clauses").collect() == [(text,)]
    assert "bucket" in str(session.sql("DESCRIBE hive.s.clauses").collect())


def test_tables_of_queries_have_buckets(session: Session) -> None:
    rows = session.sql(f"SELECT id, v FROM ({_ROWS})")
    session.sql(
        "CREATE TABLE hive.s.of_query STORED AS ORC CLUSTERED BY (id) SORTED BY (v) INTO 4 BUCKETS TBLPROPERTIES "
        f"('transactional' = 'true', 'transactional_properties' = 'insert_only') AS SELECT id, v FROM ({_ROWS})"
    )
    rows.write.format("orc").bucketBy(4, "id").sortBy("v").saveAsTable("hive.s.of_writer")
    rows.write.format("orc").bucketBy(4, "id").sortBy("v").mode("append").saveAsTable("hive.s.of_writer")
    rows.writeTo("hive.s.of_second_writer").using("orc").partitionedBy(partitioning.bucket(4, col("id"))).create()
    for name, times, order in (("of_query", 1, 1), ("of_writer", 2, 1), ("of_second_writer", 1, 0)):
        assert session.sql(f"SELECT count(*), sum(id) FROM hive.s.{name}").collect() == [(300 * times, 44850 * times)]
        assert session.sql(f"SELECT count(DISTINCT `$bucket`) FROM hive.s.{name}").collect() == [(4,)]
        [[text]] = session.sql(f"SHOW CREATE TABLE hive.s.{name}").collect()
        assert ("sorted_bucket(id, 4, v)" if order else "bucket(4, id)") in text


def test_rows_of_a_partition_come_to_one_file(session: Session, folder: Path) -> None:
    """Of a table without buckets, unless its session would rather not have the rows shuffled."""
    location = folder / "partitions"
    location.mkdir()
    session.sql(f"CREATE TABLE hive.s.parts (id BIGINT, p INT) USING orc PARTITIONED BY (p) LOCATION '{location}'")
    rows = "SELECT id, CAST(id % 5 AS INT) FROM range(0, 1000, 1, 4)"
    session.sql(f"INSERT INTO hive.s.parts {rows}")
    assert len(files(location)) == 5
    session.sql("SET spark.lakeport.hive.preferred_write_partitioning = false")
    try:
        session.sql(f"INSERT INTO hive.s.parts {rows}")
    finally:
        session.sql("RESET spark.lakeport.hive.preferred_write_partitioning")
    assert len(files(location)) == 5 + 20
    assert session.sql("SELECT count(*), sum(id) FROM hive.s.parts").collect() == [(2000, 999000)]
