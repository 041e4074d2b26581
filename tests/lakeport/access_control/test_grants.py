"""Grants of the metastore through statements, and what they let users do, in DuckDB and Arrow and in Spark.

Expected is what Trino's Hive connector with ``hive.security=sql-standard`` does (``SqlStandardAccessControl``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import lakeport
from catalog.guard.connector import GuardedConnector
from catalog.metastore.model import FieldSchema, StorageDescriptor, Table
from connector_spi.errors import AccessDeniedError, ConnectorError, NotSupportedError, UserError
from connectors.hive.connector import HiveConnector
from lakeport.session import Session
from tests.lakeport.access_control.granting_sessions import Connect, as_admin, granting_catalog, rows, sessions

DATA = pa.table({"id": [1, 2], "word": ["a", "b"]})
Denied = (AccessDeniedError, PySparkException)


@pytest.fixture(scope="module", params=["duckdb", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.slow])])
def connect(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    spark: SparkSession | None = request.getfixturevalue("spark") if request.param == "spark" else None
    catalogs = granting_catalog(tmp_path_factory.mktemp("grants"))
    with sessions(catalogs, spark) as found:
        yield found


@pytest.fixture
def table(connect: Connect) -> str:
    """A table of ``ann`` in the schema that everyone may make tables in."""
    name = f"hive.default.t_{uuid4().hex[:8]}"
    connect("ann").create_table_as(name, DATA)
    return name


@pytest.fixture
def role(connect: Connect) -> str:
    made = f"r_{uuid4().hex[:8]}"
    as_admin(connect, f"CREATE ROLE {made} IN hive")
    return made


def reads(connect: Connect, user: str, table: str) -> bool:
    """Whether a user reads a table; each way in has to say the same."""
    session = connect(user)
    ways = (lambda: rows(session, f"SELECT id FROM {table} ORDER BY 1"), lambda: session.arrow(table).read_all())
    met = [denial(read) for read in ways]
    assert all(one is None for one in met) or all("Cannot select from" in str(one) for one in met), met
    return met[0] is None


def denial(call: Callable[[], object]) -> str | None:
    """What a denied call says; ``None`` for one that is not."""
    try:
        call()
    except Denied as error:
        return str(error)
    return None


def test_a_table_is_its_makers_until_granted(connect: Connect, table: str) -> None:
    assert reads(connect, "ann", table)
    assert not reads(connect, "bob", table)
    rows(connect("ann"), f"GRANT SELECT ON {table} TO USER bob")
    assert reads(connect, "bob", table)
    bob = connect("bob")
    for text in (f"INSERT INTO {table} VALUES (3, 'c')", f"GRANT SELECT ON {table} TO eve"):
        assert "Access Denied" in str(denial(partial(rows, bob, text)))
    # Where it lies is shown to whom it was granted with the grant option.
    assert "LOCATION" not in str(rows(bob, f"SHOW CREATE TABLE {table}"))
    rows(connect("ann"), f"REVOKE SELECT ON TABLE {table} FROM bob")
    assert not reads(connect, "bob", table)


def test_who_may_insert_reads_nothing(connect: Connect, table: str) -> None:
    rows(connect("ann"), f"GRANT UPDATE ON {table} TO bob")
    assert "Cannot insert into table" in str(denial(lambda: connect("bob").insert(table, DATA)))
    rows(connect("ann"), f"GRANT INSERT ON {table} TO bob")
    connect("bob").insert(table, DATA)
    assert not reads(connect, "bob", table)
    assert len(rows(connect("ann"), f"SELECT id FROM {table}")) == 4


def test_plain_spark_sql_knows_the_same_statements(connect: Connect, table: str, role: str) -> None:
    ann, bob = connect("ann"), connect("bob")
    if not isinstance(ann, Session) or not isinstance(bob, Session):
        pytest.skip("DuckDB has no session of its own")
    ann.spark.sql(f"GRANT SELECT ON {table} TO ROLE {role}")
    ann.spark.newSession().sql(f"GRANT SELECT ON {table} TO USER eve WITH GRANT OPTION")
    assert reads(connect, "eve", table)
    granted = [(row["Grantee"], row["Privilege"]) for row in ann.spark.sql(f"SHOW GRANTS ON {table}").collect()]
    assert granted == [row[2:8:5] for row in rows(ann, f"SHOW GRANTS ON {table}")]
    assert ("ann", "SELECT") in granted
    assert "Access Denied" in str(denial(lambda: bob.spark.sql(f"REVOKE SELECT ON {table} FROM eve")))
    assert not reads(connect, "bob", table)
    as_admin(connect, f"GRANT {role} TO bob IN hive")
    assert len(bob.spark.sql(f"SELECT * FROM {table}").collect()) == 2
    bob.spark.sql("SET ROLE NONE IN hive")
    with pytest.raises(PySparkException, match="Access Denied"):
        bob.spark.sql(f"SELECT * FROM {table}").collect()
    bob.spark.sql("SET ROLE ALL IN hive")
    # Other statements, and those about catalogs of Spark's own, are Spark's.
    assert bob.spark.sql("SELECT :word AS w", args={"word": "GRANT ROLE"}).head() == ("GRANT ROLE",)
    with pytest.raises(PySparkException, match=r"GRANT|Operation not allowed"):
        bob.spark.sql("GRANT SELECT ON spark_catalog.default.t TO eve")


def test_a_closed_session_leaves_spark_its_own_parser(spark: SparkSession, tmp_path: Path) -> None:
    made = spark.newSession()
    before = str(made._jsparkSession.sessionState().sqlParser().getClass().getName())
    with lakeport.connect(made, granting_catalog(tmp_path)):
        assert str(made._jsparkSession.sessionState().sqlParser().getClass().getName()) != before
    assert str(made._jsparkSession.sessionState().sqlParser().getClass().getName()) == before


def test_privileges_of_roles_count_where_they_are_selected(connect: Connect, table: str, role: str) -> None:
    as_admin(connect, f"CREATE ROLE {role}_outer IN hive", f"GRANT {role} TO ROLE {role}_outer IN hive")
    rows(connect("ann"), f"GRANT SELECT ON {table} TO ROLE {role}")
    bob = connect("bob")
    assert not reads(connect, "bob", table)
    with pytest.raises(AccessDeniedError, match=f"Cannot set role {role}"):
        rows(bob, f"SET ROLE {role} IN hive")
    as_admin(connect, f"GRANT {role}_outer TO USER bob IN hive")
    try:
        for selected, may in (("ALL", True), ("NONE", False), (role, True), (f"{role}_outer", True), ("PUBLIC", False)):
            rows(bob, f"SET ROLE {selected} IN hive")
            assert reads(connect, "bob", table) is may, selected
        shown = {row[0] for row in rows(bob, "SHOW CURRENT ROLES IN hive")}
        assert shown == {"public"}
        rows(bob, "SET ROLE ALL IN hive")
        assert {role, f"{role}_outer", "public"} <= {row[0] for row in rows(bob, "SHOW CURRENT ROLES IN hive")}
        grants = {row[0] for row in rows(bob, "SHOW ROLE GRANTS IN hive")}
        assert f"{role}_outer" in grants
        assert role not in grants
        rows(bob, f"SET ROLE {role} IN hive")
        as_admin(connect, f"REVOKE {role}_outer FROM bob IN hive")
        # The role is still selected, and no longer bob's.
        with pytest.raises(Denied, match=f"Cannot set role {role}"):
            rows(bob, f"SELECT * FROM {table}")
    finally:
        rows(bob, "SET ROLE ALL IN hive")


def test_everyone_is_public(connect: Connect, table: str) -> None:
    rows(connect("ann"), f"GRANT SELECT ON {table} TO ROLE public")
    assert reads(connect, "eve", table)


def test_the_administrator_has_to_select_the_role(connect: Connect, table: str) -> None:
    root = connect("root")
    rows(root, "SET ROLE ALL IN hive")
    assert not reads(connect, "root", table)
    for text in ("CREATE ROLE x IN hive", "SHOW ROLES IN hive", "DROP ROLE x IN hive"):
        with pytest.raises(AccessDeniedError):
            rows(root, text)
    rows(root, "SET ROLE admin IN hive")
    assert reads(connect, "root", table)
    assert {"admin", "public"} <= {row[0] for row in rows(root, "SHOW ROLES IN hive")}
    with pytest.raises(AccessDeniedError, match="Cannot set role admin"):
        rows(connect("ann"), "SET ROLE admin IN hive")


def test_the_grant_option_lets_grant_further(connect: Connect, table: str) -> None:
    rows(connect("ann"), f"GRANT SELECT ON {table} TO bob WITH GRANT OPTION")
    rows(connect("bob"), f"GRANT SELECT ON {table} TO eve")
    assert reads(connect, "eve", table)
    with pytest.raises(AccessDeniedError, match="Cannot grant privilege INSERT"):
        rows(connect("bob"), f"GRANT INSERT ON {table} TO eve")
    rows(connect("ann"), f"REVOKE GRANT OPTION FOR SELECT ON {table} FROM bob")
    assert reads(connect, "bob", table)
    with pytest.raises(AccessDeniedError, match="Cannot revoke privilege SELECT"):
        rows(connect("bob"), f"REVOKE SELECT ON {table} FROM eve")
    with pytest.raises(NotSupportedError, match="has it without; revoke it first"):
        rows(connect("ann"), f"GRANT SELECT ON {table} TO bob WITH GRANT OPTION")


def test_the_admin_option_lets_grant_a_role(connect: Connect, role: str) -> None:
    as_admin(connect, f"GRANT {role} TO bob WITH ADMIN OPTION IN hive")
    rows(connect("bob"), f"GRANT {role} TO eve IN hive")
    with pytest.raises(AccessDeniedError, match="Cannot grant roles"):
        rows(connect("eve"), f"GRANT {role} TO ann IN hive")
    rows(connect("bob"), f"REVOKE {role} FROM eve IN hive")


def test_show_grants_shows_ones_own_and_the_administrator_all(connect: Connect, table: str) -> None:
    rows(connect("ann"), f"GRANT SELECT, DELETE ON {table} TO bob")
    rows(connect("ann"), f"GRANT UPDATE ON {table} TO ROLE public")
    schema, name = table.split(".")[1:]

    def row(grantee: str, kind: str, privilege: str, grantable: str) -> tuple[object, ...]:
        return ("ann", "USER", grantee, kind, "hive", schema, name, privilege, grantable, None)

    own = [row("bob", "USER", one, "NO") for one in ("DELETE", "SELECT")] + [row("public", "ROLE", "UPDATE", "NO")]
    assert sorted(rows(connect("bob"), f"SHOW GRANTS ON TABLE {table}"), key=str) == sorted(own, key=str)
    owners = [row("ann", "USER", one, "YES") for one in ("SELECT", "INSERT", "UPDATE", "DELETE", "OWNERSHIP")]
    as_admin(connect)
    for text in (f"SHOW GRANTS ON {table}", f"SHOW GRANTS ON SCHEMA hive.{schema}"):
        found = [one for one in rows(connect("root"), text) if one[6] == name]
        assert sorted(found, key=str) == sorted([*own, *owners], key=str)


def test_schemas_are_their_owners(connect: Connect) -> None:
    schema = f"hive.s_{uuid4().hex[:8]}"
    with pytest.raises(Denied, match="Cannot create table"):
        connect("bob").create_table_as("hive.missing_schema.t", DATA)
    with pytest.raises((*Denied, ConnectorError), match=r"no table|TABLE_OR_VIEW_NOT_FOUND"):
        rows(connect("bob"), "SELECT * FROM hive.default.missing")
    if connect("ann").engine.name == "duckdb":
        return  # DuckDB makes no schemas
    made = f"hive.default.t_{uuid4().hex[:8]}"
    rows(connect("ann"), f"CREATE TABLE {made} AS SELECT 1 AS id")
    assert rows(connect("ann"), f"SELECT * FROM {made}") == [(1,)]
    rows(connect("ann"), f"CREATE OR REPLACE TABLE {made} AS SELECT 2 AS id")
    assert rows(connect("ann"), f"SELECT * FROM {made}") == [(2,)]
    assert not reads(connect, "bob", made)
    rows(connect("ann"), f"GRANT SELECT ON {made} TO bob")
    for number, kind in enumerate(("PARTITIONED BY (k)", "PARTITIONED BY (k)", "")):
        rows(
            connect("ann"), f"CREATE OR REPLACE TABLE {made} {kind} AS SELECT 3 AS id, {number} AS c{number}, 'x' AS k"
        )
    assert reads(connect, "bob", made)
    assert not reads(connect, "carl", made)
    with pytest.raises(Denied, match="Cannot create schema"):
        rows(connect("ann"), f"CREATE SCHEMA {schema}")
    as_admin(connect, f"CREATE SCHEMA {schema}")
    with pytest.raises(Denied, match="Cannot create table"):
        rows(connect("ann"), f"CREATE TABLE {schema}.t (id INT)")
    with pytest.raises(Denied, match="Cannot drop schema"):
        rows(connect("ann"), f"DROP SCHEMA {schema}")
    as_admin(connect, f"CREATE TABLE {schema}.t (id INT)")
    with pytest.raises(Denied, match="Access Denied"):
        rows(connect("ann"), f"DROP TABLE {schema}.t")
    as_admin(connect, f"DROP SCHEMA {schema} CASCADE")


def test_what_is_not_there_is_named(connect: Connect, table: str, role: str) -> None:
    cases = [
        ("ann", f"GRANT SELECT ON {table} TO ROLE {role}x", f"no role '{role}x'; did you mean '{role}'"),
        ("root", f"GRANT {role}x TO bob IN hive", f"no role '{role}x'"),
        ("root", f"DROP ROLE {role}x IN hive", f"no role '{role}x'"),
        ("root", f"CREATE ROLE {role} IN hive", "exists already"),
        ("root", "CREATE ROLE none IN hive", "has a meaning of its own"),
        ("root", "DROP ROLE public IN hive", "cannot be dropped"),
        ("root", f"GRANT {role} TO ROLE {role} IN hive", "which it has itself"),
        ("root", "GRANT SELECT ON hive.default.missing TO bob", "no table default.missing"),
        ("ann", "GRANT SELECT ON SCHEMA hive.default TO bob", "privileges are on tables"),
    ]
    as_admin(connect)
    for user, text, expected in cases:
        with pytest.raises((UserError, NotSupportedError, ConnectorError), match=expected):
            rows(connect(user), text)
    rows(connect("root"), f"DROP ROLE IF EXISTS {role}x IN hive")


def test_a_view_passes_on_what_its_owner_may_grant(connect: Connect, table: str) -> None:
    hive = connect("ann").catalogs.get("hive")
    assert isinstance(hive, GuardedConnector)
    assert isinstance(hive.guarded, HiveConnector)
    name = f"v_{uuid4().hex[:8]}"
    text = "select a.id from {t} a join {t} b on a.id = b.id".format(t=table.removeprefix("hive."))
    columns = StorageDescriptor((FieldSchema("id", "bigint"),))
    view = Table("default", name, columns, table_type="VIRTUAL_VIEW", owner="ann", view_expanded_text=text)
    hive.guarded.metastore.writes.create_table(view)
    query = f"SELECT id FROM hive.default.{name} ORDER BY id"
    assert "Cannot select from" in str(denial(partial(rows, connect("bob"), query)))
    rows(connect("ann"), f"GRANT SELECT ON hive.default.{name} TO bob")
    assert rows(connect("bob"), query) == [(1,), (2,)]
    assert not reads(connect, "bob", table)
    as_admin(connect, f"REVOKE GRANT OPTION FOR SELECT ON {table} FROM ann")
    assert "View owner 'ann' cannot create view" in str(denial(partial(rows, connect("bob"), query)))
    assert rows(connect("ann"), query) == [(1,), (2,)]


def test_procedures_and_settings_are_the_administrators(connect: Connect) -> None:
    call = "CALL hive.system.flush_metadata_cache()"
    with pytest.raises(Denied, match="Cannot execute procedure"):
        rows(connect("ann"), call)
    as_admin(connect, call)


def test_a_catalog_without_grants_says_so(tmp_path: Path) -> None:
    catalogs = granting_catalog(tmp_path)
    text = (catalogs / "hive.properties").read_text().replace("sql-standard", "allow-all")
    (catalogs / "hive.properties").write_text(text)
    with sessions(catalogs) as connect, pytest.raises(NotSupportedError, match=r"set hive\.security=sql-standard"):
        rows(connect("ann"), "SHOW ROLES IN hive")


@pytest.mark.parametrize(("security", "reads_it", "writes_it"), [("read-only", True, False), ("allow-all", True, True)])
def test_other_securities_of_a_catalog(tmp_path: Path, security: str, reads_it: bool, writes_it: bool) -> None:
    catalogs = granting_catalog(tmp_path)
    file = catalogs / "hive.properties"
    text = file.read_text()
    file.write_text(text.replace("sql-standard", "allow-all"))
    with sessions(catalogs) as connect:
        connect("ann").create_table_as("hive.default.t", DATA)
    file.write_text(text.replace("sql-standard", security))
    with sessions(catalogs) as connect:
        assert reads(connect, "bob", "hive.default.t") is reads_it
        if writes_it:
            connect("bob").insert("hive.default.t", DATA)
        else:
            with pytest.raises(AccessDeniedError, match="Cannot insert into table"):
                connect("bob").insert("hive.default.t", DATA)


def test_rules_of_one_catalog(tmp_path: Path) -> None:
    catalogs = granting_catalog(tmp_path)
    file = catalogs / "hive.properties"
    text = file.read_text().replace("sql-standard", "allow-all")
    file.write_text(text)
    with sessions(catalogs) as connect:
        connect("ann").create_table_as("hive.default.t", DATA)
    rules = tmp_path / "rules.json"
    rules.write_text('{"tables": [{"user": "ann", "table": "t", "privileges": ["SELECT"], "filter": "id = 1"}]}')
    file.write_text(text.replace("allow-all", f"file\nsecurity.config-file={rules}"))
    with sessions(catalogs) as connect:
        assert connect("ann").arrow("hive.default.t").read_all().num_rows == 1
        assert not reads(connect, "bob", "hive.default.t")
