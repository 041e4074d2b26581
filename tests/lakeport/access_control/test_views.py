"""Views with the rights of their owner and of who asks, in DuckDB, Arrow and Spark; expected is Trino's rule.

``ann`` sees rows of ``eu`` with masks and may pass them on. ``eve`` sees all rows and may not. ``carl`` sees all of
them, too, and ``bob`` may read the views alone.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import lakeport
from catalog.access_control.file_access_control import FileAccessControl
from catalog.metastore.embedded.factory import open_embedded
from catalog.metastore.model import FieldSchema, Parameters, StorageDescriptor, Table
from connector_spi.errors import AccessDeniedError, ConnectorError
from connector_spi.security import Identity
from lakeport.catalog_session import AnySession
from tests.lakeport.access_control.granting_sessions import Connect, rows
from tests.lakeport.access_control.guarded_sessions import write_rules

pytestmark = pytest.mark.slow

ORDERS = pa.table({"id": [1, 2, 3], "region": ["eu", "us", "eu"], "ssn": ["a-1", "b-2", "c-3"]})
ALL = ["SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP", "GRANT_SELECT"]
RULES = {
    "tables": [
        {"user": "root", "privileges": ALL},
        {
            "user": "ann",
            "table": "orders",
            "privileges": ["GRANT_SELECT"],
            "filter": "region = 'eu'",
            "columns": [{"name": "ssn", "mask": "upper(ssn)"}],
        },
        {"user": "eve|carl", "table": "orders", "privileges": ["SELECT"]},
        {"user": "ann", "table": "v_.*", "privileges": ["SELECT", "GRANT_SELECT"]},
        {"user": "bob|carl|eve", "table": "v_.*", "privileges": ["SELECT"]},
    ]
}
_SPARK = {"view.catalogAndNamespace.numParts": "2", "view.catalogAndNamespace.part.0": "hive",
          "view.catalogAndNamespace.part.1": "default", "spark.sql.create.version": "4.3.0",
          "view.sqlConfig.spark.sql.ansi.enabled": "true"}  # fmt: skip
COLUMNS = {"id": "bigint", "ssn": "string"}
TWICE = "SELECT a.id, b.ssn FROM {t} a JOIN {t} b ON a.id = b.id"
"""More than columns of one table: an engine expands it."""
PLAIN = "SELECT id, ssn FROM {t}"
OWNERS = [(1, "A-1"), (3, "C-3")]
WHOLE = [(1, "a-1"), (2, "b-2"), (3, "c-3")]


def view_of_spark(name: str, text: str, owner: str | None) -> Table:
    kept = {**_SPARK, "view.query.out.numCols": "2", "view.query.out.col.0": "id", "view.query.out.col.1": "ssn"}
    return view(name, text, owner, kept)


def view(name: str, text: str, owner: str | None, kept: Mapping[str, str] | None = None) -> Table:
    """A view of Hive, or what is given of another engine."""
    fields = tuple(FieldSchema(column, kind) for column, kind in COLUMNS.items())
    return Table(
        "default",
        name,
        StorageDescriptor(fields),
        parameters=Parameters.of(dict(kept or {})),
        table_type="VIRTUAL_VIEW",
        owner=owner,
        view_original_text=text,
        view_expanded_text=text,
    )


def view_of_trino(name: str, text: str, owner: str, *, as_invoker: bool) -> Table:
    told: dict[str, object] = {"originalSql": text, "catalog": "hive", "schema": "default", "path": [], "owner": owner}
    told["columns"] = [{"name": "id", "type": "bigint"}, {"name": "ssn", "type": "varchar"}]
    told["runAsInvoker"] = as_invoker
    encoded = base64.b64encode(json.dumps(told).encode()).decode()
    return Table(
        "default",
        name,
        StorageDescriptor((FieldSchema("dummy", "string"),)),
        parameters=Parameters.of({"presto_view": "true", "comment": "Presto View"}),
        table_type="VIRTUAL_VIEW",
        # What the entry says is not asked where the view itself says it.
        owner="root",
        view_original_text=f"/* Presto View: {encoded} */",
        view_expanded_text="/* Presto View */",
    )


def views() -> list[Table]:
    hive = "`default`.`orders`"
    return [
        view("v_hive", TWICE.format(t=hive), "ann"),
        view("v_plain", PLAIN.format(t=hive), "ann"),
        view("v_ownerless", TWICE.format(t=hive), None),
        view_of_spark("v_spark", TWICE.format(t="hive.default.orders"), "ann"),
        view_of_spark("v_spark_plain", PLAIN.format(t="orders"), "ann"),
        view_of_spark("v_eve", TWICE.format(t="orders"), "eve"),
        view_of_spark("v_nested", "SELECT x.id, y.ssn FROM v_hive x JOIN v_plain y ON x.id = y.id", "ann"),
        view_of_spark("v_nested_of_eve", "SELECT x.id, x.ssn FROM v_hive x JOIN v_hive y ON x.id = y.id", "eve"),
        view_of_spark("v_unlike", TWICE.format(t="orders") + " WHERE a.ssn <> 'hive.default.orders'", "ann"),
        view_of_trino("v_trino", TWICE.format(t="orders"), "ann", as_invoker=False),
        view_of_trino("v_invoker", TWICE.format(t="orders"), "ann", as_invoker=True),
    ]


@pytest.fixture(scope="module", params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def connect(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    folder = tmp_path_factory.mktemp("views")
    catalogs = folder / "catalog"
    catalogs.mkdir()
    file = f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder}/metastore.db\n"
    (catalogs / "hive.properties").write_text(file)
    (catalogs / "asked.properties").write_text(f"{file}hive.hive-views.run-as-invoker=true\n")
    with lakeport.connect(catalogs=catalogs, engine="duckdb") as made:
        made.create_table_as("hive.default.orders", ORDERS)
    metastore = open_embedded(folder / "metastore.db")
    for one in views():
        metastore.writes.create_table(one)
    metastore.close()
    control = FileAccessControl(write_rules(folder, RULES))
    opened: dict[str, AnySession] = {}

    def session(user: str) -> AnySession:
        if user not in opened:
            identity = Identity(user)
            if request.param == "duckdb":
                opened[user] = lakeport.connect(
                    catalogs=catalogs, engine="duckdb", access_control=control, identity=identity
                )
            else:
                spark: SparkSession = request.getfixturevalue("spark")
                opened[user] = lakeport.connect(spark.newSession(), catalogs, access_control=control, identity=identity)
        return opened[user]

    yield session
    for made_session in opened.values():
        made_session.close()


def found(session: AnySession, text: str) -> list[tuple[object, ...]]:
    return sorted(rows(session, text), key=repr)


@pytest.mark.parametrize("name", ["v_hive", "v_plain", "v_spark", "v_spark_plain", "v_nested", "v_unlike", "v_trino"])
@pytest.mark.parametrize("user", ["bob", "carl"])
def test_a_view_has_the_rights_of_its_owner(connect: Connect, name: str, user: str) -> None:
    """Also for one who sees more of the table: its owner's filters and masks hold."""
    session = connect(user)
    assert found(session, f"SELECT id, ssn FROM hive.default.{name}") == OWNERS
    assert found(session, f"SELECT count(*) FROM hive.default.{name} WHERE ssn = 'A-1'") == [(1,)]
    assert found(session, f"WITH x AS (SELECT * FROM hive.default.{name}) SELECT id, ssn FROM x") == OWNERS
    text = f"SELECT id FROM hive.default.{name} WHERE id IN (SELECT max(id) FROM hive.default.{name})"
    assert found(session, text) == [(3,)]


