"""What SQL tells of a catalog's metastore: statistics, calls, and the answers that are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakeport
from connector_spi.errors import ConnectorError, InvalidArgumentError, TableNotFoundError
from connectors.hive.connector import HiveConnector
from lakeport import Session
from lakeport.sql.show_stats import show_stats_name, stats_table_name
from tests.connectors.hive.table_writer import create_table

ROWS = pa.table({"id": [1, 2, 3, None], "p": [1, 1, 2, None], "name": ["a", "b", "c", "d"]})


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    folder = tmp_path / "catalogs"
    folder.mkdir()
    (folder / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={tmp_path / 'm.db'}\n"
        "hive.metastore-cache-ttl=1h\n"
    )
    with lakeport.connect(spark.newSession(), folder) as opened:
        metastore = cast(HiveConnector, opened.catalogs.get("hive")).metastore
        create_table(metastore, tmp_path, "s", "t", ROWS, ["p"])
        create_table(metastore, tmp_path, "s", "whole", ROWS)
        create_table(metastore, tmp_path, "s", "two", ROWS.select(["id", "p", "name"]), ["p", "name"])
        yield opened


def test_show_stats(session: Session) -> None:
    rows = {row.column_name: row.asDict() for row in session.sql("show stats for hive.s.t ;").collect()}
    assert list(rows) == ["id", "name", "p", None]
    assert rows[None]["row_count"] == 4
    assert (rows["p"]["distinct_values_count"], rows["p"]["nulls_fraction"]) == (2, 0.25)
    assert (rows["p"]["low_value"], rows["p"]["high_value"], rows["id"]["low_value"]) == ("1", "2", None)
    session.sql("USE hive.s")
    whole = {row.column_name: row for row in session.sql("SHOW STATS FOR `whole`").collect()}
    assert (whole["id"].low_value, whole["id"].high_value, whole["id"].nulls_fraction) == ("1", "3", 0.25)
    with pytest.raises(TableNotFoundError, match=r"whale.*whole"):
        session.sql("SHOW STATS FOR whale")
    with pytest.raises(InvalidArgumentError, match="not of queries"):
        session.sql("SHOW STATS FOR (SELECT * FROM t)")
    with pytest.raises(ConnectorError):
        session.sql("SHOW STATS FOR spark_catalog.default.t")


def test_calls_are_told_and_answers_flushed(session: Session) -> None:
    def explain() -> str:
        plan = session.sql("EXPLAIN SELECT id FROM hive.s.t WHERE p = 1").collect()[0].plan
        return str(plan).split("metastore: ")[1].split(" in ")[0]

    asked = explain()
    assert asked not in ("0 calls", "")
    assert explain() == "0 calls"
    assert session.sql("CALL hive.system.flush_metadata_cache(schema_name => 's', table_name => 't')").collect()[0][0]
    assert explain() != "0 calls"
    told = session.sql("SELECT call, sum(calls) AS calls FROM hive.system.metastore_calls GROUP BY call").collect()
    calls = {row.call: row.calls for row in told}
    assert calls["get_table"] >= 2
    assert calls["get_partition_names"] == 2
    found = session.arrow("hive.system.metastore_calls", where=[("call", "=", "get_partition_names")]).read_all()
    assert sum(found["calls"].to_pylist()) == 2
    assert len(set(found["query_id"].to_pylist())) == 2
    with pytest.raises(ConnectorError, match="needs schema_name"):
        session.sql("CALL hive.system.flush_metadata_cache(table_name => 't')")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("p = 1", ["p=1/name=a", "p=1/name=b"]),
        ("P = 1, name = 'b'", ["p=1/name=b"]),
        ("name = 'd'", ["p=null/name=d"]),
        ("p = null", ["p=null/name=d"]),
        ("p = 9", []),
    ],
)
def test_partitions_of_some_values_are_listed(session: Session, given: str, found: list[str]) -> None:
    shown = session.sql(f"SHOW PARTITIONS hive.s.two PARTITION ({given})").collect()
    assert [row.partition for row in shown] == found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("SHOW STATS FOR a", "a"),
        (" show  stats\nfor `x y`.b.c ; ", "`x y`.b.c"),
        ("SELECT 'SHOW STATS FOR a'", None),
        ("SHOW STATS", None),
    ],
)
def test_the_statement_is_known_by_its_words(text: str, name: str | None) -> None:
    assert show_stats_name(text) == name


def test_short_names_are_of_the_current_schema() -> None:
    assert str(stats_table_name("A", "c", "s")) == "c.s.a"
    assert str(stats_table_name("x.A", "c", "s")) == "c.x.a"
    assert str(stats_table_name("d.x.A", "c", "s")) == "d.x.a"
    with pytest.raises(InvalidArgumentError):
        stats_table_name("e.d.x.a", "c", "s")
