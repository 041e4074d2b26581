"""Views that are more than columns of one table, by DuckDB and by Spark: equal rows and types."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from catalog.metastore.model import FieldSchema, Parameters, StorageDescriptor, Table
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import ConnectorError, NotSupportedError
from connectors.hive.connector import HiveConnector, HivePlugin
from lakeport.duckdb.engine import DuckDbEngine
from lakeport.session import Session
from lakeport.spark.results import arrow_result

pytestmark = pytest.mark.slow

_ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "name": ["ann", "bob", None],
        "price": pa.array([Decimal("1.50"), Decimal("2.25"), None], pa.decimal128(10, 2)),
        "n": pa.array([10, 20, 30], pa.int32()),
    }
)
_SPARK = {"view.catalogAndNamespace.numParts": "2", "view.catalogAndNamespace.part.0": "hive",
          "view.catalogAndNamespace.part.1": "shop", "spark.sql.create.version": "4.3.0",
          "view.sqlConfig.spark.sql.ansi.enabled": "true"}  # fmt: skip


class Shop:
    """The catalog ``hive`` with the tables ``shop.orders`` and ``shop.lines``, in both engines."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        registry = CatalogRegistry(PluginSet.of(HivePlugin()), "test")
        place = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "metastore.db")}
        registry.register("hive", "hive", place)
        self.session = Session(registry, spark)
        hive = registry.get("hive")
        assert isinstance(hive, HiveConnector)
        self.metastore = hive.metastore
        self.session.sql("CREATE SCHEMA hive.shop")
        for name in ("orders", "lines"):
            (folder / name).mkdir()
            pq.write_table(_ROWS, folder / name / "part-0.parquet")
            self.session.sql(f"CREATE TABLE hive.shop.{name} USING parquet LOCATION '{folder}/{name}'")
        self.engine = DuckDbEngine(registry)

    def add(self, name: str, text: str, columns: Mapping[str, str], kept: Mapping[str, str] | None = None) -> None:
        fields = tuple(FieldSchema(column, kind) for column, kind in columns.items())
        properties = Parameters.of(dict(kept or {}))
        self._put(
            Table("shop", name, StorageDescriptor(fields), (), properties, "VIRTUAL_VIEW", None, 0, 0, text, text)
        )

    def add_of_trino(self, name: str, text: str, columns: Mapping[str, str]) -> None:
        told = {"originalSql": text, "catalog": "hive", "schema": "shop", "path": [], "runAsInvoker": False}
        told["columns"] = [{"name": column, "type": kind} for column, kind in columns.items()]
        encoded = f"/* Presto View: {base64.b64encode(json.dumps(told).encode()).decode()} */"
        properties = Parameters.of({"presto_view": "true", "comment": "Presto View"})
        fields = StorageDescriptor((FieldSchema("dummy", "string"),))
        self._put(Table("shop", name, fields, (), properties, "VIRTUAL_VIEW", None, 0, 0, encoded, "/* Presto View */"))

    def check(self, query: str) -> list[dict[str, object]]:
        """Rows of DuckDB, which are Spark's."""
        rows = arrow_result(self.session.sql(query))
        expected = pa.Table.from_batches(rows.batches, rows.schema)
        found = self.engine.plan(query).arrow()
        assert found.schema.names == expected.schema.names
        assert [field.type for field in found.schema] == [field.type for field in expected.schema]
        assert found.to_pylist() == expected.to_pylist()
        return list(found.to_pylist())

    def _put(self, view: Table) -> None:
        if self.metastore.reads.get_table(view.database, view.name) is not None:
            self.metastore.writes.drop_table(view.database, view.name)
        self.metastore.writes.create_table(view)


