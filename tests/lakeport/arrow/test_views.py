"""Views of a Hive metastore through ``session.arrow``: columns and comparisons of one table need no Spark."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from catalog.metastore.embedded.metastore import EmbeddedMetastore
from catalog.metastore.model import Database, FieldSchema, Parameters, StorageDescriptor, Table
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import ColumnNotFoundError, ConnectorError, InvalidArgumentError
from connectors.hive.connector import HiveConnector, HivePlugin
from connectors.hive.definitions.storage_classes import storage_of
from lakeport.arrow.filters.where import Where
from lakeport.session import Session
from tests.lakeport.sample_session import sample_session

_ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int64()),
        "name": ["ann", "bob", None, "o'd"],
        "price": pa.array([Decimal("1.50"), Decimal("2.25"), None, Decimal("9.00")], pa.decimal128(10, 2)),
        "weight": [0.5, float("nan"), 2.0, None],
        "day": [date(2024, 1, 1), date(2024, 2, 29), None, date(2025, 1, 1)],
        "ok": [True, False, None, True],
        "code": ["a ", "b ", "c ", "d "],
    }
)
_TYPES = {
    "id": "bigint",
    "name": "string",
    "price": "decimal(10,2)",
    "weight": "double",
    "day": "date",
    "ok": "boolean",
    "code": "char(2)",
}


class Shop:
    """The catalog ``hive`` with the table ``shop.orders``, and views to add to it."""

    def __init__(self, folder: Path) -> None:
        registry = CatalogRegistry(PluginSet.of(HivePlugin()), "test")
        place = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "metastore.db")}
        registry.register("hive", "hive", place)
        self.session = Session(registry)
        hive = registry.get("hive")
        assert isinstance(hive, HiveConnector)
        self.metastore = hive.metastore.writes
        (folder / "orders").mkdir()
        pq.write_table(_ROWS, folder / "orders" / "part-0.parquet")
        fields = tuple(FieldSchema(name, kind) for name, kind in _TYPES.items())
        self.metastore.create_database(Database("shop"))
        storage = storage_of("parquet", fields, f"file://{folder}/orders")
        self.metastore.create_table(Table("shop", "orders", storage, (), Parameters(), "EXTERNAL_TABLE"))

    def view(self, text: str, columns: dict[str, str], name: str = "v", sparks: tuple[str, ...] = ()) -> None:
        fields = tuple(FieldSchema(column, kind) for column, kind in columns.items())
        told = {f"view.query.out.col.{at}": column for at, column in enumerate(sparks)}
        if sparks:
            told |= {"view.query.out.numCols": str(len(sparks)), "spark.sql.create.version": "4.0.0"}
        kept = Parameters.of(told)
        self.metastore.create_table(
            Table("shop", name, StorageDescriptor(fields), (), kept, "VIRTUAL_VIEW", None, 0, 0, text, text)
        )

    def rows(self, name: str = "v", columns: list[str] | None = None, where: Where | None = None) -> pa.Table:
        return self.session.arrow(f"hive.shop.{name}", columns=columns, where=where).read_all()


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    with made.session:
        yield made


def test_a_view_shows_columns_by_its_own_names(shop: Shop) -> None:
    text = "select `o`.`name` as `who`, `o`.`id`, `o`.`name` from `shop`.`orders` `o` where `o`.`id` >= 2"
    shop.view(text, {"who": "string", "key": "bigint", "again": "string"})
    assert shop.rows().to_pydict() == {
        "who": ["bob", None, "o'd"], "key": [2, 3, 4], "again": ["bob", None, "o'd"]
    }  # fmt: skip
    assert shop.rows(columns=["KEY"], where=[("who", "is not null")]).to_pydict() == {"key": [2, 4]}
    assert shop.session.scan("hive.shop.v").schema.names == ["who", "key", "again"]
    with pytest.raises(ColumnNotFoundError, match="id"):
        shop.rows(columns=["id"])
    with pytest.raises(InvalidArgumentError, match="filter"):
        shop.rows(where=[("key", "~", 1)])
    with pytest.raises(ConnectorError, match="no older states"):
        shop.session.arrow("hive.shop.v", version=1)


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("name = 'ann' or id in (3, 4)", [1, 3, 4]),
        ("not name in ('ann')", [2, 4]),
        ("name not in ('ann', 'bob')", [4]),
        ("name is null", [3]),
        ("NOT (name IS NULL)", [1, 2, 4]),
        ("2 < id", [3, 4]),
        ("id between 2 and 3 and (ok = false or ok is null)", [2, 3]),
        ("price > 1.5 and price <= 9", [2, 4]),
        ("weight > 1", [2, 3]),
        ("day >= DATE '2024-02-29'", [2, 4]),
        ("id > -1 and id <> 2.0", [1, 3, 4]),
        ("name = 'ANN'", []),
    ],
)
def test_comparisons_are_those_of_sql(shop: Shop, where: str, ids: list[int]) -> None:
    shop.view(f"SELECT id FROM orders WHERE {where}", {"id": "bigint"})
    assert shop.rows().column("id").to_pylist() == ids


def test_views_stand_on_views(shop: Shop) -> None:
    shop.view(
        "select `orders`.`id` `n`, `orders`.`name` from `shop`.`orders` where id > 1", {"n": "bigint", "w": "string"}
    )
    shop.view("select v.w as x, v.n from v where v.n < 4", {"x": "string", "n": "bigint"}, "w")
    assert shop.rows("w").to_pydict() == {"x": ["bob", None], "n": [2, 3]}
    shop.view("select n from b", {"n": "bigint"}, "a")
    shop.view("select n from a", {"n": "bigint"}, "b")
    with pytest.raises(ConnectorError, match="reads itself"):
        shop.rows("a")


def test_a_star_of_spark_is_what_the_view_recorded(shop: Shop) -> None:
    shop.view("SELECT * FROM shop.orders", {"a": "bigint", "b": "string"}, sparks=("id", "name"))
    assert shop.rows().to_pydict() == {"a": [1, 2, 3, 4], "b": ["ann", "bob", None, "o'd"]}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("select upper(name) from orders", "string"),
        ("select distinct id from orders", "bigint"),
        ("select id from orders limit 1", "bigint"),
        ("select id from orders order by id", "bigint"),
        ("select id from orders union all select id from orders", "bigint"),
        ("select o.id from orders o join orders p on o.id = p.id", "bigint"),
        ("select id from (select id from orders) o", "bigint"),
        ("select id from orders tablesample (1 percent)", "bigint"),
        ("select id from orders where name like 'a%'", "bigint"),
        ("select id from orders where id = 'x'", "bigint"),
        ("select id from orders where code = 'a'", "bigint"),
        ("select id from orders where id > 1.5", "bigint"),
        ("select id from orders where name = null", "bigint"),
        ("select id from orders where id > price", "bigint"),
        ("select id from orders where name = 'a\\\\n'", "bigint"),
        ("select * from orders", "bigint"),
        ("select id, name from orders", "bigint"),
        ("select id from orders", "int"),
        ("select other.id from orders", "bigint"),
        ("select nowhere from orders", "bigint"),
        ("select ((id from orders", "bigint"),
    ],
)
def test_what_else_a_view_has_is_left_to_spark(shop: Shop, text: str, kind: str) -> None:
    shop.view(text, {"id": kind})
    with pytest.raises(ConnectorError, match=r"shop\.v is a view.*Spark") as caught:
        shop.rows()
    assert caught.value.code.name == "HIVE_VIEW"


@pytest.mark.parametrize(
    "where",
    ["number > 1 AND price < 4", (pc.field("number") > Decimal("1.00")) & (pc.field("price") < 4)],
    ids=["sql", "pyarrow"],
)
def test_texts_and_expressions_name_the_views_columns(shop: Shop, where: Where) -> None:
    """The view's ``price`` is the table's ``id``: a filter in the table's names would find other rows."""
    shop.view(
        "SELECT `orders`.`price` AS `number`, `orders`.`id` AS `price`, `orders`.`name` FROM `shop`.`orders`",
        {"number": "decimal(10,2)", "price": "bigint", "name": "string"},
    )
    assert shop.rows(columns=["name"], where=where).to_pylist() == [{"name": "ann"}, {"name": "bob"}]
    assert shop.session.scan("hive.shop.v").where(where).head(1).to_pylist()[0]["name"] == "ann"
    assert shop.session.scan("hive.shop.v").where(where).count() == 2
    assert shop.session.scan("hive.shop.v").count() == 4


@pytest.mark.parametrize("catalog", ["hive", "hudi"])
def test_a_read_asks_for_its_table_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, catalog: str) -> None:
    asked: list[str] = []
    get_table = EmbeddedMetastore.get_table

    def counted(self: EmbeddedMetastore, database: str, name: str) -> Table | None:
        asked.append(name)
        return get_table(self, database, name)

    with sample_session(tmp_path) as session:
        monkeypatch.setattr(EmbeddedMetastore, "get_table", counted)
        assert session.arrow(f"{catalog}.sales.{'labels' if catalog == 'hive' else 'visits'}").read_all().num_rows
    assert len(asked) == 1
