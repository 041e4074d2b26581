"""Every statement that could show something, by every kind of user, over Hive's and Hudi's tables.

The tables are the sample warehouse: ``hive.sales.notes`` (ACID), ``hive.sales.labels``, and Hudi's ``items``,
``visits`` and ``prices``, also as the hive catalog redirects to them. Expected rows are those of Hive and Hudi, as
rules leave them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import lakeport
from catalog.access_control.file_access_control import FileAccessControl
from connector_spi.errors import ConnectorError
from connector_spi.security import Identity
from lakeport.catalog_session import AnySession
from lakeport.shell.completion.completer import SqlCompleter
from lakeport.shell.completion.names import NameCache
from tests.lakeport.access_control.granting_sessions import Connect, rows
from tests.lakeport.access_control.guarded_sessions import write_rules
from tests.lakeport.demo.answers import hive_rows, hudi_rows
from tests.lakeport.sample_session import sample_session

pytestmark = pytest.mark.slow

NOTES, ITEMS = "hive.sales.notes", "hudi.sales.items"
RULES: Mapping[str, Sequence[Mapping[str, object]]] = {
    "catalogs": [{"user": "blocked", "allow": "none"}, {"allow": "all"}],
    "schemas": [],
    "tables": [
        {"user": "root", "privileges": ["SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP"]},
        {
            "user": "partial",
            "table": "notes",
            "privileges": ["SELECT"],
            "filter": "id <> 4",
            "columns": [{"name": "s", "mask": "upper(s)"}],
        },
        {
            "user": "partial",
            "table": "items",
            "privileges": ["SELECT"],
            "filter": "id <> 7",
            "columns": [{"name": "name", "mask": "'x' || name"}, {"name": "price", "allow": False}],
        },
        {"user": "partial", "table": "labels", "privileges": ["SELECT"]},
        {"user": "writer", "table": "notes|items", "privileges": ["INSERT"]},
        {"user": "owner", "table": "notes|items", "privileges": ["OWNERSHIP"]},
    ],
}


@pytest.fixture(scope="module", params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def connect(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    folder = tmp_path_factory.mktemp("matrix")
    sample_session(folder).close()
    control = FileAccessControl(write_rules(folder, RULES))
    opened: dict[str, AnySession] = {}

    def session(user: str) -> AnySession:
        if user not in opened:
            given, identity = folder / "catalogs", Identity(user)
            if request.param == "duckdb":
                opened[user] = lakeport.connect(
                    catalogs=given, engine="duckdb", access_control=control, identity=identity
                )
            else:
                spark: SparkSession = request.getfixturevalue("spark")
                opened[user] = lakeport.connect(spark.newSession(), given, access_control=control, identity=identity)
        return opened[user]

    yield session
    for one in opened.values():
        one.close()


def said(call: Callable[..., object], *arguments: object) -> str:
    """What comes back, rows or an error."""
    try:
        return str(call(*arguments))
    except (ConnectorError, PySparkException) as error:
        return str(error)


def read_changes(session: AnySession, table: str) -> object:
    return session.changes(table).read_all()


DENIED_READS = [
    "SELECT * FROM {t}",
    "SELECT count(*) FROM {t}",
    "SELECT max(id) FROM {t}",
    "SELECT 1 AS one FROM {t} LIMIT 0",
    "SELECT id FROM hive.sales.labels WHERE id IN (SELECT id FROM {t})",
    "SELECT l.id FROM hive.sales.labels l LEFT JOIN {t} x ON l.id = x.id",
    "WITH x AS (SELECT id FROM {t}) SELECT * FROM x",
    "SELECT * FROM {t} VERSION AS OF 1",
    "SELECT * FROM {t} CHANGES FROM VERSION 1",
    "EXPLAIN SELECT * FROM {t}",
    "EXPLAIN ANALYZE SELECT * FROM {t}",
    "EXPLAIN (FORMAT JSON) SELECT * FROM {t}",
    "EXPLAIN (TYPE IO) SELECT * FROM {t}",
    "SHOW STATS FOR {t}",
]
SYSTEM_TABLES = ["properties", "partitions", "acid", "compactions", "timeline", "files", "file_slices"]
DESCRIBES = ["DESCRIBE {t}", "SHOW COLUMNS IN {t}", "SHOW CREATE TABLE {t}"]
WRITES = ["INSERT INTO {t} SELECT * FROM {t}", "ANALYZE TABLE {t} COMPUTE STATISTICS"]
OF_SPARK = [
    "DESCRIBE EXTENDED {t}",
    "SHOW TBLPROPERTIES {t}",
    "SHOW PARTITIONS {t}",
    "SELECT *, _metadata FROM {t}",
    "DELETE FROM {t}",
    "UPDATE {t} SET id = 1",
    "TRUNCATE TABLE {t}",
    "DROP TABLE {t}",
    "ALTER TABLE {t} SET TBLPROPERTIES ('a' = 'b')",
    "CREATE OR REPLACE TEMPORARY VIEW peek AS SELECT * FROM {t}",
    "EXECUTE IMMEDIATE 'SELECT * FROM {t}'",
    "DESCRIBE EXTENDED {t} id",
    "SELECT * FROM {t} TIMESTAMP AS OF '2026-11-22 00:00:00'",
]
DENIAL = re.compile(r"Access Denied|does not support partition|not partitioned|no system table|TABLE_OR_VIEW_NOT_FOUND")


@pytest.mark.parametrize("table", [NOTES, ITEMS, "hive.sales.items"])
@pytest.mark.parametrize("user", ["stranger", "blocked"])
def test_no_statement_says_anything_of_a_denied_table(connect: Connect, user: str, table: str) -> None:
    session = connect(user)
    texts = [*DENIED_READS, *DESCRIBES, *WRITES, *(OF_SPARK if session.engine.name == "spark" else [])]
    answers = {text: said(rows, session, text.format(t=table)) for text in texts}
    for kind in SYSTEM_TABLES:
        name = f"{table.rpartition('.')[0]}.`{table.rpartition('.')[2]}${kind}`"
        answers[kind] = said(rows, session, f"SELECT * FROM {name}")
    answers["arrow"] = said(lambda: session.arrow(table).read_all())
    answers["changes"] = said(read_changes, session, table)
    # What a catalog does with no table says nothing of one.
    denied = re.compile("Access Denied|READ_ONLY_CATALOG")
    assert [text for text, answer in answers.items() if not denied.search(answer)] == []
    known = {"n0", "nine", "price", "_hoodie"}
    assert [text for text, answer in answers.items() if any(word in answer for word in known)] == []


@pytest.mark.parametrize("user", ["stranger", "blocked", "partial", "writer"])
def test_lists_show_what_may_be_seen(connect: Connect, user: str) -> None:
    session = connect(user)
    seen = {"stranger": set(), "blocked": set(), "partial": {"notes", "items", "labels"}, "writer": {"notes", "items"}}
    names = {"notes", "labels", "products", "items", "visits", "prices"}
    answers = [
        said(rows, session, "SHOW TABLES IN hive.sales"),
        said(rows, session, "SELECT table_name FROM hive.information_schema.tables"),
        said(rows, session, "SELECT table_name FROM hive.information_schema.columns"),
        said(session.tables, "hive.sales"),
    ]
    for answer in answers:
        # What is denied as a whole shows nothing.
        shown = {name for name in names if f"'{name}'" in answer or f"sales.{name}'" in answer}
        assert shown <= seen[user], answer
    if user in ("partial", "writer"):
        assert all("notes" in answer for answer in answers)


@pytest.mark.parametrize("user", ["stranger", "partial"])
def test_close_names_are_of_what_may_be_seen(connect: Connect, user: str) -> None:
    session = connect(user)
    for text in (
        "SELECT * FROM hive.sales.product",
        "SELECT * FROM hive.sale.products",
        "SELECT * FROM hive.sales.`product$files`",
        "DESCRIBE hive.sales.product",
    ):
        assert "products?" not in said(rows, session, text)
    if user == "partial":
        for text in (f"SELECT pric FROM {ITEMS}", f"SELECT id FROM {ITEMS} WHERE pricee = 1"):
            assert not re.search(r"\bprice\b", said(rows, session, text))


def test_completion_offers_what_may_be_seen(connect: Connect) -> None:
    def offered(user: str, text: str) -> set[str]:
        cache = NameCache(connect(user), patience=20)
        completer = SqlCompleter(cache, lambda: ("hive", "sales"))
        try:
            event = CompleteEvent(completion_requested=True)
            return {one.text for one in completer.get_completions(Document(text, len(text)), event)}
        finally:
            cache.close()

    tables, columns = "SELECT * FROM hive.sales.", f"SELECT i. FROM {ITEMS} i"
    assert {"notes", "labels"} <= offered("partial", tables)
    assert not {"products", "prices", "visits"} & offered("partial", tables)
    assert not {"notes", "products"} & offered("stranger", tables)
    for user, hidden in (("partial", {"price"}), ("stranger", {"price", "name"})):
        assert not hidden & offered(user, columns[: columns.index(" FROM")])
        assert not hidden & offered(user, f"SELECT * FROM {ITEMS} i WHERE i.")
    assert "name" in offered("partial", f"SELECT * FROM {ITEMS} i WHERE i.")


def test_who_sees_a_part_gets_no_more_by_any_statement(connect: Connect) -> None:
    session = connect("partial")
    texts = [*DENIED_READS, *DESCRIBES, *(OF_SPARK if session.engine.name == "spark" else [])]
    for table, hidden in (
        (NOTES, ["nine", "u3", "U3", "tab\\there"]),
        (ITEMS, ["price", "'n0'", "xn7", "_hoodie", "/p0/"]),
    ):
        answers = {text: said(rows, session, text.format(t=table)) for text in texts}
        for kind in SYSTEM_TABLES:
            name = f"{table.rpartition('.')[0]}.`{table.rpartition('.')[2]}${kind}`"
            answers[kind] = said(rows, session, f"SELECT * FROM {name}")
            assert DENIAL.search(answers[kind]), answers[kind]
        shown = {text: [word for word in hidden if word in answer] for text, answer in answers.items()}
        assert {text: words for text, words in shown.items() if words} == {}
        explained = {text for text, answer in answers.items() if "EXPLAIN" in text and "splits: " in answer}
        assert explained == set()


@pytest.mark.parametrize("user", ["writer", "owner"])
def test_who_may_not_read_learns_no_values(connect: Connect, user: str) -> None:
    """Who may add rows or owns a table knows its columns, and neither rows nor statistics."""
    session = connect(user)
    for table in (NOTES, ITEMS):
        for text in DENIED_READS:
            # What reads nothing shows nothing but the columns.
            if "LIMIT 0" in text or (text.startswith("EXPLAIN") and "ANALYZE" not in text):
                continue
            assert "Access Denied" in said(rows, session, text.format(t=table)), text
        assert "id" in said(rows, session, f"DESCRIBE {table}")
        assert "Access Denied" in said(read_changes, session, table)


def test_acid_rows_are_filtered_and_masked(connect: Connect) -> None:
    """Hive's own rows, as the rule leaves them."""

    def shown(answer: str) -> list[tuple[int, str | None]]:
        left = [row for row in hive_rows(answer) if row["id"] != "4"]
        return sorted((int(row["id"] or 0), None if row["s"] is None else row["s"].upper()) for row in left)

    session = connect("partial")
    assert sorted(rows(session, f"SELECT id, s FROM {NOTES}")) == shown("notes")
    assert sorted(rows(session, f"SELECT id, s FROM {NOTES} VERSION AS OF 6")) == shown("notes.version_6")
    assert rows(session, f"SELECT count(*), max(id) FROM {NOTES} WHERE id < 9") == [
        (sum(row[0] < 9 for row in shown("notes")), max(row[0] for row in shown("notes") if row[0] < 9))
    ]
    assert rows(session, f"SELECT id FROM {NOTES} WHERE s = 'nine'") == []


