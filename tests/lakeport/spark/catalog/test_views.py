"""Views of a metastore through Spark: Hive's, Spark's own, and those of Presto and Trino."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from catalog.metastore.model import FieldSchema, Parameters, StorageDescriptor, Table
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import ConnectorError
from connectors.hive.connector import HiveConnector, HivePlugin
from connectors.hudi.connector import HudiPlugin
from lakeport.session import Session
from lakeport.spark.catalog.install import install
from tests.hms import HiveMetastoreServer

pytestmark = pytest.mark.spark

_ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "name": ["ann", "bob", None],
        "price": pa.array([Decimal("1.50"), Decimal("2.25"), None], pa.decimal128(10, 2)),
        "n": pa.array([10, 20, 30], pa.int32()),
    }
)


class Lake:
    """The catalog ``hive`` over an embedded metastore with the table ``shop.orders``."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.registry = CatalogRegistry(PluginSet.of(HivePlugin(), HudiPlugin()), "test")
        place = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "metastore.db")}
        self.registry.register("hive", "hive", place)
        self.registry.register("hudi", "hudi", place)
        self.spark = spark.newSession()
        install(self.spark, self.registry)
        (folder / "orders").mkdir()
        pq.write_table(_ROWS, folder / "orders" / "part-0.parquet")
        self.spark.sql("CREATE SCHEMA hive.shop")
        self.spark.sql(f"CREATE TABLE hive.shop.orders USING parquet LOCATION '{folder}/orders'")
        self.spark.sql(f"CREATE TABLE hive.default.orders USING parquet LOCATION '{folder}/orders'")

    def add(self, view: Table) -> None:
        hive = self.registry.get("hive")
        assert isinstance(hive, HiveConnector)
        if hive.metastore.reads.get_table(view.database, view.name) is not None:
            hive.metastore.writes.drop_table(view.database, view.name)
        hive.metastore.writes.create_table(view)

    def rows(self, text: str) -> list[tuple[object, ...]]:
        return sorted((tuple(row) for row in self.spark.sql(text).collect()), key=repr)


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    made = Lake(spark, tmp_path_factory.mktemp("views"))
    yield made
    made.registry.shutdown()


def _hive_view(expanded: str, columns: dict[str, str], name: str = "v") -> Table:
    """As Hive writes it: SemanticAnalyzer names every table and column in the expanded text in full."""
    fields = tuple(FieldSchema(column, kind) for column, kind in columns.items())
    return Table(
        "shop", name, StorageDescriptor(fields), table_type="VIRTUAL_VIEW",
        view_original_text="select something", view_expanded_text=expanded,
    )  # fmt: skip


def _trino_view(
    sql: str, columns: dict[str, str], *, catalog: str | None = "hive", schema: str | None = "shop"
) -> Table:
    """As Trino's ViewReaderUtil and TrinoViewHiveMetastore write it."""
    definition = {
        "originalSql": sql,
        "catalog": catalog,
        "schema": schema,
        "columns": [{"name": name, "type": kind} for name, kind in columns.items()],
        "owner": "ann",
        "runAsInvoker": False,
        "path": [],
    }
    told = {key: value for key, value in definition.items() if value is not None}
    encoded = base64.b64encode(json.dumps(told).encode()).decode()
    return Table(
        "shop", "v", StorageDescriptor((FieldSchema("dummy", "string"),)), (),
        Parameters.of({"presto_view": "true", "comment": "Presto View"}), "VIRTUAL_VIEW",
        view_original_text=f"/* Presto View: {encoded} */", view_expanded_text="/* Presto View */",
    )  # fmt: skip


def test_a_view_of_hive(lake: Lake) -> None:
    text = "select `o`.`id` as `key`, count(1) as `_c1` from `shop`.`orders` `o` where `o`.`id` > 1 group by `o`.`id`"
    lake.add(_hive_view(text, {"key": "bigint", "_c1": "bigint"}))
    assert lake.rows("SELECT * FROM hive.shop.v") == [(2, 1), (3, 1)]
    assert lake.rows("SELECT v.key FROM hive.shop.v JOIN hive.shop.orders o ON v.key = o.id WHERE o.n = 30") == [(3,)]
    assert [row[:2] for row in lake.rows("DESCRIBE hive.shop.v")] == [("_c1", "bigint"), ("key", "bigint")]
    # A view that names no schema reads that of its own, wherever the session is; one more stands on it.
    lake.add(_hive_view("select `name` from `orders` order by `name` limit 2", {"who": "string"}, "w"))
    lake.add(_hive_view("select upper(`w`.`who`) from `shop`.`w`", {"_c0": "string"}, "x"))
    assert lake.rows("SELECT * FROM hive.shop.x") == [("ANN",), (None,)]
    # Hive gives NULL where a text is no number.
    lake.add(_hive_view("select cast(`name` as int) from `shop`.`orders`", {"_c0": "int"}))
    assert lake.rows("SELECT * FROM hive.shop.v") == [(None,), (None,), (None,)]


