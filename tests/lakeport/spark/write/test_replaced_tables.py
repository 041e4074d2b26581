"""Tables that others are put in the place of: readers see the old one or the new one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import lakeport
from connector_spi.errors import NotSupportedError
from lakeport import Session

_PLAIN = "CREATE TABLE hive.s.t USING orc AS SELECT 1 AS a"


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("replaced")
    (folder / "catalogs").mkdir()
    (folder / "catalogs" / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
    )
    with lakeport.connect(spark.newSession(), folder / "catalogs") as opened:
        opened.sql(f"CREATE SCHEMA hive.s LOCATION '{folder / 's'}'")
        yield opened


@pytest.fixture(autouse=True)
def _no_tables(session: Session) -> Iterator[None]:
    yield
    for row in session.sql("SHOW TABLES IN hive.s").collect():
        session.sql(f"DROP TABLE hive.s.{row.tableName}")


def _rows(session: Session, text: str = "SELECT * FROM hive.s.t") -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in session.sql(text).collect()), key=repr)


def _folders(session: Session) -> list[str]:
    """Directories of tables, by the name of their table."""
    location = str(session.sql("DESCRIBE SCHEMA hive.s").where("info_name = 'Location'").collect()[0][1])
    found = [path for path in Path(location.removeprefix("file:").removeprefix("//")).iterdir() if path.is_dir()]
    return sorted(path.name.partition("__new_")[0] for path in found)


def test_a_table_becomes_that_of_another_query(session: Session) -> None:
    session.sql(_PLAIN)
    session.sql(
        "CREATE OR REPLACE TABLE hive.s.t USING parquet COMMENT 'c' AS SELECT 'x' AS b, a + 1 AS a FROM hive.s.t"
    )
    assert _rows(session) == [("x", 2)]
    session.sql("INSERT INTO hive.s.t VALUES ('y', 5)")
    assert _rows(session) == [("x", 2), ("y", 5)]
    assert [row.tableName for row in session.sql("SHOW TABLES IN hive.s").collect()] == ["t"]
    assert _folders(session) == ["t"]


def test_without_a_query_the_new_table_is_empty(session: Session) -> None:
    session.sql(_PLAIN)
    session.sql("REPLACE TABLE hive.s.t (b STRING) USING parquet")
    assert _rows(session) == []
    assert session.table("hive.s.t").columns == ["b"]


def test_one_that_is_not_there_is_created_or_missing(session: Session) -> None:
    session.sql("CREATE OR REPLACE TABLE hive.s.t AS SELECT 7 AS a")
    assert _rows(session) == [(7,)]
    with pytest.raises(AnalysisException, match="nope"):
        session.sql("REPLACE TABLE hive.s.nope AS SELECT 7 AS a")


def test_data_frames_replace_tables(session: Session) -> None:
    frame = session.spark.range(3)
    frame.writeTo("hive.s.t").createOrReplace()
    frame.where("id < 1").writeTo("hive.s.t").using("orc").replace()
    assert _rows(session) == [(0,)]
    frame.selectExpr("id + 5 AS other").write.mode("overwrite").saveAsTable("hive.s.t")
    assert _rows(session, "SELECT other FROM hive.s.t") == [(5,), (6,), (7,)]


def test_a_query_that_fails_leaves_the_old_table(session: Session) -> None:
    session.sql(_PLAIN)
    with pytest.raises(Exception, match="boom"):
        session.sql(
            "CREATE OR REPLACE TABLE hive.s.t AS SELECT if(id = 2, raise_error('boom'), 'x') AS b FROM range(3)"
        )
    assert _rows(session) == [(1,)]
    assert [row.tableName for row in session.sql("SHOW TABLES IN hive.s").collect()] == ["t"]
    assert _folders(session) == ["t"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["PARTITIONED BY (k)", "TBLPROPERTIES ('transactional' = 'true')"])
def test_rows_of_tables_of_the_same_definition_are_replaced(session: Session, kind: str) -> None:
    session.sql(f"CREATE TABLE hive.s.t USING orc {kind} AS SELECT 1 AS a, 'x' AS k")
    session.sql(f"CREATE OR REPLACE TABLE hive.s.t USING orc {kind} AS SELECT a + 1 AS a, 'y' AS k FROM hive.s.t")
    assert _rows(session) == [(2, "y")]
    session.sql(f"REPLACE TABLE hive.s.t (a INT, k STRING) USING orc {kind}")
    assert _rows(session) == []


_KINDS = {
    "plain": "",
    "partitioned": "PARTITIONED BY (k)",
    "acid": "TBLPROPERTIES ('transactional' = 'true')",
    "insert_only": "TBLPROPERTIES ('transactional' = 'true', 'transactional_properties' = 'insert_only')",
    "partitioned_acid": "PARTITIONED BY (k) TBLPROPERTIES ('transactional' = 'true')",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("plain", "partitioned_acid"),
        ("partitioned", "plain"),
        ("partitioned", "partitioned"),
        ("acid", "acid"),
        ("insert_only", "partitioned"),
        ("partitioned_acid", "insert_only"),
        ("partitioned_acid", "partitioned_acid"),
    ],
)
def test_tables_of_all_kinds_become_others(session: Session, before: str, after: str) -> None:
    session.sql(f"CREATE TABLE hive.s.t USING orc {_KINDS[before]} AS SELECT 1 AS a, 'x' AS k")
    session.sql("INSERT INTO hive.s.t VALUES (2, 'y')")
    for added in (10, 100):
        session.sql(
            f"CREATE OR REPLACE TABLE hive.s.t USING orc {_KINDS[after]} "
            f"AS SELECT a + {added} AS a, CAST(a AS STRING) AS b{added}, k FROM hive.s.t"
        )
    expected = [(111, "11", "x"), (112, "12", "y")]
    assert _rows(session, "SELECT a, b100, k FROM hive.s.t") == expected
    session.sql("INSERT INTO hive.s.t BY NAME SELECT 7 AS a, 'z' AS k, 'w' AS b100")
    if "acid" in after:
        session.sql("DELETE FROM hive.s.t WHERE a = 111")
        del expected[0]
    assert _rows(session, "SELECT a, b100, k FROM hive.s.t") == [*expected, (7, "w", "z")]
    assert [row.tableName for row in session.sql("SHOW TABLES IN hive.s").collect()] == ["t"]
    assert _folders(session) == ["t"]


@pytest.mark.slow
def test_a_frame_replaces_the_table_that_it_reads(session: Session) -> None:
    session.sql(f"CREATE TABLE hive.s.t USING orc {_KINDS['acid']} AS SELECT 1 AS a")
    frame = session.table("hive.s.t").selectExpr("a + 1 AS a", "'x' AS b")
    frame.writeTo("hive.s.t").using("orc").tableProperty("transactional", "true").replace()
    assert _rows(session) == [(2, "x")]


@pytest.mark.slow
def test_a_query_that_fails_leaves_the_old_transactional_table(session: Session) -> None:
    session.sql(f"CREATE TABLE hive.s.t USING orc {_KINDS['partitioned_acid']} AS SELECT 1 AS a, 'x' AS k")
    with pytest.raises(Exception, match="boom"):
        session.sql(
            "CREATE OR REPLACE TABLE hive.s.t AS SELECT if(id = 2, raise_error('boom'), 'x') AS b FROM range(3)"
        )
    assert _rows(session) == [(1, "x")]
    assert _folders(session) == ["t"]


def test_files_of_others_are_not_replaced(session: Session, tmp_path: Path) -> None:
    session.sql(f"CREATE TABLE hive.s.t (a INT) USING parquet LOCATION '{tmp_path}'")
    with pytest.raises(NotSupportedError, match="it is an external table"):
        session.sql("CREATE OR REPLACE TABLE hive.s.t AS SELECT 'x' AS b")
    with pytest.raises(NotSupportedError, match="LOCATION"):
        session.sql(f"CREATE OR REPLACE TABLE hive.s.t (b STRING) USING orc LOCATION '{tmp_path / 'o'}'")
