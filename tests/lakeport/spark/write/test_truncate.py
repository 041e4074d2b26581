"""``TRUNCATE TABLE`` and ``DELETE`` of whole partitions: which rows go, of plain and of transactional tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakeport
from connector_spi.errors import InvalidArgumentError, MetastoreError, NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from connectors.memory.connector import MemoryConnector
from lakeport import Session

_KINDS = {
    "plain": ("parquet", ""),
    "full": ("orc", "TBLPROPERTIES ('transactional' = 'true')"),
    "insert_only": (
        "parquet",
        "TBLPROPERTIES ('transactional' = 'true', 'transactional_properties' = 'insert_only')",
    ),
}


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("truncated")
    (folder / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
    )
    (folder / "mem.properties").write_text("connector.name=memory\n")
    with lakeport.connect(spark.newSession(), folder) as opened:
        opened.sql("CREATE SCHEMA hive.s")
        yield opened


@pytest.fixture(params=_KINDS)
def table(request: pytest.FixtureRequest, session: Session, tmp_path: Path) -> Iterator[str]:
    """A table of two keys with four rows."""
    file_format, more = _KINDS[request.param]
    session.sql(
        f"CREATE TABLE hive.s.t (id INT, d STRING, h INT) USING {file_format} PARTITIONED BY (d, h) "
        f"LOCATION '{tmp_path}' {more}"
    )
    session.sql("INSERT INTO hive.s.t VALUES (1, 'a', 1), (2, 'a', 2), (3, 'b', 1), (4, NULL, 1)")
    yield "hive.s.t"
    session.sql("DROP TABLE hive.s.t")


def ids(session: Session, name: str = "hive.s.t") -> list[int]:
    return sorted(row.id for row in session.sql(f"SELECT id FROM {name}").collect())


@pytest.mark.slow
def test_partitions_and_the_table(session: Session, table: str) -> None:
    session.sql(f"TRUNCATE TABLE {table} PARTITION (d = 'a', h = 2)")
    assert ids(session) == [1, 3, 4]
    session.sql(f"TRUNCATE TABLE {table} PARTITION (d = 'a')")
    assert ids(session) == [3, 4]
    assert len(session.sql(f"SHOW PARTITIONS {table}").collect()) == 4
    with pytest.raises(InvalidArgumentError, match="has no such partition"):
        session.sql(f"TRUNCATE TABLE {table} PARTITION (d = 'none')")
    session.sql(f"TRUNCATE TABLE {table} PARTITION (h = 1)")
    assert ids(session) == []
    session.sql(f"INSERT INTO {table} VALUES (5, 'a', 1), (6, 'n', 1)")
    assert ids(session) == [5, 6]
    session.sql(f"TRUNCATE TABLE {table}")
    assert ids(session) == []
    session.sql(f"TRUNCATE TABLE {table}")
    session.sql(f"INSERT INTO {table} VALUES (7, 'a', 1)")
    assert ids(session) == [7]


@pytest.mark.slow
def test_rows_of_whole_partitions_are_deleted(session: Session, table: str) -> None:
    tracker = session.spark.sparkContext.statusTracker()
    jobs = len(tracker.getJobIdsForGroup(None))
    is_full = "USING orc" in str(session.sql(f"SHOW CREATE TABLE {table}").collect())
    session.sql(f"DELETE FROM {table} WHERE d = 'a' AND h > 1")
    assert is_full or len(tracker.getJobIdsForGroup(None)) == jobs
    assert ids(session) == [1, 3, 4]
    session.sql(f"DELETE FROM {table} WHERE d = 'none'")
    assert ids(session) == [1, 3, 4]
    session.sql(f"DELETE FROM {table} WHERE d IS NULL")
    assert ids(session) == [1, 3]
    for where in (
        "id = 1",
        "d = 'a' AND id = 1",
        "d = 'a' OR h = 1",
        f"d IN (SELECT d FROM {table} WHERE id = 1)",
        "upper(d) = 'A'",
    ):
        if not is_full:
            with pytest.raises(NotSupportedError, match="one by one"):
                session.sql(f"DELETE FROM {table} WHERE {where}")
    assert ids(session) == [1, 3]
    session.sql(f"DELETE FROM {table} WHERE d <> 'b'")
    assert ids(session) == [3]
    session.sql(f"INSERT INTO {table} VALUES (5, 'a', 1)")
    session.sql(f"DELETE FROM {table}")
    assert ids(session) == []
    session.sql(f"INSERT INTO {table} VALUES (6, 'a', 1)")
    assert ids(session) == [6]


def test_a_writer_that_is_not_done_keeps_its_rows(session: Session, tmp_path: Path) -> None:
    session.sql(
        f"CREATE TABLE hive.s.busy (id INT) USING orc LOCATION '{tmp_path}' TBLPROPERTIES ('transactional' = 'true')"
    )
    session.sql("INSERT INTO hive.s.busy VALUES (1)")
    hive = session.catalogs.get("hive")
    assert isinstance(hive, HiveConnector)
    transactions = hive.metastore.transactions
    other = transactions.open_transaction("u", "other")
    transactions.allocate_write_ids([other], "s", "busy")
    with pytest.raises(MetastoreError, match="another writer is at it"):
        session.sql("TRUNCATE TABLE hive.s.busy")
    transactions.abort(other)
    assert ids(session, "hive.s.busy") == [1]
    session.sql("TRUNCATE TABLE hive.s.busy")
    assert ids(session, "hive.s.busy") == []


def test_in_a_block_it_is_done_at_its_end(session: Session) -> None:
    connector = session.catalogs.get("mem")
    assert isinstance(connector, MemoryConnector)
    connector.create_table(SchemaTableName("s", "t"), pa.table({"id": [1]}))
    with session.transaction():
        assert ids(session, "mem.s.t") == [1]
        session.sql("TRUNCATE TABLE mem.s.t")
    assert ids(session, "mem.s.t") == []
    session.sql("TRUNCATE TABLE mem.s.t")
    assert ids(session, "mem.s.t") == []