@pytest.fixture(scope="module")
def shop(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    made = Shop(spark.newSession(), tmp_path_factory.mktemp("views"))
    with made.session:
        yield made
        made.engine.close()


def test_a_join_of_hive(shop: Shop) -> None:
    """Hive names an unnamed column _c1, and writes tables and columns in full."""
    text = (
        "select `o`.`id` as `key`, count(1) as `_c1`, sum(`l`.`price`) as `p` from `shop`.`orders` `o` "
        "join `shop`.`lines` `l` on (`o`.`id` = `l`.`id`) where `o`.`n` > 10 group by `o`.`id`"
    )
    shop.add("joined", text, {"key": "bigint", "_c1": "bigint", "p": "decimal(20,2)"})
    found = shop.check("SELECT v.key, `_c1`, p FROM hive.shop.joined v ORDER BY key")
    assert [row["key"] for row in found] == [2, 3]
    shop.check("SELECT j.*, o.name FROM hive.shop.joined j LEFT JOIN hive.shop.orders o ON o.id = j.key ORDER BY key")


def test_a_view_of_views_of_spark(shop: Shop) -> None:
    """Names without a schema are those of the view's; types are the view's."""
    kept = {**_SPARK, "view.query.out.numCols": "2", "view.query.out.col.0": "id", "view.query.out.col.1": "m"}
    text = "WITH lines AS (SELECT id, upper(name) AS m FROM orders) SELECT id, m FROM lines UNION ALL SELECT 9, 'z'"
    shop.add("inner_view", text, {"key": "bigint", "m": "string"}, kept)
    kept = {**_SPARK, "view.query.out.numCols": "2", "view.query.out.col.0": "k", "view.query.out.col.1": "c"}
    text = "SELECT i.key AS k, count(*) AS c FROM inner_view i, lines l WHERE i.key >= l.id GROUP BY i.key"
    shop.add("outer_view", text, {"k": "bigint", "c": "bigint"}, kept)
    found = shop.check("SELECT k, c FROM hive.shop.outer_view ORDER BY k")
    assert [row["k"] for row in found] == [1, 2, 3, 9]
    shop.check("SELECT * FROM hive.shop.outer_view PIVOT (sum(c) FOR k IN (1, 9))")
    with pytest.raises(NotSupportedError, match="sample of a view"):
        shop.engine.plan("SELECT k FROM hive.shop.outer_view TABLESAMPLE (1 ROWS)")
    shop.check("WITH orders AS (SELECT 1 AS one) SELECT one, k FROM orders, hive.shop.outer_view ORDER BY k")
    lines = "LEFT JOIN hive.shop.orders o ON o.id = a.k ORDER BY a.k"
    own = f"SELECT a.k, b.c, o.name FROM hive.shop.outer_view a JOIN hive.shop.outer_view b USING (k) {lines}"
    expected = f"SELECT a.k, a.c, o.name FROM hive.shop.outer_view a {lines}"
    assert shop.engine.plan_own(own).arrow().to_pylist() == shop.check(expected)


def test_a_view_of_trino(shop: Shop) -> None:
    text = "SELECT o.name, l.price * 2 AS p FROM orders o LEFT JOIN lines l ON o.id = l.id AND l.n > 10"
    shop.add_of_trino("trinos", text, {"name": "varchar", "p": "decimal(20,2)"})
    found = shop.check("SELECT p, name FROM hive.shop.trinos ORDER BY p, name")
    assert [row["p"] for row in found] == [None, None, Decimal("4.50")]


@pytest.mark.parametrize(
    ("text", "kept", "reason"),
    [
        ("select size(split(`o`.`name`, ',')) as `x` from `shop`.`orders` `o`", {}, "without spark.sql.ansi"),
        ("SELECT CAST(price AS STRING) AS x FROM orders o, lines l", {}, "without spark.sql.ansi|price"),
        ("SELECT id AS x FROM orders UNION SELECT 1", {**_SPARK, "view.sqlConfig.spark.sql.session.timeZone": "CET"},
         "timeZone = CET"),
    ],
)  # fmt: skip
def test_views_with_another_meaning_are_refused(shop: Shop, text: str, kept: dict[str, str], reason: str) -> None:
    shop.add("other", text, {"x": "bigint"}, kept)
    with pytest.raises(ConnectorError, match=reason):
        shop.engine.plan("SELECT * FROM hive.shop.other")


def test_views_that_name_each_other(shop: Shop) -> None:
    for name, other in (("one", "two"), ("two", "one")):
        shop.add(name, f"SELECT v.x FROM {other} v, orders o", {"x": "bigint"}, _SPARK)
    with pytest.raises(ConnectorError, match="a view of more than"):
        shop.engine.plan("SELECT * FROM hive.shop.one")