def test_a_view_of_hive_that_spark_does_not_understand(lake: Lake) -> None:
    lake.add(_hive_view("select ((a from b", {"a": "int"}))
    with pytest.raises(Exception, match=r"UNSUPPORTED_VIEW.*shop\.v.*select \(\(a from b"):
        lake.rows("SELECT * FROM hive.shop.v")
    lake.add(_hive_view("select `orders`.`name` from `shop`.`orders`", {"a": "int"}))
    with pytest.raises(Exception, match="CAST"):
        lake.rows("SELECT * FROM hive.shop.v")
    with pytest.raises(ConnectorError, match=r"HIVE_VIEW.*Spark"):
        Session(lake.registry).arrow("hive.shop.v")
    with pytest.raises(Exception, match="no older versions"):
        lake.rows("SELECT * FROM hive.shop.v VERSION AS OF 1")
    with pytest.raises(Exception, match="READ_ONLY_CATALOG"):
        lake.rows("INSERT INTO hive.shop.v VALUES (1)")
    lake.rows("DROP TABLE hive.shop.v")
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        lake.rows("SELECT * FROM hive.shop.v")


@pytest.mark.parametrize(
    ("sql", "columns", "expected"),
    [
        (
            "SELECT \"o\".\"id\", upper(name) || '\\n' AS shout FROM orders o WHERE name LIKE 'a%'",
            {"id": "bigint", "shout": "varchar"},
            [(1, "ANN\\n")],
        ),
        (
            "SELECT name, price * 2 p2, CAST(n AS double) / 4 q FROM hive.default.orders WHERE id < 3",
            {"name": "varchar(10)", "p2": "decimal(12, 2)", "q": "double"},
            [("ann", Decimal("3.00"), 2.5), ("bob", Decimal("4.50"), 5.0)],
        ),
        (
            "SELECT sum(n) s, count(DISTINCT name) c, avg(price) a FROM shop.orders",
            {"s": "bigint", "c": "bigint", "a": "decimal(10,2)"},
            [(60, 2, Decimal("1.88"))],
        ),
        ("SELECT name FROM orders ORDER BY name DESC LIMIT 2", {"name": "varchar"}, [("ann",), ("bob",)]),
        (
            "WITH big AS (SELECT * FROM orders WHERE n >= 20) SELECT id, row_number() OVER (ORDER BY name) FROM big",
            {"id": "bigint", "_col1": "bigint"},
            [(2, 1), (3, 2)],
        ),
        ("SELECT id FROM orders WHERE id = 1 UNION ALL SELECT 7", {"id": "bigint"}, [(1,), (7,)]),
    ],
)
def test_a_view_of_trino(lake: Lake, sql: str, columns: dict[str, str], expected: list[tuple[object, ...]]) -> None:
    lake.add(_trino_view(sql, columns))
    assert lake.rows("SELECT * FROM hive.shop.v") == expected
    assert lake.spark.table("hive.shop.v").columns == list(columns)


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("SELECT n / 3 FROM orders", r"n / 3"),
        ("SELECT CAST(price AS bigint) FROM orders", r"CAST\(price AS BIGINT\)"),
        ("SELECT CAST(price AS varchar) FROM orders", r"CAST\(price AS VARCHAR\)"),
        ("SELECT id FROM orders WHERE name LIKE 'a\\%' ESCAPE '\\'", "ESCAPE"),
        ("SELECT id FROM orders WHERE name LIKE 'a\\'", "LIKE"),
        ("SELECT approx_distinct(id) FROM orders", "APPROX_DISTINCT"),
        ("SELECT id FROM orders WHERE avg(price) OVER () > 1", "AVG"),
        ("SELECT id FROM orders TABLESAMPLE BERNOULLI (50)", "TABLESAMPLE"),
        ("SELECT x FROM UNNEST(ARRAY[1, 2]) AS t(x)", "UNNEST"),
        ("SELECT FROM WHERE", "not valid"),
    ],
)
def test_a_view_of_trino_that_may_mean_something_else(lake: Lake, sql: str, part: str) -> None:
    lake.add(_trino_view(sql, {"x": "bigint"}))
    with pytest.raises(Exception, match=part) as met:
        lake.rows("SELECT * FROM hive.shop.v")
    assert "UNSUPPORTED_VIEW" in str(met.value)
    assert " ".join(sql.split()) in str(met.value)


