"""Rows that Spark adds to tables: what other readers and we find afterwards, and what is refused."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest
from pyspark import InheritableThread
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import lakeport
from connector_spi.errors import ConnectorError, NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from connectors.memory.connector import MemoryConnector
from lakeport import Session
from lakeport.spark.bridge import writers
from tests.connectors.hive.table_writer import create_table

_FORMATS = ("parquet", "orc")


@dataclass(frozen=True)
class Warehouse:
    """What the tests share: a session with the catalogs ``hive`` and ``mem``, and a folder for files."""

    session: Session
    folder: Path

    @property
    def spark(self) -> SparkSession:
        return self.session.spark

    @property
    def hive(self) -> HiveConnector:
        return cast(HiveConnector, self.session.catalogs.get("hive"))

    @property
    def memory(self) -> MemoryConnector:
        return cast(MemoryConnector, self.session.catalogs.get("mem"))

    def create(self, name: str, columns: str, file_format: str = "parquet", keys: str = "") -> Path:
        """An empty table of the schema ``hive.s``; gives its folder."""
        place = self.folder / name
        place.mkdir()
        self.session.sql("CREATE SCHEMA IF NOT EXISTS hive.s")
        partitioned = f"PARTITIONED BY ({keys})" if keys else ""
        self.session.sql(f"CREATE TABLE hive.s.{name} ({columns}) USING {file_format} {partitioned} LOCATION '{place}'")
        return place

    def rows(self, text: str) -> list[tuple[object, ...]]:
        return sorted((tuple(row) for row in self.session.sql(text).collect()), key=repr)

    def plain(self, place: Path, file_format: str) -> list[tuple[object, ...]]:
        """The rows that Spark's own reader finds."""
        frame: DataFrame = getattr(self.spark.read, file_format)(str(place))
        return sorted((tuple(row) for row in frame.collect()), key=repr)


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    folder = tmp_path_factory.mktemp("written")
    (folder / "catalogs").mkdir()
    (folder / "catalogs" / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
    )
    (folder / "catalogs" / "mem.properties").write_text("connector.name=memory\n")
    with lakeport.connect(spark.newSession(), folder / "catalogs") as opened:
        yield Warehouse(opened, folder)


def files(place: Path) -> list[Path]:
    """All files below a folder, hidden ones, too."""
    return sorted(path for path in place.rglob("*") if path.is_file())


