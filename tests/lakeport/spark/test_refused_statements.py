"""Statements that Spark or a catalog refuses: who refuses, and what to use instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import lakeport
from connector_spi.errors import FileMissingError, NotSupportedError, TableNotFoundError
from connectors.hive.connector import HiveConnector
from lakeport import Session
from tests.connectors.hive.table_writer import create_table

ROWS = pa.table({"id": [1, 2], "ds": ["a", "b"]})


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("refused")
    (folder / "catalogs").mkdir()
    (folder / "catalogs" / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
    )
    with lakeport.connect(spark.newSession(), folder / "catalogs") as opened:
        metastore = cast(HiveConnector, opened.catalogs.get("hive")).metastore
        create_table(metastore, folder, "s", "t", ROWS, ["ds"])
        yield opened


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("TRUNCATE TABLE hive.s.`t$partitions`", "TRUNCATE TABLE is refused"),
        ("LOAD DATA INPATH '/x' INTO TABLE hive.s.t", "does not write rows: LOAD DATA is refused"),
        ("MSCK REPAIR TABLE hive.s.t", r"CALL hive.system.sync_partition_metadata\(schema_name => 's'"),
        ("ALTER TABLE hive.s.t RECOVER PARTITIONS", "CALL hive.system.sync_partition_metadata"),
        ("ANALYZE TABLE hive.s.`t$partitions` COMPUTE STATISTICS", "keeps no statistics"),
        ("ANALYZE TABLES IN hive.s COMPUTE STATISTICS", "has no ANALYZE TABLES"),
        ("CREATE VIEW hive.s.v AS SELECT 1 AS a", "CREATE TEMPORARY VIEW"),
        ("ALTER VIEW hive.s.t AS SELECT 1 AS a", "has no ALTER VIEW"),
        ("DROP VIEW hive.s.t", "DROP TABLE hive.s.t"),
        ("SHOW VIEWS IN hive.s", "SHOW TABLES IN hive.s lists views, too"),
        ("ALTER TABLE hive.s.t PARTITION (ds = 'a') RENAME TO PARTITION (ds = 'c')", "has no RENAME PARTITION"),
        ("ALTER TABLE hive.s.t SET SERDEPROPERTIES ('a' = 'b')", "has no SET SERDE"),
        ("CREATE INDEX i ON hive.s.t (id)", "has no CREATE INDEX"),
        ("SHOW CREATE TABLE hive.s.t AS SERDE", "SHOW CREATE TABLE hive.s.t shows it"),
        ("INSERT INTO hive.s.`t$partitions` VALUES ('a')", "is a system table, which takes no rows"),
        ("INSERT INTO hive.s.t REPLACE WHERE id = 1 SELECT 1, 'a'", "'id' is no partition key; .*a condition on ds"),
        (
            "CREATE OR REPLACE TABLE hive.s.t USING orc AS SELECT 1 AS a",
            "an external table.* INSERT OVERWRITE it",
        ),
        ("UPDATE hive.s.t SET id = 1", "not a transactional table, .* INSERT OVERWRITE"),
        ("DELETE FROM hive.s.t WHERE id = 1", "not a transactional table, .* INSERT OVERWRITE"),
        (
            "MERGE INTO hive.s.t USING (SELECT 1 AS id) n ON t.id = n.id WHEN MATCHED THEN UPDATE SET id = 2",
            "not a transactional table, .* INSERT OVERWRITE",
        ),
    ],
)
def test_what_is_refused_says_what_to_use(session: Session, text: str, says: str) -> None:
    with pytest.raises(NotSupportedError, match=says):
        session.sql(text)


def test_a_name_that_is_not_there_comes_first(session: Session) -> None:
    with pytest.raises(TableNotFoundError, match="tt"):
        session.sql("TRUNCATE TABLE hive.s.tt")


def test_other_catalogs_keep_sparks_words(session: Session) -> None:
    with pytest.raises(AnalysisException):
        session.sql("TRUNCATE TABLE spark_catalog.default.nope")


def test_a_schema_that_is_there_is_sparks_error(session: Session) -> None:
    session.sql("CREATE SCHEMA IF NOT EXISTS hive.s")
    with pytest.raises(AnalysisException, match="SCHEMA_ALREADY_EXISTS"):
        session.sql("CREATE SCHEMA hive.s")


def test_a_partition_without_a_directory_is_ours_to_refuse(session: Session) -> None:
    """Spark calls a default method of the interface, and that calls us."""
    with pytest.raises(FileMissingError, match=r"ds=z of s\.t does not exist"):
        session.sql("ALTER TABLE hive.s.t ADD PARTITION (ds = 'z')")