def test_a_view_and_its_table_in_one_statement(connect: Connect) -> None:
    """Each with its own rights, whichever comes first."""
    carl = connect("carl")
    expected = [(1, "a-1", "A-1"), (3, "c-3", "C-3")]
    for name in ("v_hive", "v_spark", "v_trino"):
        one, other = f"hive.default.{name} v", "hive.default.orders o"
        for tables in (f"{one} JOIN {other}", f"{other} JOIN {one}"):
            assert found(carl, f"SELECT o.id, o.ssn, v.ssn FROM {tables} ON o.id = v.id") == expected, tables
        both = f"SELECT id, ssn FROM hive.default.{name} UNION ALL SELECT id, ssn FROM hive.default.orders"
        assert found(carl, both) == sorted([*OWNERS, *WHOLE], key=repr)


@pytest.mark.parametrize("name", ["v_hive", "v_plain", "v_spark", "v_trino"])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT o.id FROM hive.default.{v} v JOIN hive.default.orders o ON v.id = o.id",
        "SELECT o.id FROM hive.default.orders o JOIN hive.default.{v} v ON v.id = o.id",
        "SELECT id FROM hive.default.{v} WHERE id IN (SELECT id FROM hive.default.orders)",
        "WITH x AS (SELECT id FROM hive.default.orders) SELECT v.id FROM hive.default.{v} v, x",
        "SELECT id FROM hive.default.{v} UNION ALL SELECT id FROM hive.default.orders",
    ],
)
def test_a_view_opens_no_way_to_its_table(connect: Connect, name: str, text: str) -> None:
    with pytest.raises((AccessDeniedError, PySparkException), match=r"Cannot select from table hive\.default\.orders"):
        rows(connect("bob"), text.format(v=name))


