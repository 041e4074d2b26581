"""Statistics of columns: over partitions, of partition keys, and Spark's."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa

from catalog.metastore.model import ColumnStatistics as Told
from connector_spi.names import SchemaTableName
from connector_spi.statistics import ColumnStatistics, TableStatistics
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_session, open_metadata
from tests.connectors.hive.table_writer import create_table


def statistics_of(hive: HiveConnector, table: str) -> tuple[TableStatistics, dict[str, ColumnStatistics]]:
    session = make_session(hive)
    with open_metadata(hive, session) as metadata:
        handle = metadata.get_table_handle(session, SchemaTableName("s", table))
        assert handle is not None
        found = metadata.get_column_statistics(session, handle)
        planned = metadata.get_table_statistics(session, handle)
    assert (found.row_count, found.size_bytes) == (planned.row_count, planned.size_bytes)
    return found, dict(found.columns)


def test_partitions_are_put_together(hive: HiveConnector, tmp_path: Path) -> None:
    days = [date(2024, 1, 1)] * 4 + [date(2024, 1, 2)] * 2 + [None] * 2
    data = pa.table({"n": [1, 5, None, 5, 9, None, -3, 7], "t": ["a", "bb", "c", None, "d", "e", "f", "g"], "d": days})
    create_table(hive.metastore, tmp_path, "s", "t", data, ["d"])
    names = hive.metastore.reads.get_partition_names("s", "t")
    told = {
        "d=2024-01-01": [Told("n", "bigint", 1, 2, 1, 5), Told("t", "string", 1, 3, average_length=2.0)],
        "d=2024-01-02": [Told("n", "bigint", 1, 1, 9, 9), Told("t", "string", 0, 2, average_length=1.0)],
        "d=__HIVE_DEFAULT_PARTITION__": [Told("n", "bigint", 0, 2, -3, 7), Told("t", "string", 0, 2)],
    }
    assert sorted(told) == names
    hive.metastore.writes.set_partition_statistics("s", "t", told)
    found, columns = statistics_of(hive, "t")
    assert found.row_count == 8
    assert columns["n"] == ColumnStatistics(2 / 8, 2.0, None, -3, 9)
    # One partition does not tell how long its texts are.
    assert columns["t"] == ColumnStatistics(1 / 8, 3.0, None)
    assert columns["d"] == ColumnStatistics(2 / 8, 2.0, None, date(2024, 1, 1), date(2024, 1, 2))


def test_a_partition_without_statistics_leaves_bounds_open(hive: HiveConnector, tmp_path: Path) -> None:
    data = pa.table({"n": [1, 2, 30, None], "p": [1, 1, 2, 2]})
    create_table(hive.metastore, tmp_path, "s", "t", data, ["p"])
    hive.metastore.writes.set_partition_statistics("s", "t", {"p=1": [Told("n", "bigint", 0, 2, 1, 2)]})
    _, columns = statistics_of(hive, "t")
    assert columns["n"] == ColumnStatistics(0.0, 2.0)
    assert columns["p"] == ColumnStatistics(0.0, 2.0, None, 1, 2)


def test_sparks_statistics_serve_where_hive_has_none(hive: HiveConnector, tmp_path: Path) -> None:
    spark = "spark.sql.statistics."
    texts = {
        f"{spark}numRows": "4",
        f"{spark}totalSize": "900",
        "numRows": "0",
        "totalSize": "900",
        **{f"{spark}colStats.day.{key}": text for key, text in {"version": "2", "nullCount": "1"}.items()},
        f"{spark}colStats.day.min": "2024-01-01",
        f"{spark}colStats.day.max": "2024-02-29",
        **{f"{spark}colStats.name.{key}": text for key, text in {"version": "2", "nullCount": "2"}.items()},
        f"{spark}colStats.name.avgLen": "7",
        f"{spark}colStats.name.distinctCount": "2",
        f"{spark}colStats.n.version": "2",
        f"{spark}colStats.n.max": "1000",
        f"{spark}colStats.n.min": "1",
    }
    data = pa.table({"day": [date(2024, 1, 1), None], "name": ["a", None], "n": [1, 2]})
    create_table(hive.metastore, tmp_path, "s", "t", data, parameters=texts)
    hive.metastore.writes.set_table_statistics("s", "t", [Told("n", "bigint", 0, 2, 1, 2)])
    with_hive, columns = statistics_of(hive, "t")
    assert (with_hive.row_count, with_hive.size_bytes) == (4, 900)
    assert columns["n"] == ColumnStatistics(0.0, 2.0, None, 1, 2)


def test_sparks_columns(hive: HiveConnector, tmp_path: Path) -> None:
    spark = "spark.sql.statistics."
    own = {"version": "2", "nullCount": "1", "distinctCount": "2", "avgLen": "4", "maxLen": "4"}
    texts = {f"{spark}numRows": "4", **{f"{spark}colStats.day.{key}": text for key, text in own.items()}}
    texts |= {f"{spark}colStats.day.min": "2024-01-01", f"{spark}colStats.day.max": "2024-02-29"}
    # A column that somebody named otherwise by now, and bounds that are of no use.
    texts |= {f"{spark}colStats.gone.version": "2", f"{spark}colStats.p.version": "1", f"{spark}colStats.p.min": "x"}
    data = pa.table({"day": [date(2024, 1, 1), None], "p": [1, 2], "k": ["a", "b"]})
    create_table(hive.metastore, tmp_path, "s", "t", data, ["k"], parameters=texts)
    _, columns = statistics_of(hive, "t")
    assert columns["day"] == ColumnStatistics(0.25, 2.0, 12, date(2024, 1, 1), date(2024, 2, 29))
    assert columns["p"] == ColumnStatistics()
    assert set(columns) == {"day", "p", "k"}
