"""Tables that Spark makes in directories of their own, empty or of a query."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import lakeport
from connector_spi.errors import NotSupportedError, UserError
from lakeport import Session

_QUERY = "SELECT id, concat('n', id) AS name, id % 2 = 0 AS even, CAST(id / 7 AS DECIMAL(10, 2)) AS price FROM range(9)"
_TRANSACTIONAL = "TBLPROPERTIES ('transactional' = 'true')"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("created")


@pytest.fixture(scope="module")
def session(spark: SparkSession, folder: Path) -> Iterator[Session]:
    (folder / "catalogs").mkdir()
    (folder / "catalogs" / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
    )
    with lakeport.connect(spark.newSession(), folder / "catalogs") as opened:
        opened.sql(f"CREATE SCHEMA hive.s LOCATION '{folder / 's'}'")
        yield opened


def _rows(session: Session, text: str) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in session.sql(text).collect()), key=repr)


def _tables(session: Session) -> list[str]:
    return [row.tableName for row in session.sql("SHOW TABLES IN hive.s").collect()]


@pytest.mark.parametrize("how", ["", "USING parquet", "USING orc", "STORED AS PARQUET", _TRANSACTIONAL])
def test_a_table_has_the_rows_of_its_query(session: Session, folder: Path, how: str) -> None:
    session.sql(f"CREATE TABLE hive.s.made {how} AS {_QUERY}")
    assert _rows(session, "SELECT * FROM hive.s.made") == _rows(session, _QUERY)
    assert (folder / "s" / "made").is_dir()
    session.sql(f"INSERT INTO hive.s.made {_QUERY}")
    assert session.sql("SELECT count(*) FROM hive.s.made").first() == (18,)
    if how == _TRANSACTIONAL:
        session.sql("DELETE FROM hive.s.made WHERE even")
        assert session.sql("SELECT count(*) FROM hive.s.made").first() == (8,)
    session.sql("DROP TABLE hive.s.made")
    assert not (folder / "s" / "made").exists()


@pytest.mark.parametrize("properties", ["", _TRANSACTIONAL])
def test_partitions_of_the_query_are_those_of_the_table(session: Session, properties: str) -> None:
    session.sql(f"CREATE TABLE hive.s.parts PARTITIONED BY (even) COMMENT 'halves' {properties} AS {_QUERY}")
    assert _rows(session, "SHOW PARTITIONS hive.s.parts") == [("even=false",), ("even=true",)]
    columns = "id, name, even, price"
    assert _rows(session, f"SELECT {columns} FROM hive.s.parts") == _rows(session, _QUERY)
    session.sql("DROP TABLE hive.s.parts")


def test_data_frames_make_tables(session: Session) -> None:
    frame = session.spark.sql(_QUERY)
    frame.writeTo("hive.s.framed").using("parquet").create()
    frame.write.format("orc").saveAsTable("hive.s.saved")
    frame.write.format("orc").mode("append").saveAsTable("hive.s.saved")
    assert session.sql("SELECT count(*) FROM hive.s.framed").first() == (9,)
    assert session.sql("SELECT count(*) FROM hive.s.saved").first() == (18,)
    for name in ("framed", "saved"):
        session.sql(f"DROP TABLE hive.s.{name}")


def test_a_table_may_be_made_of_itself_under_another_name(session: Session) -> None:
    session.sql(f"CREATE TABLE hive.s.one AS {_QUERY}")
    session.sql("CREATE TABLE hive.s.two AS SELECT a.* FROM hive.s.one a JOIN hive.s.one b ON a.id = b.id")
    assert _rows(session, "SELECT * FROM hive.s.two") == _rows(session, _QUERY)
    session.sql("DROP TABLE hive.s.one")
    session.sql("DROP TABLE hive.s.two")


@pytest.mark.slow
@pytest.mark.parametrize("properties", ["", _TRANSACTIONAL])
def test_a_query_that_fails_leaves_no_table(session: Session, folder: Path, properties: str) -> None:
    with pytest.raises(Exception, match="too many"):
        session.sql(
            f"CREATE TABLE hive.s.failed {properties} AS SELECT CASE WHEN id = 900 THEN raise_error('too many') "
            "ELSE CAST(id AS STRING) END AS x FROM range(0, 1000, 1, 4)"
        )
    assert "failed" not in _tables(session)
    assert not (folder / "s" / "failed").exists()


@pytest.mark.slow
def test_a_table_that_is_there_stays(session: Session) -> None:
    session.sql("CREATE TABLE hive.s.there AS SELECT 1 AS a")
    session.sql("CREATE TABLE IF NOT EXISTS hive.s.there AS SELECT 2 AS a")
    for text in ("CREATE TABLE hive.s.there AS SELECT 3 AS a", "CREATE TABLE hive.s.there (b INT)"):
        with pytest.raises(AnalysisException, match="there"):
            session.sql(text)
    assert _rows(session, "SELECT * FROM hive.s.there") == [(1,)]
    session.sql("DROP TABLE hive.s.there")


def test_an_empty_table_takes_rows(session: Session) -> None:
    session.sql("CREATE TABLE hive.s.empty (id BIGINT, name VARCHAR(3), ds DATE) PARTITIONED BY (ds)")
    assert _rows(session, "SELECT * FROM hive.s.empty") == []
    session.sql("INSERT INTO hive.s.empty VALUES (1, 'abc', DATE'2024-02-29')")
    assert session.arrow("hive.s.empty").read_all().num_rows == 1
    session.sql("DROP TABLE hive.s.empty")


def test_files_of_others_do_not_become_rows(session: Session, folder: Path) -> None:
    (folder / "s" / "taken").mkdir(parents=True)
    (folder / "s" / "taken" / "part-0").write_text("1")
    for text in ("CREATE TABLE hive.s.taken (a INT)", "CREATE TABLE hive.s.taken AS SELECT 1 AS a"):
        with pytest.raises(UserError, match=r"taken is not empty; say LOCATION"):
            session.sql(text)
    assert "taken" not in _tables(session)
    assert (folder / "s" / "taken" / "part-0").read_text() == "1"


def test_types_and_formats_that_cannot_be_written_leave_no_table(session: Session) -> None:
    for text in (
        "CREATE TABLE hive.s.never USING avro AS SELECT map(1, 1) AS a",
        "CREATE TABLE hive.s.never AS SELECT INTERVAL '1' DAY AS a",
        "CREATE TABLE hive.s.never USING orc CLUSTERED BY (a) SORTED BY (a) INTO 2 BUCKETS "
        "TBLPROPERTIES ('transactional' = 'true') AS SELECT 1 AS a",
    ):
        with pytest.raises(NotSupportedError):
            session.sql(text)
        assert "never" not in _tables(session)
