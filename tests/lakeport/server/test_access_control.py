"""Clients of one server under rules: each is who it says it is, in all that JDBC and Spark Connect ask."""

from __future__ import annotations

import getpass
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from catalog.metastore.embedded.factory import open_embedded
from catalog.metastore.model import FieldSchema, StorageDescriptor, Table
from connector_spi.names import SchemaTableName
from connector_spi.security import Principal, Privilege, PrivilegeGrant, RoleGrant
from tests.lakeport.server.clients import Client, RunningServer, read, running_server
from tests.lakeport.server.connect_query import connect_rows

pytestmark = pytest.mark.slow

_ALL = ["SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP"]
_RULES = {
    "schemas": [{"user": "admin", "owner": True}],
    "tables": [
        # The user of the process may do everything: no client's question may be asked as this user.
        {"user": f"admin|{getpass.getuser()}", "privileges": [*_ALL, "GRANT_SELECT"]},
        {"user": "vic", "table": "v_labels", "privileges": ["SELECT"]},
        {"user": "ann|eve", "catalog": "granted", "privileges": ["SELECT"]},
        {
            "user": "ann",
            "catalog": "hive",
            "table": "labels",
            "privileges": ["SELECT"],
            "filter": "id < 3",
            "columns": [{"name": "s", "mask": "'masked'"}],
        },
        {"catalog": "system", "privileges": ["SELECT"]},
    ],
    "procedures": [{"user": getpass.getuser(), "privileges": ["EXECUTE"]}],
    "queries": [{"user": "admin", "allow": ["execute", "view", "kill"]}, {"allow": ["execute"]}],
}


@pytest.fixture(scope="module")
def ruled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("ruled")
    catalogs = folder / "warehouse" / "catalogs"
    catalogs.mkdir(parents=True)
    place = f"hive.metastore=embedded\nhive.metastore.embedded.path={folder}/warehouse/metastore.db\n"
    admin = "hive.metastore.embedded.users-in-admin-role=admin\n"
    (catalogs / "granted.properties").write_text(f"connector.name=hive\nhive.security=sql-standard\n{place}{admin}")
    rules = folder / "rules.json"
    rules.write_text(json.dumps(_RULES))
    (folder / "warehouse" / "access-control.properties").write_text(
        f"access-control.name=file\nsecurity.config-file={rules}\n"
    )
    with running_server(folder) as running:
        put_grants_and_view(folder / "warehouse" / "metastore.db")
        yield running


def put_grants_and_view(file: Path) -> None:
    """A role of ann's that may read ``labels``, and a view of it that is the administrator's."""
    text = "select a.id, b.s from sales.labels a join sales.labels b on a.id = b.id"
    columns = StorageDescriptor((FieldSchema("id", "int"), FieldSchema("s", "string")))
    view = Table("sales", "v_labels", columns, table_type="VIRTUAL_VIEW", owner="admin", view_expanded_text=text)
    with closing(open_embedded(file)) as metastore:
        metastore.writes.create_table(view)
        assert metastore.grants is not None
        root, readers = Principal.user("root"), Principal.role("readers")
        metastore.grants.create_role("readers", "root")
        metastore.grants.grant_role(RoleGrant("readers", Principal.user("ann")), root)
        labels = SchemaTableName("sales", "labels")
        metastore.grants.grant_table_privileges([PrivilegeGrant(labels, Privilege.SELECT, readers, root)])


def test_clients_grant_and_revoke(spark: SparkSession, ruled: RunningServer) -> None:
    admin, eve = Client(spark, ruled.url, "admin"), Client(spark, ruled.url, "eve")
    query = "SELECT id FROM granted.sales.labels WHERE id < 2"
    assert "Access Denied" in eve.error(query)
    admin.rows("USE granted.sales")
    assert "Access Denied" in admin.error("CREATE ROLE clerks")
    admin.rows("SET ROLE admin")
    assert admin.rows("CREATE ROLE clerks") == []
    admin.rows("/* it's for all; */ -- of them\n grant SELECT ON labels TO ROLE clerks")
    admin.rows("GRANT clerks TO eve IN granted")
    assert {("clerks",), ("readers",)} <= {*admin.rows("SHOW ROLES IN granted")}
    assert [row[2:8] for row in admin.rows("SHOW GRANTS ON granted.sales.labels") if row[2] == "clerks"] == [
        ("clerks", "ROLE", "granted", "sales", "labels", "SELECT")
    ]
    assert eve.rows(query) == [("1",)]
    assert "Access Denied" in eve.error("GRANT SELECT ON granted.sales.labels TO bob")
    assert connect_rows(ruled, "SHOW ROLE GRANTS IN granted", "eve") == [["clerks"], ["public"]]
    admin.rows("REVOKE SELECT ON labels FROM ROLE clerks")
    assert "Access Denied" in eve.error(query)
    admin.rows("DROP ROLE clerks IN granted")
    for client in (admin, eve):
        client.java.close()


