"""What Java says in one text is what Python finds by asking for each part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from py4j.java_gateway import JavaObject

from connector_spi.names import SchemaTableName
from lakeport.spark.bridge.answers import hand_over
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.plan_words import asked_table, reading
from lakeport.spark.bridge.plan_words.asked_table import AskedTable, AskedVersion
from lakeport.spark.bridge.plan_words.nodes import FieldNode, LiteralNode, PredicateNode, PredicateWords
from lakeport.spark.bridge.plan_words.reading import predicates_of_words
from lakeport.spark.catalog import catalog
from lakeport.spark.catalog_map import catalog_map
from lakeport.spark.scan import scan_builder
from tests.lakeport.spark.conftest import Lake

pytestmark = pytest.mark.spark

_FILTERS = [
    "flag",
    "NOT flag OR tiny = -128Y",
    "small IN (0S, NULL, -32768S) AND big > -9223372036854775808L + 0L",
    "real <= cast(0.1 AS float) OR double = double('NaN') OR double > double('Infinity') OR double = -0.0D",
    "price <> 100.00BD AND wide >= 1000000000000000000000000000003.0000BD",
    "name LIKE 'ż%' OR name LIKE '%\U0001f4221' OR name = 'b\\'c\"2'",
    "raw = X'0700FF' OR raw = X''",
    "day < DATE'0001-01-01' AND at > TIMESTAMP'2024-03-10 02:59:59.999999Z'",
    "wall = TIMESTAMP_NTZ'2024-03-10 02:59:59.999999' OR part IS NULL OR part <=> NULL",
    "id + 1 = tiny OR id = tiny",
]


@contextmanager
def _both_ways(monkeypatch: pytest.MonkeyPatch, module: object, name: str, found: list[Any]) -> Iterator[None]:
    """Each reading is done by Java and by Python, and has to be the same."""
    real: Callable[..., object] = getattr(module, name)

    def read(*args: object) -> object:
        quick = real(*args)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reading, "plan_words", lambda jvm: None)
            patch.setattr(asked_table, "plan_words", lambda jvm: None)
            # As texts, since NaN is not equal to itself.
            assert repr(real(*args)) == repr(quick)
        found.append(quick)
        return quick

    with monkeypatch.context() as patch:
        patch.setattr(module, name, read)
        # The builder itself is asked, and not in words.
        patch.setattr(scan_builder, "_IN_WORDS", frozenset())
        yield


@pytest.mark.slow
@pytest.mark.parametrize("condition", _FILTERS)
def test_predicates(lake: Lake, monkeypatch: pytest.MonkeyPatch, condition: str) -> None:
    found: list[Any] = []
    with _both_ways(monkeypatch, scan_builder, "read_predicates", found):
        lake.spark.sql(f"SELECT count(*) FROM mem.sales.everything WHERE {condition}").collect()
    assert found


def test_predicates_keep_their_shape(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []
    with _both_ways(monkeypatch, scan_builder, "read_predicates", found):
        lake.spark.sql("SELECT id FROM mem.sales.everything WHERE id = 7 OR name = 'a'").collect()
    [[words]] = found
    equal = PredicateNode("=", (FieldNode(("id",)), LiteralNode('"integer"', "7")))
    other = PredicateNode("=", (FieldNode(("name",)), LiteralNode('"string"', "a")))
    assert words.node == PredicateNode("OR", (equal, other))


def test_a_predicate_of_too_many_nodes_is_not_looked_into(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_NODES", 3)
    found: list[Any] = []
    with _both_ways(monkeypatch, scan_builder, "read_predicates", found):
        lake.spark.sql("SELECT id FROM mem.sales.everything WHERE id = 7 OR id = 8 OR name = 'a'").collect()
    [[words]] = found
    assert words.node is None
    assert words.text == "((id = 7) OR (id = 8)) OR (name = 'a')"


def test_the_limit_of_nodes_holds_in_words(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_builder, "MOST_NODES", 3)
    found: list[Any] = []

    def read(text: str) -> list[PredicateWords]:
        found.append(predicates_of_words(text))
        return found[-1]  # type: ignore[no-any-return]

    monkeypatch.setattr(scan_builder, "predicates_of_words", read)
    lake.spark.sql("SELECT id FROM mem.sales.everything WHERE id = 7 OR id = 8 OR name = 'a'").collect()
    [[words]] = found
    assert words.node is None


@pytest.mark.parametrize(
    "select",
    [
        "count(*), count(name), sum(id), min(day), max(day) FROM mem.sales.everything",
        "part, avg(price), count(DISTINCT id) FROM mem.sales.everything GROUP BY part",
        "id + 1, max(id + 1) FROM mem.sales.everything GROUP BY id + 1",
    ],
)
def test_aggregates(lake: Lake, monkeypatch: pytest.MonkeyPatch, select: str) -> None:
    found: list[Any] = []
    with _both_ways(monkeypatch, scan_builder, "read_aggregation", found):
        lake.spark.sql(f"SELECT {select}").collect()
    assert found


def test_sort_orders(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []
    with _both_ways(monkeypatch, scan_builder, "read_orders", found):
        lake.spark.sql("SELECT id FROM mem.sales.everything ORDER BY name DESC NULLS FIRST, id LIMIT 3").collect()
    [orders] = found
    assert [(one.direction, one.nulls) for one in orders] == [("DESC", "NULLS FIRST"), ("ASC", "NULLS FIRST")]


@pytest.mark.slow
def test_tables(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []

    def read(jvm: Jvm, ident: JavaObject, context: tuple[object, ...], statement: str) -> AskedTable:
        quick = asked_table.read_asked_table(jvm, ident, context, statement)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asked_table, "plan_words", lambda jvm: None)
            slow = asked_table.read_asked_table(jvm, ident, context, statement)
        # The one that asks one by one leaves the property of the thread to whoever needs it.
        found.append(replace(quick, statement=None))
        assert slow == found[-1]
        return quick

    monkeypatch.setattr(catalog, "read_asked_table", read)
    with _asked_itself(lake):
        _load_tables(lake)
    assert found[0] == AskedTable(("Sales",), "Small")
    versions = [one.version for one in found if one.version is not None]
    assert AskedVersion("AsOfVersion", "x y", versions[0].text) == versions[0]
    assert (versions[1].kind, versions[1].value) == ("AsOfTimestamp", 1710039599123456)
    assert {one.privileges for one in found} == {(), ("UPDATE",), ("DELETE", "INSERT")}
    assert next(one.sql for one in found if one.privileges == ("UPDATE",)) == "UPDATE mem.sales.written SET id = id"


@contextmanager
def _asked_itself(lake: Lake) -> Iterator[None]:
    """The catalog ``mem`` is asked, and not in words."""
    jvm = Jvm(lake.spark)
    catalogs = catalog_map(lake.spark._jsparkSession, lake.spark.version)
    before = catalogs.get("mem").get()
    made = catalog.CatalogProxy(jvm, lake.registry, "mem")
    catalogs.put("mem", hand_over(jvm, made, replace(made._known(), in_words=frozenset()), made._own))
    try:
        yield
    finally:
        catalogs.put("mem", before)


def _load_tables(lake: Lake) -> None:
    lake.spark.sql("SELECT * FROM mem.Sales.Small").collect()
    for text in (
        "SELECT * FROM mem.sales.small VERSION AS OF 'x y'",
        "SELECT * FROM mem.sales.small TIMESTAMP AS OF '2024-03-10 02:59:59.123456Z'",
    ):
        with pytest.raises(Exception, match=r"version|has no state"):
            lake.spark.sql(text).collect()
    written = SchemaTableName("sales", "written")
    lake.memory.create_table(written, pa.table({"id": [1]}))
    lake.spark.sql("UPDATE mem.sales.written SET id = id").collect()
    lake.spark.sql("INSERT OVERWRITE mem.sales.written SELECT * FROM mem.sales.written").collect()
    lake.memory.drop_table(written)
