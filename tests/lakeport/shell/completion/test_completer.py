"""What Tab offers, and where."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from connector_spi.errors import MetastoreError
from connector_spi.metadata import ConnectorMetadata
from connector_spi.session import ConnectorSession
from connectors.memory.connector import MemoryConnector
from lakeport.shell.commands.registry import arguments_of_commands
from lakeport.shell.completion.completer import Argument, ShellCompleter, SqlCompleter
from lakeport.shell.completion.names import NameCache, SortedNames
from tests.lakeport.memory_session import memory_session, put


@pytest.fixture
def names() -> Iterator[tuple[NameCache, MemoryConnector]]:
    with memory_session() as (session, connector):
        put(connector, "trips", pa.table({"trip_id": [1], "fare": [1.5]}))
        put(connector, "my table", pa.table({"a": [1]}))
        cache = NameCache(session)
        yield cache, connector
        cache.close()


def offered(completer: SqlCompleter | ShellCompleter, text: str, cursor: int | None = None) -> list[str]:
    document = Document(text, len(text) if cursor is None else cursor)
    return [item.text for item in completer.get_completions(document, CompleteEvent(completion_requested=True))]


def soon(ask: Callable[[], list[str]], expected: str) -> list[str]:
    """What is offered when the names have come, which nobody waits for."""
    end = time.monotonic() + 20
    while expected not in ask() and time.monotonic() < end:
        time.sleep(0.01)
    return ask()


@pytest.mark.parametrize(
    ("text", "expected", "not_there"),
    [
        ("SELECT * FROM m", ["mem", "`my table`"], ["trip_id", "max"]),
        ("SELECT * FROM mem.", ["default", "s"], ["trips"]),
        ("SELECT * FROM mem.s.t", ["trips"], ["trip_id"]),
        ("SELECT * FROM MEM.S.", ["`my table`", "trips"], []),
        ("SELECT * FROM s.tr", ["trips"], []),
        ("SELECT * FROM tri", ["trips"], ["trip_id"]),
        ("SELECT * FROM `mem`.s.tr", ["trips"], []),
        ("SELECT * FROM s.`my", ["`my table`"], []),
        ("SELECT * FROM trips t JOIN my", ["`my table`"], []),
        ("SELECT * FROM a, tri", ["trips"], []),
        ("SELECT a FR", ["FROM"], []),
        ("select a fr", ["from"], ["FROM"]),
        ("SELECT * FROM trips WHERE fa", ["fare"], ["trips"]),
        ("SELECT * FROM trips t WHERE t.", ["fare", "trip_id"], ["trips"]),
        ("SELECT * FROM trips ORDER BY tri", ["trip_id"], []),
        ("SELECT co", ["count"], []),
        ("SELECT (SELECT max(fa", [], ["fare"]),
        ("USE ", ["mem", "s"], ["trips"]),
        ("USE mem.", ["s"], []),
        ("SHOW TABLES IN mem.", ["s"], []),
        ("SET spark.lakeport.mem.na", ["native_reader"], []),
        ("SET sp", ["spark.lakeport.mem.native_reader"], []),
        ("CALL mem.", ["system"], ["default"]),
        ("DESCRIBE tri", ["trips"], []),
        ("EXPLAIN ", ["SELECT", "ANALYZE", "EXTENDED"], ["WHERE", "trips"]),
        ("EXPLAIN ANALYZE ", ["SELECT", "WITH"], ["ANALYZE"]),
        ("EXPLAIN CO", ["COST", "CODEGEN"], []),
        ("SHOW ", ["TABLES", "CATALOGS"], ["SELECT"]),
        ("SELECT 1; SELECT * FROM tri", ["trips"], []),
        ("SELECT 'FROM tri", [], ["trips"]),
        ("SELECT 1 -- FROM tri", [], ["trips"]),
        ("SELECT /* FROM tri", [], ["trips"]),
    ],
)
def test_sql(names: tuple[NameCache, MemoryConnector], text: str, expected: list[str], not_there: list[str]) -> None:
    completer = SqlCompleter(names[0], lambda: ("mem", "s"))
    for name in expected:
        assert name in soon(lambda: offered(completer, text), name)
    assert not set(not_there) & set(offered(completer, text))


@pytest.mark.parametrize(
    ("text", "expected", "not_there"),
    [
        ("WITH far AS (SELECT fare * 2 AS Doubled, trip_id FROM trips) SELECT | FROM far", "Doubled trip_id", "fare"),
        ("WITH far AS (SELECT * FROM trips) SELECT * FROM far WHERE |", "fare trip_id", "a"),
        ("WITH far AS (SELECT 1 AS one), fur AS (SELECT f.*, 2 two FROM far f) SELECT | FROM fur", "one two", "fare"),
        ("WITH far (x, y) AS (SELECT * FROM trips) SELECT far.| FROM far", "x y", "fare trip_id"),
        ("WITH far AS (SELECT |) SELECT a FROM `my table`", "count", "a fare"),
        ("WITH far AS (SELECT fare FROM trips), fur AS (SELECT | FROM far) SELECT 1", "fare", "trip_id"),
        ("WITH far AS (SELECT 1) SELECT * FROM |", "far trips", ""),
        ("WITH far AS (SELECT 1) SELECT * FROM (SELECT * FROM |", "far trips", ""),
        ("SELECT * FROM (WITH far AS (SELECT 1) SELECT 1) JOIN |", "trips", "far"),
        ("SELECT | FROM (SELECT max(fare) AS most, count(*) n FROM trips) t", "most n t", "fare trip_id"),
        ("SELECT | FROM (SELECT t.fare + 1, t.trip_id FROM trips t)", "trip_id", "fare"),
        ("SELECT | FROM (SELECT fare FROM trips UNION SELECT a FROM `my table`)", "fare", "trip_id a"),
        ("SELECT s.| FROM (SELECT * FROM trips) AS s(u, v)", "u v", "fare"),
        ("SELECT | FROM trips UNION ALL SELECT a FROM `my table`", "fare trip_id", "a"),
        ("SELECT fare FROM trips UNION ALL SELECT | FROM `my table`", "a", "fare"),
        ("SELECT fare FROM trips WHERE trip_id IN (SELECT | FROM `my table`)", "a fare", ""),
        ("SELECT | FROM trips WHERE trip_id IN (SELECT a FROM `my table`)", "fare", "a"),
        ("SELECT * FROM trips JOIN (SELECT | FROM `my table`) m", "a", "fare"),
        ("SELECT max(| FROM trips", "fare", "a"),
        ("SELECT * FROM (trips JOIN `my table` m ON |)", "fare a", ""),
        ("SELECT EXTRACT(YEAR FROM |) FROM trips", "trips", ""),
        ("SELECT * EXCEPT (fare) FROM trips WHERE |", "fare", ""),
        ("SELECT * FROM trips VERSION AS OF 1 t WHERE t.|", "fare", ""),
        ("SELECT * FROM STREAM trips WHERE |", "fare", ""),
        ("INSERT INTO trips SELECT | FROM `my table`", "a", ""),
        ("DELETE FROM trips WHERE |", "fare", "a"),
        ("SELECT " + "(" * 3000 + "|", "count", ""),
        ("SELECT " + "(SELECT " * 3000 + "|", "count", ""),
    ],
)
def test_tables_and_queries_that_the_cursor_sees(
    names: tuple[NameCache, MemoryConnector], text: str, expected: str, not_there: str
) -> None:
    completer = SqlCompleter(names[0], lambda: ("mem", "s"))
    cursor = text.index("|")
    whole = text.replace("|", "")
    for name in expected.split():
        assert name in soon(lambda: offered(completer, whole, cursor), name)
    assert not set(not_there.split()) & set(offered(completer, whole, cursor))


def test_columns_of_a_from_that_follows_the_cursor(names: tuple[NameCache, MemoryConnector]) -> None:
    completer = SqlCompleter(names[0], lambda: ("mem", "s"))
    text = "SELECT fa FROM mem.s.trips"
    assert soon(lambda: offered(completer, text, len("SELECT fa")), "fare")[0] == "fare"


@pytest.mark.parametrize("text", ["SELECT | FROM events", "SELECT e.| FROM events e"])
def test_a_users_columns_come_before_those_that_a_format_adds(
    names: tuple[NameCache, MemoryConnector], text: str
) -> None:
    put(names[1], "events", pa.table({"_hoodie_commit_time": ["1"], "$path": ["p"], "zone": ["z"], "area": ["a"]}))
    completer = SqlCompleter(names[0], lambda: ("mem", "s"))
    cursor = text.index("|")
    found = soon(lambda: offered(completer, text.replace("|", ""), cursor), "zone")
    assert [name for name in found if name in ("area", "zone", "_hoodie_commit_time", "`$path`")] == [
        "area", "zone", "`$path`", "_hoodie_commit_time",
    ]  # fmt: skip
    assert found[:2] == ["area", "zone"]


def test_nothing_unasked_for_before_the_first_letter(names: tuple[NameCache, MemoryConnector]) -> None:
    completer = SqlCompleter(names[0], lambda: ("mem", "s"))
    assert list(completer.get_completions(Document("SELECT "), CompleteEvent(text_inserted=True))) == []


def test_commands_of_the_shell_and_what_they_are_about(names: tuple[NameCache, MemoryConnector]) -> None:
    values = {Argument.FORMAT: ["csv", "json"], Argument.SWITCH: ["on", "off"]}
    completer = ShellCompleter(SqlCompleter(names[0], lambda: ("mem", "s")), arguments_of_commands(), values)
    assert {"\\d", "\\dt", "\\d+"} <= set(offered(completer, "\\d"))
    assert "trips" in soon(lambda: offered(completer, "\\d tr"), "trips")
    assert offered(completer, "\\format j") == ["json"]
    assert offered(completer, "\\timing o") == ["off", "on"]


def test_a_catalog_that_fails_completes_nothing(
    names: tuple[NameCache, MemoryConnector], monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(self: ConnectorMetadata, session: ConnectorSession) -> list[str]:
        raise MetastoreError("down")

    cache, connector = names
    monkeypatch.setattr("connectors.memory.metadata.MemoryMetadata.list_schema_names", down)
    completer = SqlCompleter(cache, lambda: (None, None))
    assert offered(completer, "SELECT * FROM mem.") == []
    assert connector.transactions.begun > 0


def test_names_that_come_late_are_told(names: tuple[NameCache, MemoryConnector]) -> None:
    with memory_session() as (session, connector):
        put(connector, "late", pa.table({"a": [1]}))
        told: list[bool] = []
        cache = NameCache(session, lambda: told.append(True))
        known = cache.tables("mem", "s").names
        end = time.monotonic() + 20
        while not known and time.monotonic() < end:
            time.sleep(0.01)
            known = ("late",) if told else known
        assert cache.tables("mem", "s").names == ("late",)
        cache.close()


def test_a_word_is_found_at_the_beginning_first() -> None:
    found = SortedNames.of(["b_trips", "trips_b", "Trips_a", "x"])
    assert found.matching("trips", 10) == ["Trips_a", "trips_b", "b_trips"]
    assert found.matching("", 2) == ["b_trips", "Trips_a"]
    assert found.matching("trips", 1) == ["Trips_a"]
