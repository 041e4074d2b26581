"""``ANALYZE TABLE`` by the engine duckdb: what it leaves in the metastore is what Spark leaves there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakeport
from catalog.metastore.model import ColumnStatistics, Parameters, Table
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import ConnectorError
from connectors.hive.connector import HiveConnector, HivePlugin
from lakeport.duckdb.session import LocalSession
from tests.connectors.hive.counted_rows import FOUND, ROWS
from tests.connectors.hive.table_writer import create_table
from tests.lakeport.spark.test_analyze import KEYED

Kept = tuple[Parameters, list[ColumnStatistics], dict[str, tuple[Parameters, list[ColumnStatistics]]]]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LocalSession]:
    registry = CatalogRegistry(PluginSet.of(HivePlugin()), "test")
    path = str(tmp_path / "m.db")
    registry.register("hive", "hive", {"hive.metastore": "embedded", "hive.metastore.embedded.path": path})
    with LocalSession(registry) as made:
        create_table(hive(made).metastore, tmp_path, "s", "flat", ROWS)
        create_table(hive(made).metastore, tmp_path, "s", "keyed", KEYED, ["p", "ds"])
        yield made


def hive(session: LocalSession) -> HiveConnector:
    connector = session.catalogs.get("hive")
    assert isinstance(connector, HiveConnector)
    return connector


def test_a_table(session: LocalSession) -> None:
    shown = session.sql("ANALYZE TABLE hive.s.flat COMPUTE STATISTICS").fetchall()
    assert {row[0]: row[4] for row in shown}[None] == 4
    reads = hive(session).metastore.reads
    entry = reads.get_table("s", "flat")
    assert entry is not None
    assert (entry.parameters["numRows"], entry.parameters["numFiles"]) == ("4", "1")
    assert reads.get_table_statistics("s", "flat", ROWS.column_names) == FOUND


def test_rows_that_were_counted_wrong(session: LocalSession) -> None:
    """Files are counted after rows, and leave the count of rows as it is then."""
    writes, reads = hive(session).metastore.writes, hive(session).metastore.reads
    before = reads.get_table("s", "flat")
    assert before is not None
    wrong = {"numRows": "1", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
    writes.alter_table("s", "flat", replace(before, parameters=Parameters.of(wrong)))
    session.sql("ANALYZE TABLE hive.s.flat COMPUTE STATISTICS FOR COLUMNS yes")
    entry = reads.get_table("s", "flat")
    assert entry is not None
    assert (entry.parameters["numRows"], entry.parameters["numFiles"]) == ("4", "1")
    assert entry.parameters["COLUMN_STATS_ACCURATE"] == '{"COLUMN_STATS":{"yes":"true"}}'


def test_partitions(session: LocalSession) -> None:
    session.sql("ANALYZE TABLE hive.s.keyed PARTITION (p = 1, ds) COMPUTE STATISTICS FOR COLUMNS id")
    reads = hive(session).metastore.reads
    names = reads.get_partition_names("s", "keyed")
    found = reads.get_partition_statistics("s", "keyed", names, ["id"])
    assert [(one.low, one.high, one.distinct_count) for [one] in found.values()] == [(1, 2, 2)]
    session.sql("USE hive.s")
    session.sql("ANALYZE TABLE keyed COMPUTE STATISTICS FOR ALL COLUMNS")
    found = reads.get_partition_statistics("s", "keyed", names, ["id"])
    assert sorted((one.low, one.high, one.distinct_count) for [one] in found.values()) == [
        (1, 2, 2), (3, 3, 1), (4, 4, 1)
    ]  # fmt: skip


def kept(metastore: HiveConnector, table: str) -> Kept:
    """All that the metastore has of a table's rows."""
    reads = metastore.metastore.reads
    entry = reads.get_table("s", table)
    assert isinstance(entry, Table)
    columns = [one.name for one in entry.storage.columns]
    names = reads.get_partition_names("s", table) if entry.partition_keys else []
    of_partitions = reads.get_partition_statistics("s", table, names, columns)
    partitions = {
        name: (one.parameters, list(of_partitions.get(name, ())))
        for name, one in zip(names, reads.get_partitions_by_names("s", table, names), strict=True)
    }
    return entry.parameters, list(reads.get_table_statistics("s", table, columns)), partitions


