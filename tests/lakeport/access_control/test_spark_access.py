"""Every way of Spark into tables that are denied, filtered or masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import lakeport
from catalog.access_control.file_access_control import FileAccessControl
from connector_spi.errors import AccessDeniedError, ConnectorError
from connector_spi.security import Identity
from connectors.memory.connector import MemoryConnector
from lakeport.session import Session
from tests.lakeport.access_control.guarded_sessions import (
    ANALYST,
    SECRETS,
    memory_with_orders,
    registry_of,
    write_rules,
)

Open: TypeAlias = Callable[[Identity], Session]


@pytest.fixture(scope="module")
def memory() -> MemoryConnector:
    return memory_with_orders()


@pytest.fixture(scope="module")
def connect(memory: MemoryConnector, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    opened: dict[Identity, Session] = {}
    rules = write_rules(tmp_path_factory.mktemp("rules"))

    def session(identity: Identity) -> Session:
        if identity not in opened:
            opened[identity] = Session(registry_of(memory, rules, identity), spark.newSession())
        return opened[identity]

    yield session
    for one in opened.values():
        one.close()


def rows(frame: DataFrame) -> list[dict[str, object]]:
    return [row.asDict() for row in frame.collect()]


READS = [
    "SELECT * FROM mem.s.secret",
    "TABLE mem.s.secret",
    "SELECT count(*) FROM mem.s.secret",
    "SELECT 1 FROM mem.s.secret LIMIT 0",
    "SELECT o.id FROM mem.s.open o JOIN mem.s.secret x ON o.id = x.id",
    "SELECT id FROM mem.s.open WHERE id IN (SELECT id FROM mem.s.secret)",
    "SELECT id FROM mem.s.open o WHERE EXISTS (SELECT 1 FROM mem.s.secret x WHERE x.id = o.id)",
    "SELECT (SELECT max(word) FROM mem.s.secret)",
    "WITH x AS (SELECT * FROM mem.s.secret) SELECT id FROM mem.s.open, x",
    "SELECT id FROM mem.s.open UNION ALL SELECT id FROM mem.s.secret",
    "SELECT * FROM mem.s.secret VERSION AS OF 1",
    "SELECT * FROM mem.s.`secret$snapshots`",
    "CREATE OR REPLACE TEMPORARY VIEW peek AS SELECT * FROM mem.s.secret",
    "CACHE TABLE kept AS SELECT * FROM mem.s.secret",
    "EXPLAIN SELECT * FROM mem.s.secret",
    "DESCRIBE mem.s.secret",
    "DESCRIBE EXTENDED mem.s.secret",
    "SHOW COLUMNS IN mem.s.secret",
    "SHOW CREATE TABLE mem.s.secret",
    "SHOW TBLPROPERTIES mem.s.secret",
    "SHOW STATS FOR mem.s.secret",
    "ANALYZE TABLE mem.s.secret COMPUTE STATISTICS",
    "INSERT INTO mem.s.open SELECT id, word FROM mem.s.secret",
    "DELETE FROM mem.s.secret",
    "UPDATE mem.s.secret SET word = 'x'",
    "TRUNCATE TABLE mem.s.secret",
    "MERGE INTO mem.s.secret t USING mem.s.open o ON t.id = o.id WHEN MATCHED THEN DELETE",
]


@pytest.mark.parametrize("text", READS)
@pytest.mark.parametrize("identity", [ANALYST, Identity("blocked")], ids=lambda one: one.user)
def test_no_statement_reaches_a_denied_table(connect: Open, identity: Identity, text: str) -> None:
    with pytest.raises((AccessDeniedError, PySparkException), match=r"Access Denied: Cannot (select|access)") as met:
        connect(identity).sql(text).collect()
    assert "sealed" not in str(met.value)


def test_no_frame_reads_a_denied_table(connect: Open) -> None:
    session = connect(ANALYST)
    calls: list[Callable[[], object]] = [
        lambda: session.table("mem.s.secret").collect(),
        lambda: session.spark.table("mem.s.secret").collect(),
        lambda: session.spark.sql("SELECT * FROM mem.s.secret").collect(),
        lambda: session.spark.read.table("mem.s.secret").collect(),
        lambda: session.spark.read.option("versionAsOf", "1").table("mem.s.secret").collect(),
        lambda: session.spark.readStream.table("mem.s.secret"),
    ]
    for call in calls:
        with pytest.raises((AccessDeniedError, PySparkException), match=r"Access Denied: Cannot select from table"):
            call()


def test_lists_show_what_may_be_seen(connect: Open) -> None:
    session = connect(ANALYST)
    assert sorted(str(row["tableName"]) for row in rows(session.sql("SHOW TABLES IN mem.s"))) == ["open", "orders"]
    text = "SELECT table_name FROM mem.information_schema.tables WHERE table_schema = 's' ORDER BY 1"
    assert [row["table_name"] for row in rows(session.sql(text))] == ["open", "orders"]
    with pytest.raises((AccessDeniedError, PySparkException), match="Access Denied"):
        session.spark.catalog.tableExists("mem.s.secret")


def test_rows_are_filtered_and_values_masked(connect: Open) -> None:
    session = connect(ANALYST)
    expected = [
        {"id": 1, "region": "eu", "ssn": "XXX-XX-3333", "amount": 10},
        {"id": 3, "region": "eu", "ssn": "XXX-XX-5555", "amount": 30},
    ]
    columns = "id, region, ssn, amount"
    assert rows(session.sql(f"SELECT {columns} FROM mem.s.orders ORDER BY id")) == expected
    assert rows(session.sql(f"SELECT {columns} FROM mem.s.orders VERSION AS OF 1 ORDER BY id")) == expected
    assert (
        rows(session.sql("SELECT * FROM mem.s.orders").select("id", "region", "ssn", "amount").sort("id")) == expected
    )
    assert set(session.table("mem.s.orders").columns) == {"id", "region", "ssn", "amount"}
    found = session.sql("SELECT count(*) n, min(ssn) low, max(amount) most, count(DISTINCT region) r FROM mem.s.orders")
    assert rows(found) == [{"n": 2, "low": "XXX-XX-3333", "most": 30, "r": 1}]
    assert len(session.sql("SELECT id FROM mem.s.orders LIMIT 1").collect()) == 1
    assert [row["id"] for row in rows(session.sql("SELECT id FROM mem.s.orders ORDER BY amount DESC LIMIT 1"))] == [3]


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("ssn = '111-22-3333'", []),
        ("ssn = 'XXX-XX-3333'", [1]),
        ("ssn LIKE '111%'", []),
        ("substring(ssn, 1, 3) = '333'", []),
        ("ssn > '9'", [1, 3]),
        ("ssn IN ('111-22-3333', 'XXX-XX-5555')", [3]),
        ("region = 'us'", []),
        ("amount >= 20 OR ssn = '111-22-3333'", [3]),
        ("NOT (ssn = '333-44-5555')", [1, 3]),
        # Whatever a filter does with rows that are not seen, such as fail, would tell of them.
        ("if(amount = 20, assert_true(false, ssn) IS NULL, true)", [1, 3]),
        ("if(region = 'us', raise_error(ssn), true)", [1, 3]),
        ("amount IN (SELECT max(amount) FROM mem.s.orders)", [3]),
    ],
)
def test_filters_see_masks_and_not_values(connect: Open, where: str, ids: list[int]) -> None:
    found = connect(ANALYST).sql(f"SELECT id FROM mem.s.orders WHERE {where} ORDER BY id")
    assert [row["id"] for row in rows(found)] == ids


@pytest.mark.slow
def test_joins_and_runtime_filters_see_masks(connect: Open) -> None:
    session = connect(ANALYST)
    text = "SELECT a.id, b.ssn FROM mem.s.orders a JOIN mem.s.orders b ON a.ssn = b.ssn ORDER BY 1"
    assert [row["ssn"] for row in rows(session.sql(text))] == ["XXX-XX-3333", "XXX-XX-5555"]
    names = session.spark.createDataFrame([("us",), ("eu",)], ["region"])
    joined = session.table("mem.s.orders").join(names, "region")
    assert sorted(row["id"] for row in joined.collect()) == [1, 3]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT note FROM mem.s.orders",
        "SELECT id FROM mem.s.orders WHERE note = 'hush-1'",
        "SELECT count(note) FROM mem.s.orders",
        "SELECT id FROM mem.s.orders ORDER BY note",
        "SELECT o.note FROM mem.s.orders o JOIN mem.s.open p ON o.id = p.id",
    ],
)
def test_a_hidden_column_is_denied_by_name(connect: Open, text: str) -> None:
    with pytest.raises(AccessDeniedError, match=r"Cannot select from columns \[note\] in table or view mem\.s\.orders"):
        connect(ANALYST).sql(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM mem.s.orders",
        "SELECT *, _metadata FROM mem.s.orders",
        "SELECT `$chunk` FROM mem.s.orders",
        "SELECT `$row_id` FROM mem.s.orders",
        "DESCRIBE EXTENDED mem.s.orders",
        "SHOW CREATE TABLE mem.s.orders",
        "SHOW TBLPROPERTIES mem.s.orders",
        "SHOW PARTITIONS mem.s.orders",
        "SHOW STATS FOR mem.s.orders",
        "EXPLAIN EXTENDED SELECT * FROM mem.s.orders WHERE ssn = 'x'",
        "EXPLAIN ANALYZE SELECT * FROM mem.s.orders",
        "EXPLAIN (FORMAT JSON) SELECT * FROM mem.s.orders",
        "SELECT * FROM mem.information_schema.columns",
        "SELECT * FROM mem.system.metadata",
        "SELECT * FROM mem.s.`orders$snapshots`",
        "SELECT CAST(ssn AS INT) FROM mem.s.orders",
        "SELECT raise_error(ssn) FROM mem.s.orders",
        "SELECT not_there FROM mem.s.orders",
    ],
)
def test_nothing_hidden_is_in_answers_and_errors(connect: Open, text: str) -> None:
    try:
        met = str(rows(connect(ANALYST).sql(text)))
    except (ConnectorError, PySparkException) as error:
        met = str(error)
    assert not [secret for secret in SECRETS if secret in met]
    assert not re.search(r"\bnote\b", met)
    assert "'us'" not in met


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO mem.s.orders (id, region, ssn, amount) VALUES (9, 'eu', 's', 1)",
        "INSERT OVERWRITE mem.s.orders SELECT * FROM mem.s.orders",
        "DELETE FROM mem.s.orders WHERE id = 1",
        "DELETE FROM mem.s.open WHERE id = 1",
        "UPDATE mem.s.open SET name = 'x'",
        "MERGE INTO mem.s.open t USING mem.s.orders o ON t.id = o.id WHEN MATCHED THEN DELETE",
        "TRUNCATE TABLE mem.s.open",
        "INSERT INTO mem.s.open VALUES (9, 'x')",
        "CALL mem.system.rollback_to_version(schema_name => 's', table_name => 'open', version => 1)",
    ],
)
def test_nothing_is_changed_without_a_privilege(connect: Open, text: str) -> None:
    with pytest.raises((AccessDeniedError, PySparkException, ConnectorError), match="Access Denied"):
        connect(ANALYST).sql(text).collect()
    admin = connect(Identity("admin"))
    assert admin.sql("SELECT count(*) n, max(name) m FROM mem.s.open").collect()[0].asDict() == {"n": 2, "m": "two"}
    assert admin.sql("SELECT count(*) n FROM mem.s.orders").collect()[0]["n"] == 3


@pytest.mark.slow
def test_changes_and_streams_are_filtered_and_masked(connect: Open, tmp_path: Path) -> None:
    session = connect(ANALYST)
    stream = session.spark.readStream.table("mem.s.orders")
    query = (
        stream.writeStream.format("memory")
        .queryName("seen")
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(60)
    found = session.spark.table("seen")
    assert sorted(row["ssn"] for row in found.collect()) == ["XXX-XX-3333", "XXX-XX-5555"]
    assert "note" not in found.columns
    changes = session.sql("SELECT * FROM mem.s.orders CHANGES FROM VERSION 1 TO VERSION 1")
    assert sorted(row["ssn"] for row in changes.collect()) == ["XXX-XX-3333", "XXX-XX-5555"]
    assert "note" not in changes.columns


def test_what_one_session_caches_is_not_what_another_sees(connect: Open) -> None:
    """Spark shares what it caches between the sessions of an application, and looks for it by name."""
    admin, text = connect(Identity("admin")), "SELECT ssn FROM mem.s.orders ORDER BY id"
    admin.sql("CACHE TABLE mem.s.orders")
    try:
        assert [row["ssn"] for row in rows(connect(ANALYST).sql(text))] == ["XXX-XX-3333", "XXX-XX-5555"]
    finally:
        admin.sql("UNCACHE TABLE mem.s.orders")


def test_an_administrator_sees_and_changes_all(connect: Open) -> None:
    session = connect(Identity("admin"))
    found = session.sql("SELECT ssn, note FROM mem.s.orders WHERE region = 'us'")
    assert rows(found) == [{"ssn": "222-33-4444", "note": "hush-2"}]
    assert rows(session.sql("SELECT word FROM mem.s.secret")) == [{"word": "sealed"}]


@pytest.mark.slow
@pytest.mark.parametrize("format_name", ["parquet", "orc"])
def test_tables_of_files_that_spark_could_read_itself(spark: SparkSession, tmp_path: Path, format_name: str) -> None:
    catalogs = tmp_path / "catalog"
    catalogs.mkdir()
    (catalogs / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={tmp_path}/metastore.db\n"
    )
    data = pa.table({"id": [1, 2, 3], "ssn": ["a-1", "b-2", "c-3"], "note": ["x", "y", "z"], "ds": ["p", "p", "q"]})
    with lakeport.connect(catalogs=catalogs, engine="duckdb") as made:
        made.create_table_as("hive.default.t", data, using=format_name, partitioned_by=["ds"])
    rules = write_rules(
        tmp_path,
        {
            "tables": [
                {
                    "user": "ann",
                    "table": "t",
                    "privileges": ["SELECT"],
                    "filter": "id <> 2",
                    "columns": [{"name": "ssn", "mask": "upper(ssn)"}, {"name": "note", "allow": False}],
                },
                {"user": "bob", "table": "t", "privileges": ["SELECT"], "columns": [{"name": "ds", "mask": "'?'"}]},
                {"user": "eve", "table": "t", "privileges": ["SELECT"], "columns": [{"name": "ds", "allow": False}]},
            ]
        },
    )
    control = FileAccessControl(rules)
    with lakeport.connect(spark.newSession(), catalogs, access_control=control, identity=Identity("ann")) as ann:
        found = rows(ann.sql("SELECT * FROM hive.default.t ORDER BY id"))
        assert found == [{"id": 1, "ssn": "A-1", "ds": "p"}, {"id": 3, "ssn": "C-3", "ds": "q"}]
        assert rows(ann.sql("SELECT min(id) low, max(ssn) high, count(*) n FROM hive.default.t WHERE ds = 'p'")) == [
            {"low": 1, "high": "A-1", "n": 1}
        ]
        for column in ("$path", "_metadata"):
            with pytest.raises((ConnectorError, PySparkException)):
                ann.sql(f"SELECT `{column}` FROM hive.default.t")
        for table in ("t$partitions", "t$files"):
            with pytest.raises((ConnectorError, PySparkException), match=r"Access Denied|TABLE_NOT_FOUND|no system"):
                ann.sql(f"SELECT * FROM hive.default.`{table}`").collect()
    with lakeport.connect(spark.newSession(), catalogs, access_control=control, identity=Identity("bob")) as bob:
        assert rows(bob.sql("SELECT DISTINCT ds FROM hive.default.t")) == [{"ds": "?"}]
        assert rows(bob.sql("SELECT id FROM hive.default.t WHERE ds = 'p'")) == []
        assert len(rows(bob.sql("SELECT id FROM hive.default.t WHERE ds = '?'"))) == 3
        with pytest.raises((ConnectorError, PySparkException), match=r"Access Denied|does not support partition"):
            bob.sql("SHOW PARTITIONS hive.default.t").collect()
    with lakeport.connect(spark.newSession(), catalogs, access_control=control, identity=Identity("eve")) as eve:
        # The name of a file has the value of its partition.
        found = rows(eve.sql("SELECT id, input_file_name() AS file FROM hive.default.t ORDER BY id"))
        assert [(row["id"], "ds=" in str(row["file"])) for row in found] == [(1, False), (2, False), (3, False)]
