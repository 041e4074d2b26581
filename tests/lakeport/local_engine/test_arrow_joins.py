"""Joins of tables whose rows come as Arrow, of which DuckDB does not know how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import orc

import lakeport
from lakeport.duckdb.session import LocalSession
from lakeport.duckdb.tables.arrow_views import sized_view

_ROWS = 200_000


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalSession]:
    monkeypatch.chdir(tmp_path)
    for name, count in (("large", _ROWS), ("small", 50)):
        (tmp_path / name).mkdir()
        rows = pa.table({f"{name}_id": range(count), f"{name}_text": [f"text {number * 7}" for number in range(count)]})
        orc.write_table(rows, tmp_path / name / "part-0.orc")
    with lakeport.connect(engine="duckdb") as made:
        for name in ("large", "small"):
            made.sql(f"CALL hive.system.register_table('s', '{name}', '{tmp_path / name}')")
        yield made


def _plan(session: LocalSession, query: str, words: str = "EXPLAIN") -> str:
    [(plan,)] = session.sql(f"{words} {query}").fetchall()
    return str(plan)


@pytest.mark.parametrize("tables", [("large", "small"), ("small", "large")])
@pytest.mark.parametrize("condition", ["", " WHERE large_text <> 'a' AND small_text <> 'b'"])
def test_the_smaller_table_is_kept_in_memory(session: LocalSession, tables: tuple[str, str], condition: str) -> None:
    """It is the second one below a join."""
    one, other = tables
    query = f"SELECT count(*), max(large_text) FROM hive.s.{one} JOIN hive.s.{other} ON large_id = small_id{condition}"
    plan = _plan(session, query)
    assert "as Arrow" in plan
    assert plan.index("large_id", plan.index("HASH_JOIN")) < plan.index("Projections: small_id"), plan
    # What tells DuckDB how many rows there are is not shown.
    assert "UNION" not in plan
    assert "RANGE" not in plan
    assert session.sql(query).fetchall() == [(50, "text 98")]


def test_all_types_may_be_joined(session: LocalSession, tmp_path: Path) -> None:
    rows = pa.table(
        {
            "id": [1, None],
            "b": [b"x", None],
            "l": [[1], None],
            "s": [{"a": 1}, None],
            "m": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
            "t": pa.array([1, None], pa.timestamp("us")),
            "ok": [True, None],
            "f": [1.5, None],
        }
    )
    (tmp_path / "t").mkdir()
    orc.write_table(rows, tmp_path / "t" / "part-0.orc")
    session.sql(f"CALL hive.system.register_table('s', 't', '{tmp_path / 't'}')")
    found = session.sql("SELECT t.* FROM hive.s.t t JOIN hive.s.small ON t.id = small_id WHERE ok").arrow().to_pylist()
    assert found == session.scan("hive.s.t").where("id = 1").to_arrow().to_pylist()


def test_a_table_that_is_named_twice_is_read_once(session: LocalSession) -> None:
    query = "SELECT count(*) FROM hive.s.large a JOIN hive.s.large b ON a.large_id = b.large_id WHERE a.large_id < 10"
    plan = _plan(session, query, "EXPLAIN ANALYZE")
    assert plan.count("Scan hive.s.large") == 1, plan
    assert session.sql(query).fetchall() == [(10,)]
    common = (
        "WITH few AS (SELECT * FROM hive.s.small WHERE small_id < 3) SELECT count(*) FROM few a, few b, hive.s.small"
    )
    assert session.sql(common).fetchall() == [(3 * 3 * 50,)]
    either = "SELECT small_id FROM hive.s.small WHERE small_id = 1 UNION ALL SELECT small_id FROM hive.s.small LIMIT 9"
    assert len(session.sql(either).fetchall()) == 9
    inner = "SELECT small_id FROM hive.s.small WHERE small_id IN (SELECT max(small_id) FROM hive.s.small) ORDER BY 1"
    assert session.sql(inner).fetchall() == [(49,)]


def test_types_stay_what_they_are_where_rows_are_estimated() -> None:
    rows = pa.table({"t": pa.array([1], pa.time64("us")), "b": pa.array([b"xy"], pa.binary(2)), "i": [1]})
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        plain = connection.sql("SELECT * FROM rows")
        assert connection.sql(sized_view("rows", rows.schema, 100)).types == plain.types


def test_a_name_of_the_query_takes_no_tables_place(session: LocalSession) -> None:
    query = (
        "WITH lakeport_0 AS (SELECT 5 AS i) SELECT a.i, small_id FROM lakeport_0 a JOIN hive.s.small ON a.i = small_id"
    )
    assert session.sql(query).fetchall() == [(5, 5)]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT count(*) AS c FROM hive.s.large", [(_ROWS,)]),
        ("SELECT count(*) AS c FROM hive.s.small a, hive.s.small b", [(2500,)]),
        ("SELECT 1 AS one FROM hive.s.small LIMIT 2", [(1,), (1,)]),
        ("SELECT EXISTS (SELECT 1 FROM hive.s.large) AS e", [(True,)]),
        ("SELECT small_id FROM hive.s.small, (SELECT count(*) AS c FROM hive.s.large) WHERE small_id > c - 199952",
         [(49,)]),
    ],
)  # fmt: skip
def test_rows_are_counted_without_columns(session: LocalSession, query: str, rows: list[tuple[object, ...]]) -> None:
    assert session.sql(query).fetchall() == rows
    assert "columns: 0 of 2" in _plan(session, query)