def test_other_statements_are_those_of_spark(spark: SparkSession, ruled: RunningServer) -> None:
    admin = Client(spark, ruled.url, "admin")
    assert "INVALID_STATEMENT_OR_CLAUSE" in admin.error("GRANT SELECT ON spark_catalog.default.roles TO bob")
    assert "is not understood" in admin.error("GRANT SELECT granted.sales.labels TO bob")
    assert "has no grants and roles" in admin.error("SHOW ROLES IN hive")
    assert admin.rows("SHOW TABLES IN hive.sales LIKE 'roles'") == []
    assert admin.rows("SELECT 'GRANT role'") == [("GRANT role",)]
    admin.java.close()


def test_each_client_of_jdbc_is_its_user(spark: SparkSession, ruled: RunningServer) -> None:
    ann, bob = Client(spark, ruled.url, "ann"), Client(spark, ruled.url, "bob")
    assert sorted(ann.rows("SELECT id, s FROM hive.sales.labels")) == [("1", "masked"), ("2", "masked")]
    assert "Access Denied: Cannot select from table hive.sales.labels" in bob.error("SELECT * FROM hive.sales.labels")
    assert "Access Denied: Cannot select from table hive.sales.notes" in ann.error("SELECT * FROM hive.sales.notes")
    assert ann.rows("SHOW TABLES IN hive.sales") == [("sales", "labels", "false")]
    assert "SCHEMA_NOT_FOUND" in bob.error("SHOW TABLES IN hive.sales")
    assert len(Client(spark, ruled.url, "admin").rows("SHOW TABLES IN hive.sales")) > 1


def test_a_view_of_the_administrators_is_read_with_those_rights(spark: SparkSession, ruled: RunningServer) -> None:
    vic = Client(spark, ruled.url, "vic")
    assert len(vic.rows("SELECT id, s FROM hive.sales.v_labels")) == 10
    joined = "SELECT v.id FROM hive.sales.v_labels v JOIN hive.sales.labels l ON v.id = l.id"
    for text in ("SELECT * FROM hive.sales.labels", joined):
        assert "Access Denied: Cannot select from table hive.sales.labels" in vic.error(text)


def test_catalogs_that_a_client_may_not_see_are_not_listed(spark: SparkSession, ruled: RunningServer) -> None:
    ann, bob, vic = (Client(spark, ruled.url, user) for user in ("ann", "bob", "vic"))
    assert ann.rows("SHOW CATALOGS") == [("granted",), ("hive",), ("spark_catalog",), ("system",)]
    assert bob.rows("SHOW CATALOGS") == [("spark_catalog",), ("system",)]
    assert (ann.rows("SHOW CATALOGS LIKE 'g*'"), bob.rows("SHOW CATALOGS LIKE 'g*'")) == ([("granted",)], [])
    assert "granted" not in str(bob.rows("EXPLAIN EXTENDED SHOW CATALOGS"))
    # The catalogs in which the view's owner reads are no one's to see.
    assert vic.rows("SELECT count(*) FROM hive.sales.v_labels") == [("10",)]
    assert vic.rows("SHOW CATALOGS") == [(name,) for name in ("granted", "hive", "hudi", "spark_catalog", "system")]


def test_the_schema_of_a_url_is_looked_up_as_the_client(spark: SparkSession, ruled: RunningServer) -> None:
    url = ruled.url + "/hive.sales"
    assert Client(spark, url, "ann").rows("SELECT current_schema(), count(*) FROM labels") == [("sales", "2")]
    with pytest.raises(Py4JJavaError, match="SCHEMA_NOT_FOUND"):
        Client(spark, url, "bob")


def test_clients_select_their_roles_by_a_setting(spark: SparkSession, ruled: RunningServer) -> None:
    ann, eve = Client(spark, ruled.url, "ann"), Client(spark, ruled.url, "eve")
    query, setting = "SELECT count(*) FROM granted.sales.labels", "SET spark.lakeport.granted.role"
    denied = "Access Denied: Cannot select from table granted.sales.labels"
    assert ann.rows(query) == [("10",)]
    ann.rows(f"{setting} = none")
    assert denied in ann.error(query)
    ann.rows(f"{setting} = readers")
    assert ann.rows(query) == [("10",)]
    assert denied in eve.error(query)
    eve.rows(f"{setting} = readers")
    assert "Access Denied: Cannot set role readers" in eve.error(query)


