"""``ORDER BY ... LIMIT`` in Spark over files that are left out: the rows are those of sorting all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakeport
from connectors.hive.connector import HiveConnector
from lakeport import Session
from tests.connectors.hive.table_writer import create_table, write_file

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_PARTS = [[n if n % 9 else None for n in range(at, at + 30)] for at in (0, 30, 60, 90)]
_VALUES = [value for part in _PARTS for value in part]


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("first_rows")
    (folder / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
        "hive.top-n-statistics-threshold=0B\n"
    )
    with lakeport.connect(spark.newSession(), folder) as opened:
        metastore = cast(HiveConnector, opened.catalogs.get("hive")).metastore
        parts = [pa.table({"id": pa.array(part, pa.int64())}) for part in _PARTS]
        create_table(metastore, folder, "s", "files", parts[0])
        for number, part in enumerate(parts[1:], 1):
            write_file(folder / "s" / "files" / f"00000{number}_0", part, "parquet")
        keyed = pa.table({"id": pa.array(_VALUES, pa.int64()), "p": [n % 4 for n in range(len(_VALUES))]})
        create_table(metastore, folder, "s", "keyed", keyed, ["p"])
        yield opened


@pytest.mark.parametrize("native", ["true", "false"])
def test_the_first_rows_are_those_of_all(session: Session, native: str) -> None:
    session.sql(f"SET spark.lakeport.hive.native_reader = {native}")
    present = sorted(value for value in _VALUES if value is not None)
    nulls: list[int | None] = [None] * _VALUES.count(None)
    orders: dict[str, list[int | None]] = {
        "id": [*nulls, *present],
        "id NULLS LAST": [*present, *nulls],
        "id DESC": [*present[::-1], *nulls],
        "id DESC NULLS FIRST": [*nulls, *present[::-1]],
    }
    for order, expected in orders.items():
        for count in (1, 20, 60, 500):
            rows = session.sql(f"SELECT id FROM hive.s.files ORDER BY {order} LIMIT {count}").collect()
            assert [row.id for row in rows] == expected[:count], (order, count)
    plan = str(session.sql("EXPLAIN SELECT id FROM hive.s.files ORDER BY id DESC LIMIT 5").collect())
    assert "3 files hold none of the first rows" in plan
    rows = session.sql("SELECT p, id FROM hive.s.keyed ORDER BY p DESC, id NULLS LAST LIMIT 3").collect()
    assert [tuple(row) for row in rows] == [(3, 3), (3, 7), (3, 11)]
    plan = str(session.sql("EXPLAIN SELECT p, id FROM hive.s.keyed ORDER BY p DESC LIMIT 3").collect())
    assert "3 files hold none of the first rows" in plan
    rows = session.sql("SELECT id FROM hive.s.files WHERE id > 50 ORDER BY id LIMIT 2").collect()
    assert [row.id for row in rows] == [51, 52]