def test_what_of_a_view_of_trino_is_not_here(lake: Lake) -> None:
    lake.add(_trino_view("SELECT id FROM orders", {"id": "bigint"}, catalog="lake"))
    with pytest.raises(Exception, match="lake"):
        lake.rows("SELECT * FROM hive.shop.v")
    lake.add(_trino_view("SELECT id, n FROM orders", {"id": "bigint"}))
    with pytest.raises(Exception, match="ARITY"):
        lake.rows("SELECT * FROM hive.shop.v")
    lake.add(
        _trino_view("SELECT id FROM hive.shop.orders", {"id": "interval day to second"}, catalog=None, schema=None)
    )
    with pytest.raises(Exception, match="interval day to second"):
        lake.rows("SELECT * FROM hive.shop.v")


_SPARKS_OWN = """
import json, sys
from pyspark.sql import SparkSession
uri, schema, folder = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").enableHiveSupport()
    .config("spark.hadoop.hive.metastore.uris", uri).config("spark.sql.warehouse.dir", folder).getOrCreate()
)
spark.sql(f"USE {schema}")
met = [list(row) for row in spark.sql("SELECT id, name, ds FROM ours ORDER BY id, ds").collect()]
types = [field.dataType.simpleString() for field in spark.table("ours").schema]
spark.sql("CREATE TABLE theirs (a INT, b STRING) STORED AS ORC")
spark.sql("INSERT INTO theirs VALUES (1, 'x'), (2, 'y')")
spark.sql("CREATE VIEW v (k COMMENT 'the key', c) AS SELECT b, count(*) n FROM theirs JOIN ours ON a = id GROUP BY b")
spark.sql("CREATE VIEW other AS SELECT * FROM v WHERE k = 'x'")
print("ANSWER" + json.dumps([met, types, [list(row) for row in spark.sql("SELECT * FROM v ORDER BY k").collect()]]))
"""


@pytest.mark.slow
def test_sparks_own_metastore_session_and_ours(
    spark: SparkSession, hive_metastore_server: HiveMetastoreServer, tmp_path: Path
) -> None:
    """What we define it reads, and its views and tables are read here as there."""
    schema = f"s_{uuid4().hex[:8]}"
    registry = CatalogRegistry(PluginSet.of(HivePlugin(), HudiPlugin()), "test")
    registry.register("hms", "hive", {"hive.metastore.uri": hive_metastore_server.uri})
    session = spark.newSession()
    install(session, registry)
    for day in ("2024-01-01", "2024-01-02"):
        folder = tmp_path / "ours" / f"ds={day}"
        folder.mkdir(parents=True)
        pq.write_table(_ROWS.select(["id", "name"]), folder / "part-0.parquet")
    session.sql(f"CREATE SCHEMA hms.{schema} LOCATION '{tmp_path}/schema'")
    session.sql(
        f"CREATE TABLE hms.{schema}.ours (id BIGINT COMMENT 'key', name VARCHAR(9), ds STRING) STORED AS PARQUET "
        f"PARTITIONED BY (ds) LOCATION '{tmp_path}/ours'"
    )
    session.sql(f"CALL hms.system.sync_partition_metadata('{schema}', 'ours', 'FULL')")
    command = [sys.executable, "-c", _SPARKS_OWN, hive_metastore_server.uri, schema, str(tmp_path / "warehouse")]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    lines = [line[6:] for line in done.stdout.splitlines() if line.startswith("ANSWER")]
    assert lines, done.stderr[-3000:]
    met, types, counted = json.loads(lines[0])
    assert types == ["bigint", "string", "string"]
    assert met == [[number, name, day] for number, name in ((1, "ann"), (2, "bob"), (3, None)) for day in _DAYS]
    assert counted == [["x", 2], ["y", 2]]
    assert [list(row) for row in session.sql(f"SELECT * FROM hms.{schema}.v ORDER BY k").collect()] == counted
    assert session.sql(f"SELECT c FROM hms.{schema}.other").collect() == [(2,)]
    described = {row[0]: row[2] for row in session.sql(f"DESCRIBE hms.{schema}.v").collect()}
    assert described["k"] == "the key"
    managed = Path(tmp_path / "schema" / "theirs")
    assert managed.is_dir()
    session.sql(f"DROP SCHEMA hms.{schema} CASCADE")
    assert not managed.exists()
    assert (tmp_path / "ours").is_dir()
    registry.shutdown()


_DAYS = ("2024-01-01", "2024-01-02")
