"""Rows that a join needs by the rows of its other table: never too few, and what no one needs is not read."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import orc

import lakeport
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from lakeport.arrow.filters.pruning import EVERY_ROW
from lakeport.duckdb.session import LocalSession
from lakeport.duckdb.tables.join_keys import JoinKeys, KeyValues
from tests.lakeport.memory_session import put

_PARTS = 6
_ROWS = 1000


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalSession]:
    """``sales`` of ORC files in partitions by ``day``, and ``days``, which gives each a name."""
    monkeypatch.chdir(tmp_path)
    for part in range(_PARTS):
        folder = tmp_path / "sales" / f"day={part}"
        folder.mkdir(parents=True)
        ids = pa.array(range(part * _ROWS, (part + 1) * _ROWS), pa.int64())
        orc.write_table(pa.table({"id": ids}), folder / "part-0.orc")
    (tmp_path / "days").mkdir()
    names = pa.table({"number": pa.array(range(_PARTS), pa.int32()), "name": ["mo", "tu", "we", "mo", None, "sa"]})
    orc.write_table(names, tmp_path / "days" / "part-0.orc")
    with lakeport.connect(engine="duckdb") as made:
        for name in ("sales", "days"):
            made.sql(f"CALL hive.system.register_table('s', '{name}', '{tmp_path / name}')")
        yield made


def _partitions(session: LocalSession, query: str) -> int:
    """How many partitions of ``sales`` were read."""
    [(text,)] = session.sql(f"EXPLAIN ANALYZE (FORMAT JSON) {query}").fetchall()
    [scan] = [one for one in json.loads(str(text))["scans"] if one["table"]["table"] == "sales"]
    return int(scan.get("partitionsKept", 0))


@pytest.mark.parametrize(
    ("query", "rows", "kept"),
    [
        ("SELECT count(*) AS n FROM {s} JOIN {d} ON day = number WHERE name = 'mo'", 2000, 2),
        ("SELECT count(*) AS n FROM {s}, {d} WHERE name IN ('sa', 'we') AND number = day AND id >= 0", 2000, 2),
        ("SELECT count(*) AS n FROM {s} JOIN {d} ON day = number AND name LIKE 't%'", 1000, 1),
        ("SELECT count(*) AS n FROM {s} JOIN {d} ON day = number WHERE name = 'no such day'", 0, 0),
        ("SELECT count(*) AS n FROM (SELECT id FROM {s} JOIN {d} ON day = number WHERE number > 4) x", 1000, 1),
        # What a join keeps of other rows it has to read.
        ("SELECT count(*) AS n FROM {s} LEFT JOIN {d} ON day = number AND name = 'mo'", 6000, 6),
        ("SELECT count(*) AS n FROM {s} ANTI JOIN {d} ON day = number AND name = 'mo'", 4000, 6),
        ("SELECT count(*) AS n FROM {s} JOIN {d} ON day < number WHERE name = 'tu'", 1000, 6),
        ("SELECT count(*) AS n FROM {s} JOIN {d} ON day = number OR name = 'sa'", 11000, 6),
        ("SELECT count(*) AS n FROM {s} JOIN {d} ON day + 1 = number WHERE name = 'tu'", 1000, 6),
        # Of another type.
        ("SELECT count(*) AS n FROM {s} JOIN {d} ON id = number WHERE name = 'mo'", 2, 6),
    ],
)
def test_partitions_that_a_join_needs(session: LocalSession, query: str, rows: int, kept: int) -> None:
    text = query.format(s="hive.s.sales", d="hive.s.days")
    for _ in range(2):
        assert session.sql(text).fetchall() == [(rows,)]
    assert _partitions(session, text) == kept


def test_explain_analyze_names_the_filter_of_a_join(session: LocalSession) -> None:
    query = "SELECT max(id) AS m FROM hive.s.sales JOIN hive.s.days ON day = number WHERE name = 'mo'"
    [(text,)] = session.sql(f"EXPLAIN ANALYZE {query}").fetchall()
    lines = [line.strip() for line in str(text).splitlines()]
    assert {"filter pushed: day IN (0, 3)", "partitions: 2 of 6", "rows given to DuckDB: 2,000"} <= set(lines)
    [join] = [line for line in lines if line.startswith("HASH_JOIN")]
    assert join.endswith("[2,000 rows]")
    # Without a run no one knows the rows of the other table.
    [(text,)] = session.sql(f"EXPLAIN {query}").fetchall()
    assert "partitions: 6 of 6" in str(text)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_joins(seed: int) -> None:
    """The rows are those of DuckDB over the same tables in memory."""
    rnd = random.Random(seed)
    tables = {name: _random_rows(rnd, rnd.choice((0, 3, 40, 3000))) for name in "abc"}
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})
    with LocalSession(registry) as session, duckdb.connect() as plain:
        connector = registry.get("mem")
        assert isinstance(connector, MemoryConnector)
        for name, rows in tables.items():
            put(connector, name, rows, "k", chunk_rows=100)
            plain.register(name, rows)
        for _ in range(12):
            key, other = rnd.choice(("k", "s", "d")), rnd.choice(("k", "s", "d"))
            kinds = rnd.choices(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN"), (6, 2, 1, 1, 1), k=1)
            condition = rnd.choice(("a.v > 50", "b.v < 20", "a.k = 3 AND b.v > 5", "b.s IN ('x1', 'x2')", "a.v < 2"))
            if kinds == ["SEMI JOIN"]:
                condition = condition.replace("b.", "a.")
            text = (
                f"SELECT count(*) AS n, sum(a.v) AS x FROM {{a}} a {kinds[0]} {{b}} b ON a.{key} = b.{key} "
                f"JOIN {{c}} c ON a.{other} = c.{other} WHERE {condition}"
            )
            found = session.sql(text.format(a="mem.s.a", b="mem.s.b", c="mem.s.c")).fetchall()
            assert found == plain.execute(text.format(a="a", b="b", c="c")).fetchall(), text


def test_values_are_known_when_all_were_read() -> None:
    values = KeyValues()
    keys = JoinKeys({"k": values})
    rows = pa.table({"k": pa.array([3, None, 3, 5], pa.int32())})
    reader = keys.noting(rows.to_reader(max_chunksize=2), EVERY_ROW)
    reader.read_next_batch()
    assert values.test("x", pa.int32()) is None
    reader.read_all()
    test = values.test("x", pa.int32())
    assert test is not None
    assert test.mask({"x": pa.array([3, 4, 5, None], pa.int32())}).to_pylist() == [True, False, True, False]
    many = KeyValues()
    JoinKeys({"k": many}).noting(pa.table({"k": pa.array(range(5000))}).to_reader(), EVERY_ROW).read_all()
    test = many.test("x", pa.int64())
    assert test is not None
    assert test.mask({"x": pa.array([0, 4999, 5000])}).to_pylist() == [True, True, False]
    too_many = KeyValues()
    JoinKeys({"k": too_many}).noting(pa.table({"k": pa.array(range(60_000))}).to_reader(), EVERY_ROW).read_all()
    assert too_many.test("x", pa.int64()) is None


def _random_rows(rnd: random.Random, count: int) -> pa.Table:
    day = date(2024, 1, 1)

    def some(make: object) -> list[object]:
        assert callable(make)
        return [None if rnd.random() < 0.1 else make() for _ in range(count)]

    return pa.table(
        {
            "k": pa.array(some(lambda: rnd.randrange(6)), pa.int32()),
            "s": pa.array(some(lambda: f"x{rnd.randrange(9)}"), pa.string()),
            "d": pa.array(some(lambda: day + timedelta(rnd.randrange(5))), pa.date32()),
            "v": pa.array([rnd.randrange(100) for _ in range(count)], pa.int32()),
        }
    )
