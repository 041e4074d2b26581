"""``INSERT OVERWRITE``, ``PARTITION`` and ``CREATE TABLE AS`` by the engine duckdb, over Hive tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.metastore.model import Database
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import ConnectorError, InvalidArgumentError, NotSupportedError
from connectors.hive.connector import HiveConnector, HivePlugin
from lakeport.duckdb.session import LocalSession

_QUERY = "SELECT 1 AS id, 'a' AS ds, 1 AS n UNION ALL SELECT 2, 'b', 1 UNION ALL SELECT 3, 'b', 2"
_CREATE = (
    f"CREATE TABLE hive.s.t USING parquet PARTITIONED BY (ds, n) COMMENT 'c' TBLPROPERTIES ('k' = 'v') AS {_QUERY}"
)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LocalSession]:
    registry = CatalogRegistry(PluginSet.of(HivePlugin()), "test")
    path = str(tmp_path / "m.db")
    registry.register("hive", "hive", {"hive.metastore": "embedded", "hive.metastore.embedded.path": path})
    with LocalSession(registry) as made:
        hive(made).metastore.writes.create_database(Database("s", location=f"file://{tmp_path / 's'}"))
        made.sql(_CREATE)
        yield made


def hive(session: LocalSession) -> HiveConnector:
    connector = session.catalogs.get("hive")
    assert isinstance(connector, HiveConnector)
    return connector


def rows(session: LocalSession) -> list[tuple[object, ...]]:
    return session.sql("SELECT id, ds, n FROM hive.s.t ORDER BY id, ds, n").fetchall()


def test_a_table_has_the_rows_of_its_query(session: LocalSession) -> None:
    assert rows(session) == [(1, "a", 1), (2, "b", 1), (3, "b", 2)]
    table = hive(session).metastore.reads.get_table("s", "t")
    assert table is not None
    assert [key.name for key in table.partition_keys] == ["ds", "n"]
    assert (table.parameters["comment"], table.parameters["k"]) == ("c", "v")
    assert "parquet" in str(table.storage.input_format)


def test_a_table_of_a_query_has_buckets(session: LocalSession) -> None:
    clauses = "CLUSTERED BY (id) SORTED BY (n) INTO 2 BUCKETS"
    session.sql(f"CREATE TABLE hive.s.b USING orc {clauses} AS {_QUERY}")
    [(text,)] = session.sql("SHOW CREATE TABLE hive.s.b").fetchall()
    assert "PARTITIONED BY (sorted_bucket(id, 2, n))\n" in str(text)
    found = session.sql("SELECT id FROM hive.s.b WHERE id = 2").fetchall()
    assert found == [(2,)]


def test_a_query_that_fails_leaves_no_table(session: LocalSession) -> None:
    with pytest.raises(ConnectorError, match="division by zero"):
        session.sql("CREATE TABLE hive.s.u AS SELECT id / 0 AS x FROM hive.s.t")
    assert hive(session).metastore.reads.get_table("s", "u") is None


def test_all_rows_are_replaced(session: LocalSession) -> None:
    session.sql("INSERT OVERWRITE hive.s.t SELECT id + 10, ds, n FROM hive.s.t WHERE ds = 'a'")
    assert rows(session) == [(11, "a", 1)]


def test_rows_of_a_partition_are_added_and_replaced(session: LocalSession) -> None:
    session.sql("INSERT INTO hive.s.t PARTITION (ds = 'b', n = 1) VALUES (7)")
    assert rows(session) == [(1, "a", 1), (2, "b", 1), (3, "b", 2), (7, "b", 1)]
    session.sql("INSERT OVERWRITE TABLE hive.s.t PARTITION (ds = 'b', n = 1) SELECT 8")
    assert rows(session) == [(1, "a", 1), (3, "b", 2), (8, "b", 1)]
    session.sql("INSERT OVERWRITE hive.s.t PARTITION (ds = 'b', n) VALUES (9, 5)")
    assert rows(session) == [(1, "a", 1), (9, "b", 5)]
    session.sql("INSERT INTO hive.s.t PARTITION (ds = NULL, n = -3) VALUES (10)")
    assert rows(session)[-1] == (10, None, -3)
    session.sql("INSERT INTO hive.s.t PARTITION (ds = 'it''s', n = 007) VALUES (11)")
    session.sql("INSERT INTO hive.s.t PARTITION (ds = 010, n = 1) VALUES (12)")
    assert {(11, "it's", 7), (12, "10", 1)} <= set(rows(session))


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("INSERT INTO hive.s.t PARTITION (id = 1) SELECT 'x', 1", InvalidArgumentError, "no partition key of hive.s.t"),
        ("INSERT INTO hive.s.t PARTITION (n = 'x') SELECT 1, 'a'", InvalidArgumentError, "which is no int32"),
        ("INSERT INTO hive.s.t PARTITION (ds = 'a', n) SELECT 1", InvalidArgumentError, "the query has 1 columns"),
        ("INSERT INTO hive.s.t PARTITION (ds = upper('a')) SELECT 1, 1", NotSupportedError, "a key's value is a text"),
        ("CREATE OR REPLACE TABLE hive.s.t AS SELECT 1 AS a", NotSupportedError, "CREATE TABLE table"),
        ("CREATE TABLE hive.s.u LOCATION '/x' AS SELECT 1 AS a", NotSupportedError, "CREATE TABLE table"),
        ("CREATE TABLE hive.s.u (a INT)", NotSupportedError, "CREATE TABLE table"),
        ("CREATE TABLE hive.s.t AS SELECT 1 AS a", ConnectorError, "exists"),
    ],
)
def test_what_is_refused_changes_nothing(
    session: LocalSession, text: str, error: type[ConnectorError], words: str
) -> None:
    with pytest.raises(error, match=words):
        session.sql(text)
    assert rows(session) == [(1, "a", 1), (2, "b", 1), (3, "b", 2)]


def test_files_are_counted_with_no_spark(session: LocalSession) -> None:
    shown = session.sql("ANALYZE TABLE hive.s.t PARTITION (ds = 'b', n) COMPUTE STATISTICS NOSCAN").fetchall()
    assert shown
    reads = hive(session).metastore.reads
    entries = reads.get_partitions_by_names("s", "t", ["ds=b/n=1", "ds=b/n=2"])
    for one in entries:
        place = Path(str(one.storage.location).removeprefix("file://"))
        [file] = [path for path in place.iterdir() if path.is_file()]
        assert (one.parameters["numFiles"], one.parameters["totalSize"]) == ("1", str(file.stat().st_size))
