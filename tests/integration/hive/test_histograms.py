"""Histograms that real Hive makes, as Spark's optimizer gets them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakeport
from connectors.hive.connector import HiveConnector
from lakeport import Session
from tests.integration.hive.engine import HiveEngine

_COUNT = 20_000
# Nine of ten are small; the last tenth goes up to a million.
_NUMBERS = np.array([n % 100 if n % 10 else n * 50 for n in range(_COUNT)])
_DAY, _TIME = date(2024, 1, 1), datetime(2024, 1, 1)
_ROWS = pa.table(
    {
        "i": pa.array(_NUMBERS, pa.int32()),
        "b": pa.array(-_NUMBERS * 1000, pa.int64()),
        "d": pa.array(_NUMBERS / 2),
        "c": pa.array([Decimal(int(n)) / 4 for n in _NUMBERS], pa.decimal128(12, 2)),
        "day": pa.array([_DAY + timedelta(days=int(n) // 1000) for n in _NUMBERS]),
        "at": pa.array([_TIME + timedelta(seconds=int(n)) for n in _NUMBERS], pa.timestamp("us")),
        "s": pa.array([str(n) for n in _NUMBERS]),
    }
)


@pytest.fixture
def session(hive_engine: HiveEngine, spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    (tmp_path / "hive.properties").write_text(f"connector.name=hive\nhive.metastore.uri={hive_engine.uri}\n")
    with lakeport.connect(spark.newSession(), tmp_path) as opened:
        yield opened


def test_sketches_of_hive_are_histograms_of_spark(
    session: Session, hive_engine: HiveEngine, hive: HiveConnector
) -> None:
    hive_engine.sql("CREATE DATABASE IF NOT EXISTS sketched")
    session.create_table_as("hive.sketched.t", _ROWS)
    hive_engine.sql("ANALYZE TABLE sketched.t COMPUTE STATISTICS")
    hive_engine.sql("SET hive.stats.kll.enable=true")
    hive_engine.sql("ANALYZE TABLE sketched.t COMPUTE STATISTICS FOR COLUMNS")
    # Other tests have the same Hive.
    hive_engine.sql("SET hive.stats.kll.enable=false")
    found = {one.column: one for one in hive.metastore.reads.get_table_statistics("sketched", "t", _ROWS.column_names)}
    assert found["s"].quantiles == ()
    days = np.array([(_DAY - date(1970, 1, 1)).days + n // 1000 for n in _NUMBERS])
    seconds = np.array([(_TIME - datetime(1970, 1, 1)).total_seconds() + n for n in _NUMBERS])
    values = {"i": _NUMBERS, "b": -_NUMBERS * 1000, "d": _NUMBERS / 2, "c": _NUMBERS / 4, "day": days, "at": seconds}
    for name, expected in values.items():
        ordered = np.sort(expected)
        for part, value in enumerate(found[name].quantiles):
            rank = np.searchsorted(ordered, [value - abs(value) * 1e-6, value + abs(value) * 1e-6], side="right")
            assert rank[0] / _COUNT - 0.03 <= part / 32 <= rank[1] / _COUNT + 0.03, (name, part)
        assert len(found[name].quantiles) == 33
    conf = session.spark.conf
    conf.set("spark.sql.cbo.enabled", "true")
    conf.set("spark.lakeport.hive.task_pushdown", "false")
    for condition, rows in {
        "i < 50": np.sum(_NUMBERS < 50),
        "b >= -100000": np.sum(_NUMBERS <= 100),
        "d > 1000": np.sum(_NUMBERS > 2000),
        "c < 10": np.sum(_NUMBERS < 40),
        "day > DATE'2024-06-01'": np.sum(days > (date(2024, 6, 1) - date(1970, 1, 1)).days),
    }.items():
        query = session.sql(f"SELECT * FROM hive.sketched.t WHERE {condition}")
        estimate = int(query._jdf.queryExecution().optimizedPlan().stats().rowCount().get())
        assert estimate == pytest.approx(rows, abs=_COUNT * 0.05), condition
