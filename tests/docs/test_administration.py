"""The statements of docs/administration.md do what the page says, and are refused where the catalog is read-only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connectors.hive.connector import HivePlugin
from lakeport.spark.catalog.install import install

_PAGE = Path(__file__).parents[2] / "docs" / "administration.md"


def _statements(folder: Path) -> list[str]:
    blocks = re.findall(r"```sql\n(.*?)```", _PAGE.read_text(), re.DOTALL)
    return [one.strip().replace("/data", str(folder)) for block in blocks for one in block.split(";\n") if one.strip()]


def _write_files(folder: Path) -> None:
    for day in ("2024-01-01", "2024-01-02"):
        path = folder / "orders" / f"ds={day}"
        path.mkdir(parents=True)
        rows = {"id": pa.array([1, 2], pa.int64()), "item": ["a", "b"]}
        price = pa.array([Decimal("1.50"), None], pa.decimal128(10, 2))
        pq.write_table(pa.table({**rows, "price": price}), path / "part-0.parquet")
    (folder / "items").mkdir()
    po.write_table(pa.table({"name": ["x"], "price": [2.5]}), folder / "items" / "part-0.orc")


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[CatalogRegistry]:
    found = CatalogRegistry(PluginSet.of(HivePlugin()), "test")
    place = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(tmp_path / "metastore.db")}
    found.register("hive", "hive", place)
    found.register("closed", "hive", {**place, "hive.read-only": "true"})
    yield found
    found.shutdown()


@pytest.mark.slow
@pytest.mark.spark
def test_the_page(spark: SparkSession, registry: CatalogRegistry, tmp_path: Path) -> None:
    session = spark.newSession()
    install(session, registry)
    folder = tmp_path / "data"
    _write_files(folder)
    answers: dict[str, list[tuple[object, ...]]] = {}
    for statement in _statements(folder):
        answers[statement] = [tuple(row) for row in session.sql(statement).collect()]
        if statement.startswith("CALL hive.system.sync"):
            assert session.sql("SELECT count(*), sum(price) FROM hive.shop.orders").collect() == [(4, Decimal("3.00"))]
            types = {field.name: field.dataType.simpleString() for field in session.table("hive.shop.orders").schema}
            assert types == {"id": "bigint", "item": "string", "price": "decimal(10,2)", "ds": "date"}

    def answer(start: str) -> list[tuple[object, ...]]:
        [found] = [rows for statement, rows in answers.items() if statement.startswith(start)]
        return found

    shown = {row[0]: row[1] for row in answer("DESCRIBE SCHEMA")}
    assert shown["Comment"] == "all of the shop"
    assert str(shown["Location"]).endswith("/data/shop")
    assert answer("CALL hive.system.sync") == [("shop", "orders", 2, 0)]
    assert answer("SHOW PARTITIONS") == [("ds=2024-01-01",), ("ds=2024-01-02",)]
    assert answer("SELECT * FROM hive.shop.`orders$partitions`") == [(date(2024, 1, 1),), (date(2024, 1, 2),)]
    assert answer("SELECT team FROM hive.shop.`orders$properties`") == [("web",)]
    assert session.sql("SHOW SCHEMAS IN hive").collect() == [("default",), ("information_schema",), ("system",)]
    assert len(list(folder.rglob("part-*"))) == 3


@pytest.mark.slow
@pytest.mark.spark
def test_a_read_only_catalog_refuses_the_page(spark: SparkSession, registry: CatalogRegistry, tmp_path: Path) -> None:
    session = spark.newSession()
    install(session, registry)
    folder = tmp_path / "data"
    _write_files(folder)
    create = "CREATE TABLE hive.default.orders (id BIGINT, ds DATE) USING parquet PARTITIONED BY (ds) LOCATION "
    session.sql(f"{create} '{folder}/orders'")
    session.sql("CALL hive.system.sync_partition_metadata('default', 'orders')")
    tried = [
        "CREATE SCHEMA closed.s",
        "COMMENT ON SCHEMA closed.default IS 'x'",
        "DROP SCHEMA closed.default CASCADE",
        f"CREATE TABLE closed.default.t (id BIGINT) USING parquet LOCATION '{folder}/items'",
        f"CREATE TABLE closed.default.t USING orc LOCATION '{folder}/items'",
        "COMMENT ON TABLE closed.default.orders IS 'x'",
        "ALTER TABLE closed.default.orders ALTER COLUMN id COMMENT 'x'",
        "ALTER TABLE closed.default.orders RENAME TO closed.default.t",
        "ALTER TABLE closed.default.orders DROP PARTITION (ds = DATE '2024-01-01')",
        "DROP TABLE closed.default.orders",
        "DROP TABLE closed.default.orders PURGE",
        f"CALL closed.system.register_table('default', 't', '{folder}/items')",
        "CALL closed.system.unregister_table('default', 'orders')",
        "CALL closed.system.unregister_partition('default', 'orders', array('ds'), array('2024-01-01'))",
    ]
    for statement in tried:
        with pytest.raises(Exception, match="READ_ONLY_CATALOG"):
            session.sql(statement).collect()
    assert len(session.sql("SHOW PARTITIONS closed.default.orders").collect()) == 2


@pytest.mark.spark
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE OR REPLACE TABLE hive.default.items USING orc AS SELECT 1 AS a",
        "CREATE OR REPLACE TABLE hive.default.items (a INT) USING orc",
    ],
)
def test_rows_are_not_changed(spark: SparkSession, registry: CatalogRegistry, tmp_path: Path, statement: str) -> None:
    session = spark.newSession()
    install(session, registry)
    _write_files(tmp_path / "data")
    session.sql(f"CREATE TABLE hive.default.items USING orc LOCATION '{tmp_path}/data/items'")
    with pytest.raises(Exception, match="it is an external table"):
        session.sql(statement).collect()
    assert session.sql("SELECT * FROM hive.default.items").collect() == [("x", 2.5)]
    assert session.sql("SHOW TABLES IN hive.default").count() == 1


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM hive.default.items WHERE name = 'x'", "UPDATE hive.default.items SET name = 'y'"],
)
def test_rows_of_plain_tables_are_not_changed_one_by_one(
    spark: SparkSession, registry: CatalogRegistry, tmp_path: Path, statement: str
) -> None:
    session = spark.newSession()
    install(session, registry)
    _write_files(tmp_path / "data")
    session.sql(f"CREATE TABLE hive.default.items USING orc LOCATION '{tmp_path}/data/items'")
    with pytest.raises(Exception, match=r"NOT_SUPPORTED.*not a transactional table.*INSERT OVERWRITE"):
        session.sql(statement).collect()
    assert session.sql("SELECT * FROM hive.default.items").collect() == [("x", 2.5)]