@pytest.mark.slow
@pytest.mark.spark
def test_spark_leaves_the_same(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "catalogs"
    folder.mkdir()
    text = f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={tmp_path / 'm.db'}\n"
    (folder / "hive.properties").write_text(text)
    columns = (
        "c CHAR(4), v VARCHAR(5), t TINYINT, b BIGINT, r FLOAT, x DECIMAL(38, 10), at TIMESTAMP_NTZ, ok BOOLEAN, "
        "raw BINARY, n STRUCT<a: INT>"
    )
    values = (
        "SELECT IF(id % 3 = 0, NULL, CAST(id % 5 AS STRING)) AS c, concat('é', id % 7) AS v, CAST(id % 11 AS TINYINT) "
        "AS t, id * 1000000007 AS b, CAST(id / 3 AS FLOAT) AS r, CAST(id / 8 AS DECIMAL(38, 10)) AS x, "
        "timestamp_ntz'2024-01-01 00:00:00' + make_dt_interval(0, 0, 0, id) AS at, id % 4 = 0 AS ok, "
        "CAST(concat('z', id) AS BINARY) AS raw, named_struct('a', 1) AS n, "
        "IF(id % 2 = 0, NULL, DATE_ADD(DATE '2024-01-01', CAST(id % 3 AS INT))) AS day FROM range(40)"
    )
    with (
        lakeport.connect(spark.newSession(), folder) as of_spark,
        lakeport.connect(catalogs=folder, engine="duckdb") as of_duckdb,
    ):
        connector = of_duckdb.catalogs.get("hive")
        assert isinstance(connector, HiveConnector)
        of_spark.sql("CREATE SCHEMA hive.s")
        columns_kept = ["c", "v", "t", "b", "r", "x", "at", "ok", "raw"]
        counting = ", ".join(f"count(DISTINCT {name})" for name in columns_kept)
        counts = {
            f"day={'__HIVE_DEFAULT_PARTITION__' if day is None else day}": dict(zip(columns_kept, found, strict=True))
            for day, *found in of_spark.sql(f"SELECT day, {counting} FROM ({values}) GROUP BY day").collect()
        }
        for table, kind in (("plain", ""), ("acid", "TBLPROPERTIES ('transactional' = 'true')")):
            of_spark.sql(f"CREATE TABLE hive.s.{table} ({columns}, day DATE) USING orc PARTITIONED BY (day) {kind}")
            of_spark.sql(f"INSERT INTO hive.s.{table} {values}")
            found = []
            for session in (of_spark, of_duckdb):
                session.sql(f"ANALYZE TABLE hive.s.{table} COMPUTE STATISTICS")
                found.append(kept(connector, table))
                names = list(found[0][2])
                connector.metastore.writes.drop_partition_statistics("s", table, columns_kept, names)
                connector.metastore.writes.set_partition_parameters("s", table, {one: Parameters() for one in names})
            assert found[0][:2] == found[1][:2], table
            for name in names:
                for estimated, exact in zip(found[0][2][name][1], found[1][2][name][1], strict=True):
                    assert replace(estimated, distinct_count=exact.distinct_count) == exact, (table, name)
                    # Spark estimates within 5 % here; by a query it counts exactly.
                    assert (estimated.distinct_count is None) == (exact.distinct_count is None)
                    assert exact.distinct_count in (None, counts[name][exact.column]), (table, name)
                assert found[0][2][name][0] == found[1][2][name][0], (table, name)
            assert len(found[0][2]) == 4
            assert all(len(statistics) == 9 for _, statistics in found[0][2].values())


def test_what_no_one_keeps_is_refused(session: LocalSession) -> None:
    with pytest.raises(ConnectorError, match=r"of column 'tags' of hive\.s\.flat no statistics are kept"):
        session.sql("ANALYZE TABLE hive.s.flat COMPUTE STATISTICS FOR COLUMNS tags")
    assert pa.table({"n": [4]}) == session.sql("SELECT count(*) AS n FROM hive.s.flat").arrow()