def test_what_jdbc_asks_about_a_catalog_is_asked_as_the_client(spark: SparkSession, ruled: RunningServer) -> None:
    for user, shown in (("ann", {"labels"}), ("bob", set())):
        client = Client(spark, ruled.url, user)
        client.rows("USE hive")
        about = client.java.getMetaData()
        tables = {row[2] for row in read(about.getTables("hive", "%", "%", None)) if row[0] == "hive"}
        assert tables & {"labels", "notes", "products"} == shown
        columns = {row[2] for row in read(about.getColumns("hive", "%", "%", "%"))}
        assert columns & {"labels", "notes", "products"} == shown
        schemas = {row for row in read(about.getSchemas()) if row[1] == "hive"}
        assert (("sales", "hive") in schemas) == bool(shown)


def test_queries_of_others_are_not_seen(spark: SparkSession, ruled: RunningServer) -> None:
    ann, admin = Client(spark, ruled.url, "ann"), Client(spark, ruled.url, "admin")
    ann.rows("SELECT 'a word of ann' AS w")
    [query] = [
        row for row in admin.rows("SELECT query_id, query FROM system.runtime.queries") if "word of" in str(row[1])
    ]
    users = {row[0] for row in ann.rows("SELECT user FROM system.runtime.queries")}
    assert users == {"ann"}
    bob = Client(spark, ruled.url, "bob")
    assert "no query" in bob.error(f"CALL system.runtime.kill_query(query_id => '{query[0]}')")


def test_what_one_client_caches_another_sees_by_its_own_rules(spark: SparkSession, ruled: RunningServer) -> None:
    admin, ann, bob = (Client(spark, ruled.url, user) for user in ("admin", "ann", "bob"))
    text = "SELECT id, s FROM hive.sales.labels"
    for name in ("hive.sales.labels", "system.runtime.queries", "hive.information_schema.tables"):
        admin.rows(f"CACHE TABLE {name}")
    try:
        assert sorted(ann.rows(text)) == [("1", "masked"), ("2", "masked")]
        ann.rows("CACHE TABLE hive.sales.labels")
        assert len(admin.rows(text)) == 10
        assert "Access Denied: Cannot select from table hive.sales.labels" in bob.error(text)
        assert {*ann.rows("SELECT user FROM system.runtime.queries")} == {("ann",)}
        listed = "SELECT table_name FROM hive.information_schema.tables WHERE table_schema = 'sales'"
        assert ann.rows(listed) == [("labels",)]
    finally:
        admin.rows("CLEAR CACHE")


def test_no_other_statement_shows_more(spark: SparkSession, ruled: RunningServer) -> None:
    admin = Client(spark, ruled.url, "admin")
    admin.rows("CREATE OR REPLACE GLOBAL TEMPORARY VIEW shared AS SELECT * FROM hive.sales.labels")
    texts = [
        "SELECT * FROM global_temp.shared",
        "EXECUTE IMMEDIATE 'SELECT * FROM hive.sales.labels'",
        "BEGIN SELECT * FROM hive.sales.labels; END",
        "DESCRIBE EXTENDED hive.sales.labels s",
        "DESCRIBE SCHEMA EXTENDED hive.sales",
        "SHOW TABLE EXTENDED IN hive.sales LIKE '*'",
        "SELECT input_file_name() FROM hive.sales.labels",
        "DESCRIBE QUERY SELECT * FROM hive.sales.labels",
        "CREATE OR REPLACE TEMPORARY VIEW own AS SELECT * FROM hive.sales.labels",
        "SELECT * FROM own",
        "DECLARE OR REPLACE VARIABLE most = (SELECT max(s) FROM hive.sales.labels)",
        "SELECT most",
    ]
    for user in ("ann", "bob"):
        client = Client(spark, ruled.url, user)
        for text in texts:
            try:
                met = str(client.rows(text))
            except Py4JJavaError as error:
                met = str(error.java_exception.getMessage())
            assert not re.search(r"\b(one|two|three|seven)\b|sales/labels", met), text
            if user == "bob" and "hive.sales.labels" in text:
                assert "Access Denied" in met, text


def test_each_client_of_spark_connect_is_its_user(ruled: RunningServer) -> None:
    text = "SELECT id, s FROM hive.sales.labels ORDER BY id"
    assert connect_rows(ruled, text, "ann") == [[1, "masked"], [2, "masked"]]
    assert "Access Denied: Cannot select from table hive.sales.labels" in str(connect_rows(ruled, text, "bob"))