def test_a_view_of_who_asks(connect: Connect) -> None:
    assert found(connect("carl"), "SELECT * FROM hive.default.v_invoker") == WHOLE
    assert found(connect("ann"), "SELECT * FROM hive.default.v_invoker") == OWNERS
    for name in ("hive.default.v_invoker", "hive.default.v_ownerless", "asked.default.v_hive"):
        with pytest.raises((AccessDeniedError, PySparkException), match=r"from table \w+\.default\.orders"):
            rows(connect("bob"), f"SELECT * FROM {name}")


@pytest.mark.parametrize("name", ["v_eve", "v_nested_of_eve"])
def test_an_owner_may_not_pass_on_what_is_not_granted_so(connect: Connect, name: str) -> None:
    with pytest.raises((AccessDeniedError, PySparkException), match="View owner 'eve' cannot create view"):
        rows(connect("bob"), f"SELECT * FROM hive.default.{name}")
    # To oneself there is nothing to pass on.
    if name == "v_eve":
        assert found(connect("eve"), f"SELECT * FROM hive.default.{name}") == WHOLE


def test_a_view_itself_has_to_be_granted(connect: Connect) -> None:
    with pytest.raises((AccessDeniedError, PySparkException), match=r"Cannot select from (table|columns).*v_hive"):
        rows(connect("stranger"), "SELECT * FROM hive.default.v_hive")
    with pytest.raises((AccessDeniedError, PySparkException), match="Access Denied"):
        rows(connect("stranger"), "DESCRIBE hive.default.v_hive")


def test_views_without_an_engine(connect: Connect) -> None:
    for name in ("v_plain", "v_spark_plain"):
        read = connect("bob").arrow(f"hive.default.{name}", where="id > 1").read_all()
        assert read.to_pylist() == [{"id": 3, "ssn": "C-3"}]
    with pytest.raises(AccessDeniedError, match=r"orders"):
        connect("bob").arrow("hive.default.orders")


def test_the_names_below_a_view_are_of_no_use_elsewhere(connect: Connect) -> None:
    session = connect("bob")
    rows(session, "SELECT * FROM hive.default.v_hive")
    shown = {str(row[0]) for row in rows(session, "SHOW CATALOGS")}
    assert shown <= {"hive", "asked", "spark_catalog"}


def test_explain_says_nothing_of_hidden_rows(connect: Connect) -> None:
    for text in ("EXPLAIN SELECT * FROM hive.default.v_hive", "EXPLAIN ANALYZE SELECT * FROM hive.default.v_hive"):
        try:
            shown = str(rows(connect("bob"), text))
        except ConnectorError as error:
            shown = str(error)
        assert "b-2" not in shown
        assert "splits:" not in shown


def denied(call: Callable[[], object]) -> bool:
    try:
        call()
    except (AccessDeniedError, PySparkException):
        return True
    return False


def test_temporary_views_keep_what_they_were_made_with(connect: Connect, tmp_path: Path) -> None:
    session = connect("bob")
    if session.engine.name != "spark":
        pytest.skip("DuckDB makes no temporary views here")
    rows(session, "CREATE OR REPLACE TEMPORARY VIEW kept AS SELECT * FROM hive.default.v_hive")
    assert found(session, "SELECT id, ssn FROM kept") == OWNERS
    assert denied(lambda: rows(session, "SELECT * FROM kept k JOIN hive.default.orders o ON k.id = o.id"))
