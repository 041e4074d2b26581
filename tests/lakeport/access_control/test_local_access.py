"""Every way of Arrow and DuckDB into tables that are denied, filtered or masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pytest

import lakeport
from catalog.access_control.file_access_control import FileAccessControl
from catalog.metastore.embedded.factory import open_embedded
from catalog.metastore.model import FieldSchema, StorageDescriptor, Table
from connector_spi.errors import AccessDeniedError, ConnectorError
from connector_spi.security import Identity
from connectors.memory.connector import MemoryConnector
from lakeport.duckdb.session import LocalSession
from lakeport.transactions.session_properties import unknown_catalog
from tests.lakeport.access_control.guarded_sessions import (
    ANALYST,
    SECRETS,
    memory_with_orders,
    registry_of,
    write_rules,
)

Open: TypeAlias = Callable[[Identity], LocalSession]


@pytest.fixture
def memory() -> MemoryConnector:
    return memory_with_orders()


@pytest.fixture
def connect(memory: MemoryConnector, tmp_path: Path) -> Iterator[Open]:
    opened: list[LocalSession] = []
    rules = write_rules(tmp_path)

    def session(identity: Identity) -> LocalSession:
        opened.append(LocalSession(registry_of(memory, rules, identity)))
        return opened[-1]

    yield session
    for one in opened:
        one.close()


def rows(session: LocalSession, text: str) -> list[dict[str, object]]:
    found = session.plan(text).rows()
    read: list[dict[str, object]] = pa.Table.from_batches(list(found.batches), found.schema).to_pylist()
    return read


READS = [
    "SELECT * FROM mem.s.secret",
    "SELECT count(*) FROM mem.s.secret",
    "SELECT 1 AS one FROM mem.s.secret LIMIT 0",
    "SELECT max(word) FROM mem.s.secret",
    "SELECT o.id FROM mem.s.open o JOIN mem.s.secret x ON o.id = x.id",
    "SELECT id FROM mem.s.open WHERE id IN (SELECT id FROM mem.s.secret)",
    "SELECT id FROM mem.s.open o WHERE EXISTS (SELECT 1 FROM mem.s.secret x WHERE x.id = o.id)",
    "SELECT (SELECT max(word) FROM mem.s.secret) AS word",
    "WITH x AS (SELECT * FROM mem.s.secret) SELECT id FROM mem.s.open",
    "SELECT id FROM mem.s.open UNION ALL SELECT id FROM mem.s.secret",
    "SELECT * FROM mem.s.secret VERSION AS OF 1",
    "SELECT * FROM mem.s.`secret$snapshots`",
    "EXPLAIN SELECT * FROM mem.s.secret",
    "DESCRIBE mem.s.secret",
    "SHOW COLUMNS IN mem.s.secret",
    "SHOW CREATE TABLE mem.s.secret",
    "SHOW STATS FOR mem.s.secret",
    "INSERT INTO mem.s.open SELECT id, word FROM mem.s.secret",
]


@pytest.mark.parametrize("text", READS)
@pytest.mark.parametrize("identity", [ANALYST, Identity("stranger"), Identity("blocked")], ids=lambda one: one.user)
def test_no_statement_reads_a_denied_table(connect: Open, identity: Identity, text: str) -> None:
    with pytest.raises(AccessDeniedError, match=r"Access Denied: Cannot (select from|access catalog)"):
        rows(connect(identity), text)


OWN_READS = [
    "FROM mem.s.secret",
    "SELECT count(*) FROM mem.s.open o SEMI JOIN mem.s.secret x USING (id)",
    "SELECT (SELECT max(word) FROM mem.s.secret) AS word",
    "WITH x AS (FROM mem.s.secret) SELECT 1 AS one",
    "FROM (PIVOT mem.s.secret ON id IN (1) USING max(word))",
    "FROM mem.s.secret AT (VERSION => 1)",
    'FROM mem.s."secret$snapshots"',
    "EXPLAIN FROM mem.s.secret",
]


@pytest.mark.parametrize("text", OWN_READS)
def test_no_statement_of_duckdb_reads_a_denied_table(connect: Open, text: str) -> None:
    with pytest.raises(AccessDeniedError, match=r"Access Denied: Cannot select from"):
        connect(ANALYST).sql(text, dialect="duckdb")


def test_rows_are_filtered_and_values_masked_in_duckdb_s_sql(connect: Open) -> None:
    session = connect(ANALYST)
    found = session.sql("SELECT * FROM mem.s.orders ORDER BY id", dialect="duckdb").arrow()
    assert found.to_pylist() == [
        {"id": 1, "region": "eu", "ssn": "XXX-XX-3333", "amount": 10},
        {"id": 3, "region": "eu", "ssn": "XXX-XX-5555", "amount": 30},
    ]
    for hidden in ("SELECT max(note) FROM mem.s.orders", "SELECT orders.note FROM mem.s.orders"):
        with pytest.raises(ConnectorError, match="note"):
            session.sql(hidden, dialect="duckdb")
    asked = "SELECT count(*) FROM mem.s.orders WHERE ssn = '111-22-3333' OR region = 'us'"
    assert session.sql(asked, dialect="duckdb").fetchall() == [(0,)]


def test_no_call_reads_a_denied_table(connect: Open) -> None:
    session = connect(ANALYST)
    calls: list[Callable[[], object]] = [
        lambda: session.arrow("mem.s.secret"),
        lambda: session.arrow("MEM.S.SECRET"),
        lambda: session.arrow("mem.s.secret", version="1"),
        lambda: session.scan("mem.s.secret").to_arrow(),
        lambda: session.changes("mem.s.secret"),
        lambda: session.arrow("mem.s.`secret$snapshots`"),
    ]
    for call in calls:
        with pytest.raises(AccessDeniedError, match="secret"):
            call()


def test_a_missing_table_is_denied_like_one_that_is_there(connect: Open) -> None:
    session = connect(ANALYST)
    with pytest.raises(AccessDeniedError, match=r"Cannot select from table mem\.s\.secre$"):
        session.arrow("mem.s.secre")


def test_a_denied_table_does_not_say_where_it_lies(tmp_path: Path) -> None:
    """Whether a table is one of Hudi is looked up in its directory, which may fail."""
    catalogs = tmp_path / "catalogs"
    catalogs.mkdir()
    (catalogs / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={tmp_path}/metastore.db\n"
    )
    columns = StorageDescriptor((FieldSchema("id", "int"),), location="nowhere://a-bucket/t")
    with closing(open_embedded(tmp_path / "metastore.db")) as metastore:
        metastore.writes.create_table(Table("default", "t", columns, table_type="EXTERNAL_TABLE"))
    control = FileAccessControl(write_rules(tmp_path))
    for user in (ANALYST, Identity("admin")):
        with lakeport.connect(catalogs=catalogs, engine="duckdb", access_control=control, identity=user) as session:
            for call in (lambda name: session.arrow(name), lambda name: rows(session, f"DESCRIBE {name}")):
                with pytest.raises(ConnectorError) as met:
                    call("hive.default.t")
                assert ("nowhere" in str(met.value)) == (user is not ANALYST)
                assert isinstance(met.value, AccessDeniedError) == (user is ANALYST)


def test_denied_tables_are_not_suggested(connect: Open) -> None:
    admin = connect(Identity("admin"))
    with pytest.raises(ConnectorError, match="did you mean secret"):
        admin.arrow("mem.s.secrt")
    with pytest.raises(ConnectorError) as met:
        connect(ANALYST).sql("SELECT * FROM mem.zz.secret")
    assert "secret?" not in str(met.value)


def test_denied_catalogs_are_not_listed_where_one_is_missing(memory: MemoryConnector, tmp_path: Path) -> None:
    registry = registry_of(memory, write_rules(tmp_path), Identity("blocked"))
    assert "mem" not in str(unknown_catalog(registry, "SET", "none"))


def test_lists_show_what_may_be_seen(connect: Open) -> None:
    def shown(user: Identity) -> tuple[object, object, object]:
        session = connect(user)
        tables = "SELECT table_name FROM mem.information_schema.tables WHERE table_schema = 's'"
        return session.tables("mem"), session.schemas(), sorted(str(row["table_name"]) for row in rows(session, tables))

    assert shown(ANALYST) == (["mem.s.open", "mem.s.orders"], ["mem.s"], ["open", "orders"])
    assert shown(Identity("writer")) == (["mem.s.orders"], ["mem.s"], ["orders"])
    assert shown(Identity("admin"))[2] == ["open", "orders", "secret"]
    assert connect(Identity("blocked")).tables() == []
    assert rows(connect(Identity("blocked")), "SHOW CATALOGS") == []
    assert connect(Identity("stranger")).tables() == []


def test_rows_are_filtered_and_values_masked(connect: Open) -> None:
    session = connect(ANALYST)
    expected = [
        {"id": 1, "region": "eu", "ssn": "XXX-XX-3333", "amount": 10},
        {"id": 3, "region": "eu", "ssn": "XXX-XX-5555", "amount": 30},
    ]
    for version in (None, "1"):
        found = session.arrow("mem.s.orders", version=version).read_all()
        assert found.select(list(expected[0])).sort_by("id").to_pylist() == expected
    columns = "id, region, ssn, amount"
    assert rows(session, f"SELECT {columns} FROM mem.s.orders ORDER BY id") == expected
    assert rows(session, "SELECT count(*) AS n, min(ssn) AS low FROM mem.s.orders") == [{"n": 2, "low": "XXX-XX-3333"}]
    assert rows(session, "SELECT count(*) AS n FROM mem.s.orders") == [{"n": 2}]
    assert session.arrow("mem.s.orders", ["id"], limit=1).read_all().num_rows == 1


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("ssn = '111-22-3333'", []),
        ("ssn = 'XXX-XX-3333'", [1]),
        ("ssn LIKE '111%'", []),
        ("ssn > '9'", [1, 3]),
        ("ssn IN ('111-22-3333', 'XXX-XX-5555')", [3]),
        ("region = 'us'", []),
        ("amount >= 20", [3]),
        ("NOT (ssn = '333-44-5555')", [1, 3]),
    ],
)
def test_filters_see_masks_and_not_values(connect: Open, where: str, ids: list[int]) -> None:
    session = connect(ANALYST)
    assert sorted(session.arrow("mem.s.orders", ["id"], where=where).read_all()["id"].to_pylist()) == ids
    assert [row["id"] for row in rows(session, f"SELECT id FROM mem.s.orders WHERE {where} ORDER BY id")] == ids


def test_changes_are_filtered_and_masked(connect: Open, memory: MemoryConnector) -> None:
    found = connect(ANALYST).changes("mem.s.orders").read_all()
    assert sorted(found["ssn"].to_pylist()) == ["XXX-XX-3333", "XXX-XX-5555"]
    assert "note" not in found.schema.names


@pytest.mark.parametrize(
    "text",
    [
        "SELECT note FROM mem.s.orders",
        "SELECT id FROM mem.s.orders WHERE note = 'hush-1'",
        "SELECT count(note) FROM mem.s.orders",
        "SELECT id FROM mem.s.orders ORDER BY note",
        "SELECT o.note FROM mem.s.orders o JOIN mem.s.open p ON o.id = p.id",
        "WITH x AS (SELECT note FROM mem.s.orders) SELECT 1 FROM x",
    ],
)
def test_a_hidden_column_is_denied_by_name(connect: Open, text: str) -> None:
    with pytest.raises(AccessDeniedError, match=r"Cannot select from columns \[note\] in table or view mem\.s\.orders"):
        rows(connect(ANALYST), text)


def test_a_hidden_column_is_denied_in_arrow(connect: Open) -> None:
    session = connect(ANALYST)
    for arguments in ({"columns": ["note"]}, {"where": "note = 'hush-1'"}, {"where": [("note", "=", "hush-1")]}):
        with pytest.raises(AccessDeniedError, match=r"columns \[note\]"):
            session.arrow("mem.s.orders", **arguments)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM mem.s.orders",
        "SELECT * FROM mem.s.orders VERSION AS OF 1",
        "DESCRIBE mem.s.orders",
        "SHOW CREATE TABLE mem.s.orders",
        "SHOW STATS FOR mem.s.orders",
        "EXPLAIN SELECT * FROM mem.s.orders WHERE ssn = 'x'",
        "EXPLAIN ANALYZE SELECT * FROM mem.s.orders",
        "SELECT * FROM mem.information_schema.columns",
        "SELECT * FROM mem.system.metadata",
        "SELECT * FROM mem.s.`orders$snapshots`",
        "SELECT CAST(ssn AS INT) FROM mem.s.orders",
    ],
)
def test_nothing_hidden_is_in_answers_and_errors(connect: Open, text: str) -> None:
    try:
        met = str(rows(connect(ANALYST), text))
    except ConnectorError as error:
        met = str(error)
    assert not [secret for secret in SECRETS if secret in met]
    assert not re.search(r"\bnote\b", met)


@pytest.mark.parametrize("identity", [ANALYST, Identity("stranger"), Identity("blocked")], ids=lambda one: one.user)
def test_nothing_is_changed_without_a_privilege(connect: Open, memory: MemoryConnector, identity: Identity) -> None:
    session = connect(identity)
    data = pa.table({"id": [9], "region": ["eu"], "ssn": ["s"], "amount": [1]})
    calls: list[Callable[[], object]] = [
        lambda: session.insert("mem.s.orders", data),
        lambda: session.overwrite("mem.s.orders", data),
        lambda: rows(session, "INSERT INTO mem.s.open VALUES (1, 'x')"),
        lambda: rows(
            session, "CALL mem.system.rollback_to_version(schema_name => 's', table_name => 'orders', version => 1)"
        ),
    ]
    for call in calls:
        with pytest.raises(AccessDeniedError, match="Access Denied: Cannot"):
            call()
    assert connect(Identity("admin")).arrow("mem.s.orders").read_all().num_rows == 3


def test_a_writer_adds_rows_and_reads_none(connect: Open) -> None:
    writer = connect(Identity("writer"))
    data = pa.table({"id": [9], "region": ["eu"], "ssn": ["s"], "note": ["n"], "amount": [1]})
    assert writer.insert("mem.s.orders", data) == 1
    assert [row["col_name"] for row in rows(writer, "DESCRIBE mem.s.orders")] == data.schema.names
    with pytest.raises(AccessDeniedError, match=r"Cannot select from columns \[id\] in table or view mem\.s\.orders"):
        writer.arrow("mem.s.orders", ["id"]).read_all()
    with pytest.raises(AccessDeniedError, match="Cannot select from"):
        rows(writer, "SELECT count(*) FROM mem.s.orders")


def test_rules_hold_from_the_next_statement_on(memory: MemoryConnector, tmp_path: Path) -> None:
    from catalog.access_control.file_access_control import FileAccessControl
    from catalog.access_control.security import Security
    from catalog.plugins import PluginSet
    from catalog.registry import CatalogRegistry

    path = write_rules(tmp_path)
    control = FileAccessControl(path, refresh_seconds=0.0)
    registry = CatalogRegistry(PluginSet.of(), "test", Security(control, own=ANALYST))
    registry.register_connector("mem", memory)
    with LocalSession(registry) as session:
        assert session.arrow("mem.s.open").read_all().num_rows == 2
        write_rules(tmp_path, {"tables": []})
        with pytest.raises(AccessDeniedError):
            session.arrow("mem.s.open")
        path.write_text("{")
        with pytest.raises(ConnectorError, match="are no JSON"):
            session.arrow("mem.s.open")
