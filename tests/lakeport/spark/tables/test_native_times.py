"""Dates and times that Spark's own reader reads: what Arrow and Spark wrote, whatever the session's settings are."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.table_writer import storage
from tests.hive_corpus import canonical_rows, expected_answer, require_corpus
from tests.lakeport.spark.tables.warehouse import Warehouse
from tests.paths import CORPUS

_TIMES = [
    dt.datetime(1, 1, 1),
    dt.datetime(1500, 2, 28, 1, 2, 3, 456000),
    dt.datetime(1582, 10, 4, 23, 59, 59),
    dt.datetime(1582, 10, 15),
    dt.datetime(1900, 1, 1, 0, 0, 0, 1000),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999000),
    None,
    dt.datetime(2024, 3, 31, 2, 30, 0, 500000),
    dt.datetime(9999, 12, 31, 23, 59, 59, 999000),
]
_SETTINGS = (
    "spark.sql.parquet.datetimeRebaseModeInRead=LEGACY",
    "spark.sql.parquet.int96RebaseModeInRead=LEGACY",
    "spark.sql.parquet.int96TimestampConversion=true",
)


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("warehouse"))
    warehouse.add_hive_corpus(cases=[case for case in _PLAIN_IN_CORPUS if (CORPUS / "hive" / case).exists()])
    hive(warehouse).metastore.writes.create_database(Database("s"))
    for setting in _SETTINGS:
        warehouse.spark.sql(f"SET {setting}")
    yield warehouse
    warehouse.registry.shutdown()


def hive(warehouse: Warehouse) -> HiveConnector:
    found = warehouse.registry.get("hive")
    assert isinstance(found, HiveConnector)
    return found


def add_table(warehouse: Warehouse, name: str, folder: Path, columns: dict[str, str], file_format: str) -> None:
    fields = [FieldSchema(column, kind) for column, kind in columns.items()]
    entry = Table("s", name, storage(fields, folder, file_format), (), Parameters(), "EXTERNAL_TABLE")
    hive(warehouse).metastore.writes.create_table(entry)


def read(warehouse: Warehouse, query: str, native: bool = True) -> list[dict[str, object]]:
    warehouse.native_reader("hive", native)
    assert ("reader: native" in warehouse.plan(query)) is native
    found: list[dict[str, object]] = warehouse.spark.sql(query).toArrow().to_pylist()
    return found


@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
def test_parquet_of_arrow(warehouse: Warehouse, tmp_path: Path, native: bool) -> None:
    nested = pa.struct([("l", pa.list_(pa.timestamp("us"))), ("m", pa.map_(pa.string(), pa.timestamp("us", "UTC")))])
    zoned = [None if time is None else time.replace(tzinfo=dt.UTC) for time in _TIMES]
    data = pa.table(
        {
            "wall": pa.array(_TIMES, pa.timestamp("us")),
            "coarse": pa.array(_TIMES, pa.timestamp("ms")),
            "instant": pa.array(zoned, pa.timestamp("us", "UTC")),
            "kept": pa.array(zoned, pa.timestamp("ms", "UTC")),
            "day": pa.array([None if time is None else time.date() for time in _TIMES]),
            "inside": pa.array([{"l": [time, None], "m": [("k", time)]} for time in _TIMES], nested),
        }
    )
    pq.write_table(data, tmp_path / "000000_0", coerce_timestamps=None, store_schema=False)
    columns = {
        "wall": "timestamp",
        "coarse": "timestamp",
        "instant": "timestamp",
        "kept": "timestamp with local time zone",
        "day": "date",
        "inside": "struct<l:array<timestamp>,m:map<string,timestamp>>",
    }
    name = f"arrow_{native}".lower()
    add_table(warehouse, name, tmp_path, columns, "parquet")
    query = f"SELECT * FROM hive.s.{name}"
    expected = [
        {"wall": time, "coarse": time, "instant": time, "kept": zone, "day": day, "inside": inside}
        for time, zone, day, inside in zip(
            _TIMES, zoned, data["day"].to_pylist(), [{"l": [time, None], "m": [("k", time)]} for time in _TIMES],
            strict=True,
        )
    ]  # fmt: skip
    found = read(warehouse, query, native)
    assert sorted(found, key=str) == sorted(expected, key=str)
    late = read(
        warehouse,
        f"{query} WHERE instant > TIMESTAMP_NTZ'2024-03-31 02:30:00.5' AND wall > coarse - INTERVAL '1' DAY",
        native,
    )
    assert late == expected[-1:]


def test_parquet_of_spark_with_int96(warehouse: Warehouse, tmp_path: Path) -> None:
    spark = warehouse.spark
    spark.sql("SET spark.sql.parquet.outputTimestampType=INT96")
    texts = ", ".join("(NULL)" if time is None else f"(TIMESTAMP'{time.isoformat(' ')}')" for time in _TIMES)
    spark.sql(f"SELECT * FROM VALUES {texts} AS t(at)").coalesce(1).write.parquet(str(tmp_path / "t"))
    add_table(warehouse, "int96", tmp_path / "t", {"at": "timestamp"}, "parquet")
    for native in (True, False):
        assert [row["at"] for row in read(warehouse, "SELECT * FROM hive.s.int96", native)] == _TIMES


def test_instants_that_another_zone_shows_are_left_to_tasks(warehouse: Warehouse, tmp_path: Path) -> None:
    instant = pa.array([dt.datetime(2024, 7, 1, 12)], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"at": instant, "wall": instant.cast(pa.timestamp("us"))}), tmp_path / "000000_0")
    add_table(warehouse, "zoned", tmp_path, {"at": "timestamp", "wall": "timestamp"}, "parquet")
    warehouse.native_reader("hive", True)
    try:
        warehouse.spark.sql("SET spark.sql.session.timeZone=Europe/Berlin")
        assert "reader: Python" in warehouse.plan("SELECT at FROM hive.s.zoned")
        assert warehouse.rows("SELECT at FROM hive.s.zoned") == [(dt.datetime(2024, 7, 1, 14),)]
        assert "reader: native" in warehouse.plan("SELECT wall FROM hive.s.zoned")
        assert warehouse.rows("SELECT wall FROM hive.s.zoned") == [(dt.datetime(2024, 7, 1, 12),)]
    finally:
        warehouse.spark.sql("SET spark.sql.session.timeZone=UTC")


_MODERN = [
    dt.datetime(1970, 1, 4),
    dt.datetime(2024, 3, 31, 2, 30, 0, 123456),
    None,
    dt.datetime(2262, 4, 12),
    dt.datetime(9999, 12, 31, 23, 59, 59, 999999),
]


def write_orc(spark: SparkSession, folder: Path, times: list[dt.datetime | None]) -> list[dict[str, object]]:
    """Times, dates and decimals by Spark; the rows that are written."""
    rows: list[dict[str, object]] = [
        {
            "at": time,
            "day": None if time is None else time.date(),
            "small": None if time is None else Decimal(f"{number}.50"),
            "wide": None if time is None else Decimal(f"-{number}.00000000000000000{number}"),
            "inside": [time],
        }
        for number, time in enumerate(times)
    ]
    zoned = [
        {**row, "at": time and time.replace(tzinfo=dt.UTC), "inside": [time and time.replace(tzinfo=dt.UTC)]}
        for row, time in zip(rows, times, strict=True)
    ]
    schema = "at timestamp, day date, small decimal(5, 2), wide decimal(38, 18), inside array<timestamp>"
    spark.createDataFrame([tuple(row.values()) for row in zoned], schema).coalesce(1).write.orc(str(folder))
    return rows


_ORC_COLUMNS = {
    "at": "timestamp",
    "day": "date",
    "small": "decimal(5,2)",
    "wide": "decimal(38,18)",
    "inside": "array<timestamp>",
}


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
def test_orc_of_days_that_all_calendars_name_alike(warehouse: Warehouse, tmp_path: Path, native: bool) -> None:
    expected = write_orc(warehouse.spark, tmp_path / "t", _MODERN)
    name = f"orc_{native}".lower()
    add_table(warehouse, name, tmp_path / "t", _ORC_COLUMNS, "orc")
    query = f"SELECT * FROM hive.s.{name}"
    assert sorted(read(warehouse, query, native), key=str) == sorted(expected, key=str)
    one = "at = TIMESTAMP_NTZ'2024-03-31 02:30:00.123456' AND day > DATE'2000-01-01'"
    assert read(warehouse, f"{query} WHERE {one}", native) == expected[1:2]
    assert read(warehouse, f"{query} WHERE at IS NULL", native) == expected[2:3]


def test_orc_of_old_days_is_left_to_tasks(warehouse: Warehouse, tmp_path: Path) -> None:
    times = [*_MODERN, dt.datetime(1969, 12, 31, 23, 59, 59), dt.datetime(1500, 1, 1)]
    expected = write_orc(warehouse.spark, tmp_path / "t", times)
    add_table(warehouse, "old", tmp_path / "t", _ORC_COLUMNS, "orc")
    warehouse.native_reader("hive", True)
    for column in ("at", "day", "inside"):
        assert "reader: Python" in warehouse.plan(f"SELECT {column} FROM hive.s.old")
    found = warehouse.spark.table("hive.s.old").toArrow().to_pylist()
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert "reader: native" in warehouse.plan("SELECT small, wide FROM hive.s.old")


_PLAIN_IN_CORPUS = {
    "parquet_int64_alltypes": "id, ti, si, i, bi, f, d, de, de2, s, bin, b, ts, ar, m, st, nested",
    "parquet_int64_alltypes_ny": "id, ti, si, i, bi, f, d, de, de2, s, bin, b, ts, ar, m, st, nested",
    "orc_alltypes": "id, ti, si, i, bi, f, d, de, de2, s, bin, b, ar, m, st, nested",
    "ext_orc_zstd": "id, s, d, amt, b, bin, ar, m, st",
    "mm_orc_overwrite": "*",
}


@pytest.mark.parametrize("case", _PLAIN_IN_CORPUS)
def test_columns_of_hive(warehouse: Warehouse, case: str) -> None:
    require_corpus()
    answer = expected_answer(case)
    names = [name for name, _ in answer.columns]
    asked = names if _PLAIN_IN_CORPUS[case] == "*" else _PLAIN_IN_CORPUS[case].split(", ")
    places = [names.index(name) for name in asked]
    query = f"SELECT {_PLAIN_IN_CORPUS[case]} FROM hive.corpus.{case}"
    warehouse.native_reader("hive", True)
    assert "reader: native" in warehouse.plan(query)
    expected: Counter[tuple[object, ...]] = Counter()
    for row, count in answer.rows.items():
        expected[tuple(row[at] for at in places)] += count
    assert canonical_rows(warehouse.spark.sql(query).toArrow()) == expected
