"""Counts and bounds that footers answer, against Spark over the rows as Parquet, whose footers it does not ask.

Spark's own reader of ORC is no judge: it takes pyarrow's days for those of the hybrid calendar, and fails on its times
of a moment before 1970.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc
from pyspark.sql import SparkSession

from tests.lakeport.spark.tables.warehouse import Warehouse

LONG_TEXT = "ä" * 300
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("small", pa.int16()),
        ("flag", pa.bool_()),
        ("day", pa.date32()),
        ("price", pa.decimal128(9, 2)),
        ("wide", pa.decimal128(30, 3)),
        ("double", pa.float64()),
        ("name", pa.string()),
        ("at", pa.timestamp("us", "UTC")),
        ("nothing", pa.int32()),
        ("point", pa.struct([("x", pa.int32())])),
        ("late", pa.int32()),
    ]
)
BY_CONNECTOR = "aggregated by the connector"


def rows(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    columns: dict[str, list[object]] = {
        "id": [(-(2**63), 2**63 - 1, None, n)[n % 4] for n in numbers],
        "small": [None if n % 3 == 0 else n - 40 for n in numbers],
        "flag": [n % 2 == 0 for n in numbers],
        "day": [dt.date(1583, 1, 1) + dt.timedelta(days=n * 700) for n in numbers],
        "price": [Decimal(n - 30).scaleb(-2) for n in numbers],
        "wide": [Decimal(10**26 * (n - 30)).scaleb(-3) for n in numbers],
        "double": [(0.0, -0.0, float("nan"), float("-inf"), None)[n % 5] for n in numbers],
        "name": [None if n % 5 == 1 else LONG_TEXT + str(n) for n in numbers],
        "at": [dt.datetime(1969, 12, 31, 23, 59, 59, 999999, dt.UTC) + dt.timedelta(hours=n) for n in numbers],
        "nothing": [None] * count,
        "point": [None if n % 2 else {"x": n} for n in numbers],
        "late": [n * n for n in numbers],
    }
    return pa.table([pa.array(columns[field.name], field.type) for field in SCHEMA], schema=SCHEMA)


def write(folder: Path, file_format: str) -> None:
    """Files whose footers differ: several row groups, no statistics, no rows, old dates, a column less."""
    old = rows(0, 9).set_column(3, "day", pa.array([dt.date(1, 1, 1), *[None] * 8], pa.date32()))
    files = {
        "p=1/many": rows(0, 60),
        "p=1/plain": rows(100, 7),
        "p=2/none": rows(0, 0),
        "p=3/nulls": pa.table([pa.nulls(4, field.type) for field in SCHEMA], schema=SCHEMA),
        "p=4/older": rows(7, 9).drop_columns(["late"]),
        "p=5/calendar": old,
    }
    for name, table in files.items():
        path = folder / f"{name}.{file_format}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if file_format == "parquet":
            pq.write_table(table, path, row_group_size=11, write_statistics="plain" not in name)
        else:
            orc.write_table(table, str(path), stripe_size=1, batch_size=11)


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("footers"))
    warehouse.spark.sql("SET spark.sql.parquet.aggregatePushdown=false")
    for file_format in ("parquet", "orc"):
        folder = warehouse.folder / file_format
        write(folder, file_format)
        warehouse.call("hive", "s", f"t_{file_format}", folder)
    schema = warehouse.spark.table("hive.s.t_parquet").schema
    warehouse.spark.read.schema(schema).parquet(str(warehouse.folder / "parquet")).createOrReplaceTempView("plain")
    yield warehouse
    warehouse.registry.shutdown()


def exact(column: str) -> str:
    return f"count({column}), min({column}), max({column})"


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize(
    ("query", "taken"),
    [
        ("SELECT count(*) FROM {t}", True),
        *((f"SELECT {exact(column)} FROM {{t}}", True) for column in ("id", "small", "flag", "price", "late")),
        (f"SELECT {exact('day')} FROM {{t}}", True),
        (f"SELECT {exact('wide')} FROM {{t}}", True),
        ("SELECT count(double), count(name), count(at), count(p) FROM {t}", True),
        ("SELECT min(p), max(p), count(*) FROM {t}", True),
        ("SELECT max(p) FROM {t} WHERE p IN (2, 1)", True),
        ("SELECT count(*), max(id) FROM {t} WHERE p = 2", True),
        ("SELECT count(*), max(id) FROM {t} WHERE p = 77", False),
        ("SELECT p, count(*), min(day), max(small), count(late) FROM {t} GROUP BY p", True),
        ("SELECT DISTINCT p FROM {t}", True),
        ("SELECT p, count(*) FROM {t} WHERE p > 1 GROUP BY p HAVING count(*) > 1", True),
        ("SELECT min(double), max(double) FROM {t}", False),
        ("SELECT min(name), max(name) FROM {t}", False),
        ("SELECT min(at), max(at) FROM {t}", False),
        ("SELECT count(point) FROM {t}", False),
        ("SELECT sum(small), avg(id), max(id) FROM {t}", False),
        ("SELECT count(*), max(id) FROM {t} WHERE id > 5", False),
        ("SELECT flag, count(*) FROM {t} GROUP BY flag", False),
        ("SELECT max(id) FROM {t} WHERE p = 1 OR small = 3", False),
    ],
)
def test_footers_answer_as_rows_do(warehouse: Warehouse, query: str, taken: bool, file_format: str) -> None:
    asked = query.format(t=f"hive.s.t_{file_format}")
    judge = query.format(t="plain")
    for native in (True, False):
        warehouse.native_reader("hive", native)
        assert sorted(map(repr, warehouse.rows(asked))) == sorted(map(repr, warehouse.rows(judge))), native
        assert (BY_CONNECTOR in warehouse.plan(asked)) == taken, native
    warehouse.spark.sql("SET spark.lakeport.hive.task_pushdown=false")
    assert BY_CONNECTOR not in warehouse.plan(asked)
    warehouse.spark.sql("SET spark.lakeport.hive.task_pushdown=true")