@pytest.mark.parametrize("name", [ITEMS, "hive.sales.items"])
def test_hudi_rows_are_filtered_and_masked(connect: Connect, name: str) -> None:
    """Hudi's own rows, as the rule leaves them; also of a table that the hive catalog redirects."""
    session = connect("partial")
    expected = sorted((row["id"], "x" + row["name"], row["part"]) for row in hudi_rows("items") if row["id"] != 7)
    assert sorted(rows(session, f"SELECT id, name, part FROM {name}")) == expected
    assert rows(session, f"SELECT count(*) FROM {name} WHERE name = 'n0'") == [(0,)]
    assert rows(session, f"SELECT count(*) FROM {name} WHERE name = 'xn0'") == [(1,)]
    columns = session.arrow(name).read_all().schema.names
    assert "price" not in columns
    assert not [column for column in columns if column.startswith("_hoodie")]
    with pytest.raises((ConnectorError, PySparkException), match=r"columns \[price\]"):
        rows(session, f"SELECT price FROM {name}")


@pytest.mark.parametrize("table", [NOTES, ITEMS])
def test_changes_are_filtered_and_masked(connect: Connect, table: str) -> None:
    """What root sees of them, as the rule leaves it."""
    text = "s" if table == NOTES else "name"
    # A base of Hive's compaction has replaced what was before.
    hidden, start = (4, 7) if table == NOTES else (7, None)

    def changes(user: str) -> list[tuple[object, ...]]:
        columns = ["id", text, "_change_type", "_commit_version"]
        read = connect(user).changes(table, start, columns=columns).read_all()
        return sorted(zip(*(column.to_pylist() for column in read.columns), strict=True), key=repr)

    def masked(value: str | None) -> str | None:
        return None if value is None else value.upper() if table == NOTES else "x" + value

    whole = changes("root")
    assert any(row[0] == hidden for row in whole)
    expected = sorted(((row[0], masked(row[1]), *row[2:]) for row in whole if row[0] != hidden), key=repr)  # type: ignore[arg-type]
    assert changes("partial") == expected
    session = connect("partial")
    versions = sorted({row[3] for row in whole}, key=repr)
    if session.engine.name == "spark":
        asked = f"SELECT id, {text}, _change_type, _commit_version FROM {table} CHANGES FROM VERSION {versions[0]}"
        assert sorted(rows(session, asked), key=repr) == expected


def test_who_sees_a_part_changes_nothing(connect: Connect) -> None:
    session = connect("partial")
    before = said(lambda: connect("root").arrow(NOTES).read_all().num_rows)
    data = connect("root").arrow(NOTES).read_all()
    for write in (session.insert, session.overwrite):
        with pytest.raises(ConnectorError, match="Access Denied"):
            write(NOTES, data)
    assert said(lambda: connect("root").arrow(NOTES).read_all().num_rows) == before