@pytest.mark.parametrize("file_format", _FORMATS)
def test_rows_of_every_type_are_those_that_were_given(
    warehouse: Warehouse, file_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first insert is written by tasks, the second by the driver."""
    monkeypatch.setattr(writers, "FEW_ROWS", 10)
    place = warehouse.create(
        f"types_{file_format}",
        "b BOOLEAN, t TINYINT, s SMALLINT, i INT, n BIGINT, f FLOAT, d DOUBLE, p DECIMAL(38, 4), name STRING, "
        "raw BINARY, day DATE, at TIMESTAMP_NTZ, c CHAR(4), v VARCHAR(4), l ARRAY<STRING>, m MAP<STRING, INT>, "
        "o STRUCT<x: INT, y: STRUCT<z: ARRAY<INT>>>",
        file_format,
    )
    query = """
        SELECT id = 1, id, id, id, id * 1000000007, id / 2, CAST(id / 3 AS DOUBLE), id / 7, concat('é', id),
            CAST(concat('r', id) AS BINARY), date_add(DATE'2024-02-28', CAST(id AS INT)),
            TIMESTAMP_NTZ'2024-03-31 02:30:00.123456' + make_interval(0, 0, 0, 0, CAST(id AS INT)),
            CAST(id AS STRING), 'four', array('a', NULL, CAST(id AS STRING)), map('k', CAST(id AS INT), 'none', NULL),
            named_struct('x', CAST(id AS INT), 'y', named_struct('z', array(1, NULL)))
        FROM range(0, 40, 1, 3)"""
    names = [column.name for column in warehouse.session.spark.table(f"hive.s.types_{file_format}").schema]
    warehouse.session.sql(f"INSERT INTO hive.s.types_{file_format} {query}")
    nulls = ", ".join("NULL" for _ in names)
    warehouse.session.sql(f"INSERT INTO hive.s.types_{file_format} VALUES ({nulls})")
    given = warehouse.spark.sql(query).toDF(*names)
    typed = given.select(*(given[name].cast(kind) for name, kind in _kinds(warehouse, f"types_{file_format}")))
    wanted = sorted([*(tuple(row) for row in typed.collect()), (None,) * len(names)], key=repr)
    assert warehouse.plain(place, file_format) == wanted
    char = names.index("c")
    ours = [
        tuple(
            value.rstrip(" ") if index == char and isinstance(value, str) else value for index, value in enumerate(row)
        )
        for row in warehouse.rows(f"SELECT * FROM hive.s.types_{file_format}")
    ]
    assert sorted(ours, key=repr) == wanted
    arrow = warehouse.session.arrow(f"hive.s.types_{file_format}", columns=["n", "at"]).read_all()
    first = dt.datetime(2024, 3, 31, 2, 30, 0, 123456)
    assert sorted((row["n"], row["at"]) for row in arrow.drop_null().to_pylist()) == [
        (n * 1000000007, first + dt.timedelta(hours=n)) for n in range(40)
    ]


def _kinds(warehouse: Warehouse, name: str) -> list[tuple[str, str]]:
    schema = warehouse.spark.table(f"hive.s.{name}").schema
    return [(field.name, field.dataType.simpleString()) for field in schema]


def test_statements_and_frames_that_add(warehouse: Warehouse) -> None:
    place = warehouse.create("ways", "id INT, name STRING")
    sql, spark = warehouse.session.sql, warehouse.spark
    sql("INSERT INTO hive.s.ways VALUES (1, 'values')")
    sql("INSERT INTO TABLE hive.s.ways (name, id) SELECT 'named', 2")
    sql("INSERT INTO hive.s.ways BY NAME SELECT 'by name' AS name, 3 AS id")
    sql("INSERT INTO hive.s.ways (id) VALUES (4)")
    sql("WITH q AS (SELECT 5, 'with') INSERT INTO hive.s.ways SELECT * FROM q")
    spark.sql("INSERT INTO hive.s.ways SELECT 6, 'plain spark.sql'")
    spark.sql("SELECT 'writeTo' AS name, 7 AS id").writeTo("hive.s.ways").append()
    spark.sql("SELECT 8, 'insertInto'").write.insertInto("hive.s.ways")
    spark.sql("SELECT 'saveAsTable' AS name, 9 AS id").write.mode("append").saveAsTable("hive.s.ways")
    sql("FROM range(10, 11) INSERT INTO hive.s.ways SELECT id, 'a' INSERT INTO hive.s.ways SELECT id, 'b'")
    wanted = sorted(
        [
            (1, "values"), (2, "named"), (3, "by name"), (4, None), (5, "with"), (6, "plain spark.sql"), (7, "writeTo"),
            (8, "insertInto"), (9, "saveAsTable"), (10, "a"), (10, "b"),
        ],
        key=repr,
    )  # fmt: skip
    assert warehouse.plain(place, "parquet") == wanted
    assert warehouse.rows("SELECT * FROM hive.s.ways") == wanted
    sql("INSERT INTO hive.s.ways SELECT id + 100, name FROM hive.s.ways")
    assert warehouse.rows("SELECT count(*), count(DISTINCT id) FROM hive.s.ways") == [(22, 20)]
    before = files(place)
    sql("INSERT INTO hive.s.ways SELECT * FROM hive.s.ways WHERE id < 0")
    sql("INSERT INTO hive.s.ways SELECT id, 'none' FROM range(0)")
    assert files(place) == before
    assert [path for path in place.iterdir() if path.name.startswith(".lakeport")] == []


def test_explaining_adds_nothing(warehouse: Warehouse) -> None:
    place = warehouse.create("explained", "id INT")
    ((text,),) = warehouse.rows("EXPLAIN INSERT INTO hive.s.explained VALUES (1)")
    assert "insert into hive.s.explained" in str(text)
    assert list(place.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("file_format", _FORMATS)
def test_partitions(warehouse: Warehouse, file_format: str) -> None:
    name = f"parted_{file_format}"
    place = warehouse.create(name, "id INT, day DATE, p STRING", file_format, "day, p")
    sql = warehouse.session.sql
    sql(f"INSERT INTO hive.s.{name} SELECT 1, DATE'2024-01-01', 'x'")
    sql(f"INSERT INTO hive.s.{name} PARTITION (day = DATE'2024-01-02', p = 'a/b=c') SELECT 2")
    sql(f"INSERT INTO hive.s.{name} PARTITION (day = DATE'2024-01-01', p) SELECT 3, NULL")
    sql(f"INSERT INTO hive.s.{name} PARTITION (p, day) SELECT 4, DATE'2024-01-01', 'x'")
    sql(f"INSERT INTO hive.s.{name} SELECT id, DATE'2024-02-01', concat('p', id % 20) FROM range(100, 140)")
    first, feb = dt.date(2024, 1, 1), dt.date(2024, 2, 1)
    wanted: list[tuple[object, ...]] = [(1, first, "x"), (2, dt.date(2024, 1, 2), "a/b=c"), (3, first, None)]
    wanted += [(4, first, "x"), *((n, feb, f"p{n % 20}") for n in range(100, 140))]
    assert warehouse.plain(place, file_format) == sorted(wanted, key=repr)
    assert warehouse.rows(f"SELECT * FROM hive.s.{name}") == sorted(wanted, key=repr)
    assert warehouse.rows(f"SELECT * FROM hive.s.{name} WHERE p = 'a/b=c'") == [wanted[1]]
    assert len(warehouse.rows(f"SHOW PARTITIONS hive.s.{name}")) == 23


@pytest.mark.slow
def test_casts_as_spark_assigns(warehouse: Warehouse) -> None:
    warehouse.create("assigned", "id TINYINT, price DECIMAL(4, 1), name VARCHAR(2)")
    sql = warehouse.session.sql
    sql("INSERT INTO hive.s.assigned SELECT 7L, 1.25D, 12")
    assert [str(value) for value in warehouse.rows("SELECT * FROM hive.s.assigned")[0]] == ["7", "1.3", "12"]
    with pytest.raises(Exception, match="CAST_OVERFLOW_IN_TABLE_INSERT"):
        sql("INSERT INTO hive.s.assigned SELECT 300, 1, 'a'")
    with pytest.raises(AnalysisException, match="CANNOT_SAFELY_CAST"):
        sql("INSERT INTO hive.s.assigned SELECT 'x', 1, 'a'")
    with pytest.raises(Exception, match="EXCEED_LIMIT_LENGTH"):
        sql("INSERT INTO hive.s.assigned SELECT 1, 1, 'abc'")
    with pytest.raises(AnalysisException, match="EXTRA_COLUMNS"):
        sql("INSERT INTO hive.s.assigned BY NAME SELECT 1 AS id, 2 AS other")
    with pytest.raises(AnalysisException, match="INSERT_COLUMN_ARITY_MISMATCH"):
        sql("INSERT INTO hive.s.assigned SELECT 1")
    assert warehouse.rows("SELECT count(*) FROM hive.s.assigned") == [(1,)]


@pytest.mark.slow
def test_a_task_that_fails_leaves_nothing(warehouse: Warehouse) -> None:
    place = warehouse.create("failed", "id INT, at TIMESTAMP_NTZ", "orc")
    query = "SELECT id, TIMESTAMP_NTZ'2024-01-01 00:00:00' FROM range(0, 1000, 1, 4)"
    with pytest.raises(Exception, match="boom"):
        warehouse.session.sql(
            f"INSERT INTO hive.s.failed SELECT if(id < 900, id, raise_error('boom')), * EXCEPT (id) FROM ({query})"
        )
    early = "SELECT 1, TIMESTAMP_NTZ'1500-01-01 00:00:00'"
    with pytest.raises(NotSupportedError, match="'at' has a time before 1582-10-15"):
        warehouse.session.sql(f"INSERT INTO hive.s.failed {query} UNION ALL {early}")
    assert list(place.iterdir()) == []
    assert warehouse.rows("SELECT * FROM hive.s.failed") == []
    warehouse.session.sql(f"INSERT INTO hive.s.failed {query}")
    assert warehouse.rows("SELECT count(*) FROM hive.s.failed") == [(1000,)]


def test_a_query_that_fails_before_its_first_writing_task_ends_the_insert(warehouse: Warehouse) -> None:
    """Spark aborts a write only from its own job on."""
    warehouse.memory.create_table(SchemaTableName("s", "shuffled"), pa.table({"id": pa.array([], pa.int64())}), ())
    before = warehouse.memory.transactions.rolled_back
    failing = "SELECT sum(if(id < 10, id, raise_error('boom'))) AS id FROM range(20) GROUP BY id % 3"
    with pytest.raises(Exception, match="boom"):
        warehouse.spark.sql(f"INSERT INTO mem.s.shuffled {failing}")
    assert until(lambda: warehouse.memory.transactions.rolled_back > before)
    assert warehouse.rows("SELECT * FROM mem.s.shuffled") == []


def test_a_cancelled_insert_adds_nothing(warehouse: Warehouse) -> None:
    place = warehouse.create("cancelled", "id BIGINT")
    context = warehouse.spark.sparkContext
    slow = "SELECT id FROM range(0, 100000, 1, 2) WHERE java_method('java.lang.Thread', 'sleep', 10L) IS NOT NULL"
    failed: list[Exception] = []

    def insert() -> None:
        context.setJobGroup("a slow insert", "a slow insert", interruptOnCancel=True)
        try:
            warehouse.spark.sql(f"INSERT INTO hive.s.cancelled {slow}")
        except Exception as error:
            failed.append(error)

    thread = InheritableThread(target=insert)
    thread.start()
    assert until(lambda: bool(context.statusTracker().getJobIdsForGroup("a slow insert")))
    context.cancelJobGroup("a slow insert")
    thread.join(60)
    assert len(failed) == 1
    assert [path for path in files(place) if not path.relative_to(place).parts[0].startswith(".")] == []
    assert warehouse.rows("SELECT * FROM hive.s.cancelled") == []


def until(condition: Callable[[], bool]) -> bool:
    """Waits for something that another thread does; whether it has come."""
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.slow
def test_a_commit_that_fails_leaves_nothing(warehouse: Warehouse) -> None:
    """Files where a new partition would be are not its rows; the metastore is asked only at the commit."""
    place = warehouse.create("stray", "id INT, p STRING", keys="p")
    (place / "p=b").mkdir()
    (place / "p=b" / "stray").write_text("x")
    with pytest.raises(ConnectorError, match="there are files in"):
        warehouse.session.sql("INSERT INTO hive.s.stray VALUES (1, 'a'), (2, 'b')")
    assert files(place) == [place / "p=b" / "stray"]
    assert warehouse.rows("SELECT * FROM hive.s.stray") == []


def test_a_table_that_refuses_does_so_before_any_job(warehouse: Warehouse) -> None:
    warehouse.session.sql("CREATE SCHEMA IF NOT EXISTS hive.s")
    rows = pa.table({"id": pa.array([1], pa.int32())})
    bucketed = {"spark.sql.sources.schema.numBuckets": "2"}
    create_table(warehouse.hive.metastore, warehouse.folder, "s", "bucketed", rows, parameters=bucketed)
    frame = warehouse.spark.sql("SELECT 1 AS id")
    with pytest.raises(NotSupportedError, match=r"rows cannot be added to s\.bucketed: it is bucketed"):
        warehouse.session.sql("INSERT INTO hive.s.bucketed SELECT raise_error('a job ran')")
    for write in (frame.writeTo("hive.s.bucketed").append, lambda: frame.write.insertInto("hive.s.bucketed")):
        with pytest.raises(Exception, match="it is bucketed") as caught:
            write()
        assert type(caught.value).__module__ == "pyspark.errors.exceptions.captured"


@pytest.mark.slow
def test_rows_of_any_connector_that_merges_are_changed(warehouse: Warehouse) -> None:
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "s": ["a", "b", "c"]})
    warehouse.memory.create_table(SchemaTableName("default", "changed"), rows)
    session = warehouse.session
    session.sql("DELETE FROM mem.default.changed WHERE id = 1")
    session.sql("UPDATE mem.default.changed SET s = concat(s, id) WHERE id = 2")
    session.sql(
        "MERGE INTO mem.default.changed t USING (SELECT 3 AS id UNION ALL SELECT 4) n ON t.id = n.id "
        "WHEN MATCHED THEN UPDATE SET s = 'merged' WHEN NOT MATCHED THEN INSERT (id) VALUES (n.id)"
    )
    wanted = sorted([(2, "b2"), (3, "merged"), (4, None)], key=repr)
    assert warehouse.rows("SELECT * FROM mem.default.changed") == wanted
    found = session.changes("mem.default.changed", 3).read_all().select(["id", "_change_type"])
    assert {(row["id"], row["_change_type"]) for row in found.to_pylist()} >= {(4, "insert")}


def test_programs_do_not_replace_tables_over_files_of_others(warehouse: Warehouse) -> None:
    warehouse.create("kept", "id INT")
    warehouse.session.sql("INSERT INTO hive.s.kept VALUES (1)")
    frame = warehouse.spark.sql("SELECT 2 AS id, 'b' AS name")
    tried: list[Callable[[], None]] = [
        lambda: frame.write.mode("overwrite").saveAsTable("hive.s.kept"),
        frame.writeTo("hive.s.kept").replace,
        frame.writeTo("hive.s.kept").createOrReplace,
    ]
    for write in tried:
        with pytest.raises(Exception, match=r"it is an external table.* INSERT OVERWRITE"):
            write()
    assert warehouse.rows("SELECT * FROM hive.s.kept") == [(1,)]


@pytest.mark.slow
def test_rows_of_a_block_are_there_at_its_end(warehouse: Warehouse) -> None:
    warehouse.session.sql("CREATE SCHEMA IF NOT EXISTS hive.s")
    places = [warehouse.folder / name for name in ("block", "blocked")]
    for place in places:
        place.mkdir()
        warehouse.session.sql(
            f"CREATE TABLE hive.s.{place.name} (id INT) USING orc LOCATION '{place}' "
            "TBLPROPERTIES ('transactional' = 'true')"
        )
    session, frame = warehouse.session, warehouse.spark.sql("SELECT 2 AS id")
    warehouse.session.sql("INSERT INTO hive.s.blocked VALUES (1), (2)")
    with session.transaction():
        session.sql("INSERT INTO hive.s.block SELECT * FROM hive.s.blocked")
        frame.writeTo("hive.s.block").append()
        session.sql("UPDATE hive.s.blocked SET id = 3 WHERE id = 2")
        with pytest.raises(Exception, match="has written to it"):
            session.sql("UPDATE hive.s.blocked SET id = 4 WHERE id = 1")
        with pytest.raises(Exception, match="has written to it"):
            session.sql("SELECT * FROM hive.s.block").collect()
        session.sql("INSERT INTO hive.s.blocked VALUES (5)")
        assert not any(path.name.startswith("delta_0000002") for place in places for path in place.iterdir())
    assert sorted(warehouse.rows("SELECT * FROM hive.s.block")) == [(1,), (2,), (2,)]
    assert sorted(warehouse.rows("SELECT * FROM hive.s.blocked")) == [(1,), (3,), (5,)]
    with session.statement_block():
        session.sql("INSERT INTO hive.s.block VALUES (6)")
    assert len(warehouse.rows("SELECT * FROM hive.s.block")) == 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", [{}, {"transactional_properties": "insert_only"}], ids=["full", "insert_only"])
def test_transactional_tables(warehouse: Warehouse, kind: dict[str, str]) -> None:
    name = f"acid_{len(kind)}"
    empty = pa.table({"id": pa.array([], pa.int64()), "p": pa.array([], pa.string())})
    parameters = {"transactional": "true", **kind}
    create_table(
        warehouse.hive.metastore, warehouse.folder, "s", name, empty, ["p"], file_format="orc", parameters=parameters
    )
    place = warehouse.folder / "s" / name
    sql, transactions = warehouse.session.sql, warehouse.hive.metastore.transactions
    sql(f"INSERT INTO hive.s.{name} SELECT id, if(id < 5, 'x', 'y') FROM range(0, 10, 1, 3)")
    before = files(place)
    failing = "SELECT if(id < 8, id, raise_error('boom')), 'x' FROM range(0, 10, 1, 3)"
    with pytest.raises(Exception, match="boom"):
        sql(f"INSERT INTO hive.s.{name} {failing}")
    assert files(place) == before
    sql(f"INSERT INTO hive.s.{name} SELECT id + 100, p FROM hive.s.{name} WHERE p = 'x'")
    wanted = [*((n, "x" if n < 5 else "y") for n in range(10)), *((n, "x") for n in range(100, 105))]
    assert warehouse.rows(f"SELECT * FROM hive.s.{name}") == sorted(wanted, key=repr)
    if not kind:
        # As in Hive, row ids are those of one partition.
        ids = warehouse.rows(f"SELECT DISTINCT p, `$row_id` FROM hive.s.{name}")
        assert len(ids) == len(wanted)
    assert until(lambda: not transactions.get_valid_transactions().open and not transactions.show_locks("s", name))


def test_tables_in_memory(warehouse: Warehouse) -> None:
    data = pa.table({"id": pa.array([1], pa.int64()), "name": ["a"]})
    warehouse.memory.create_table(SchemaTableName("s", "t"), data, ("name",))
    before = warehouse.memory.transactions.rolled_back
    warehouse.session.sql("INSERT INTO mem.s.t SELECT id, concat('n', id) FROM range(2, 5, 1, 2)")
    with pytest.raises(Exception, match="boom"):
        warehouse.session.sql("INSERT INTO mem.s.t SELECT id, raise_error('boom') FROM range(2, 5, 1, 2)")
    warehouse.session.sql("INSERT INTO mem.s.t SELECT * FROM mem.s.t WHERE id = 4")
    assert warehouse.rows("SELECT * FROM mem.s.t") == [(1, "a"), (2, "n2"), (3, "n3"), (4, "n4"), (4, "n4")]
    assert warehouse.memory.transactions.rolled_back > before
