"""``EXPLAIN`` of the engine duckdb: what is pushed and skipped, and true totals of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq
import pytest

import lakeport
from connector_spi.errors import InvalidArgumentError, TableNotFoundError
from lakeport.duckdb.session import LocalSession

_ROWS = 3000
_GROUP = 1000
_FILES = 3


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalSession]:
    """``plain`` of 3 Parquet files with 3 row groups each, ``orc`` of 3 partitions with one ORC file each."""
    monkeypatch.chdir(tmp_path)
    for number in range(_FILES):
        ids = range(number * _ROWS, (number + 1) * _ROWS)
        rows = pa.table({"id": pa.array(ids, pa.int64()), "name": [f"n{one}" for one in ids]})
        (tmp_path / "plain").mkdir(exist_ok=True)
        pq.write_table(rows, tmp_path / "plain" / f"part-{number}.parquet", row_group_size=_GROUP)
        (tmp_path / "orc" / f"p={number}").mkdir(parents=True)
        po.write_table(rows, tmp_path / "orc" / f"p={number}" / "part.orc")
    with lakeport.connect(engine="duckdb") as made:
        for table in ("plain", "orc"):
            made.sql(f"CALL hive.system.register_table('s', '{table}', '{tmp_path / table}')")
        yield made


def _lines(session: LocalSession, statement: str) -> list[str]:
    [(text,)] = session.sql(statement).fetchall()
    return [line.strip() for line in str(text).splitlines()]


def _scans(session: LocalSession, query: str) -> list[dict[str, object]]:
    [(text,)] = session.sql(f"EXPLAIN ANALYZE (FORMAT JSON) {query}").fetchall()
    found = json.loads(str(text))["scans"]
    assert isinstance(found, list)
    return found


def test_what_is_pushed_and_skipped(session: LocalSession) -> None:
    lines = _lines(session, "EXPLAIN SELECT name FROM hive.s.orc WHERE p = 1 AND id > 4000")
    assert {"Scan hive.s.orc", "columns: 3 of 3", "partitions: 1 of 3", "files: 1 of 1", "splits: 1 in 1 thread",
            "filter pushed: id > 4000 AND p = 1", "reader: Lakeport, as Arrow", "Metastore calls", "Plan"} <= {
        line.replace("p = 1 AND id > 4000", "id > 4000 AND p = 1") for line in lines
    }  # fmt: skip
    assert not [line for line in lines if line.startswith(("counted", "rows given", "filter left"))]


def test_a_list_is_pushed(session: LocalSession) -> None:
    lines = _lines(session, "EXPLAIN SELECT id FROM hive.s.orc WHERE name IN ('n10', 'n4000')")
    assert "filter pushed: name IN ('n10', 'n4000')" in lines
    assert session.sql("SELECT id FROM hive.s.orc WHERE name IN ('n10', 'n4000') ORDER BY id").fetchall() == [
        (10,),
        (4000,),
    ]


def test_native_files(session: LocalSession) -> None:
    lines = _lines(session, "EXPLAIN SELECT id FROM hive.s.plain WHERE id < 10")
    assert {"reader: native (DuckDB)", "filter pushed: id < 10", "columns: 1 of 2", "splits: 3"} <= set(lines)
    [counts] = [one["counts"] for one in _scans(session, "SELECT id FROM hive.s.plain WHERE id < 10")]
    assert isinstance(counts, dict)
    assert (counts["rows given to DuckDB"], counts["row groups read"] + counts["row groups skipped"]) == (10, 9)
    assert counts["row groups read"] == 1
    assert counts["bytes read"] > 0


def test_totals_of_a_run(session: LocalSession) -> None:
    query = "SELECT count(*) AS n FROM hive.s.orc a JOIN hive.s.plain b ON a.id = b.id WHERE a.p = 2"
    lines = _lines(session, f"EXPLAIN ANALYZE {query}")
    assert lines[0].startswith("1 row in ")
    assert lines[0].endswith(" s")
    assert "counted" in lines
    assert [line for line in lines if line.startswith("HASH_JOIN") and line.endswith(f"[{_ROWS:,} rows]")]
    native, arrow = _scans(session, query)
    assert isinstance(arrow["counts"], dict)
    assert (arrow["counts"]["rows given to DuckDB"], arrow["counts"]["stripes read"]) == (_ROWS, 1)
    assert (arrow["filesKept"], native["filesKept"]) == (1, _FILES)


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        ("SELECT id, name FROM hive.s.orc LIMIT 7", 7),
        ("SELECT id + 1 AS a FROM hive.s.orc LIMIT 7", 7),
        ("SELECT count(*) AS n FROM (SELECT id FROM hive.s.orc LIMIT 7)", 7),
        ("SELECT count(*) AS n FROM hive.s.orc LIMIT 7", None),
        ("SELECT DISTINCT p FROM hive.s.orc LIMIT 7", None),
        ("SELECT id FROM hive.s.orc ORDER BY id LIMIT 7", None),
        ("SELECT id FROM hive.s.orc WHERE id > 5 LIMIT 7", None),
        ("SELECT row_number() OVER (ORDER BY id) AS r FROM hive.s.orc LIMIT 7", None),
        ("SELECT a.id FROM hive.s.orc a, hive.s.orc b LIMIT 7", None),
        ("SELECT p FROM hive.s.orc GROUP BY p LIMIT 7", None),
        ("SELECT id FROM hive.s.orc LIMIT 7 OFFSET 2", None),
    ],
)
def test_limits_that_are_pushed(session: LocalSession, query: str, limit: int | None) -> None:
    [*scans] = _scans(session, query)
    assert {one["limitPushed"] for one in scans} == {limit}
    if limit is not None:
        [scan] = scans
        assert isinstance(scan["counts"], dict)
        assert scan["counts"]["rows given to DuckDB"] == limit


def test_rows_below_a_limit(session: LocalSession) -> None:
    assert session.sql("SELECT id FROM hive.s.orc LIMIT 7").arrow().num_rows == 7
    assert session.sql("SELECT count(*) AS n FROM (SELECT id FROM hive.s.orc LIMIT 7) WHERE id >= 0").fetchall() == [
        (7,)
    ]
    # The limit counts before the condition around it.
    found = session.sql("SELECT id FROM (SELECT id, p FROM hive.s.orc LIMIT 3000) WHERE p = 1").arrow().num_rows
    assert found in range(_ROWS + 1)


def test_other_forms(session: LocalSession) -> None:
    scans = _lines(session, "EXPLAIN (TYPE IO) SELECT id FROM hive.s.orc")
    assert (scans[0], "Plan" in scans) == ("Scan hive.s.orc", False)
    assert session.sql("EXPLAIN (TYPE VALIDATE) SELECT id FROM hive.s.orc").fetchall() == [(True,)]
    assert "Aggregate" in "".join(_lines(session, "EXPLAIN (TYPE LOGICAL) SELECT count(*) FROM hive.s.orc"))
    with pytest.raises(InvalidArgumentError, match="EXPLAIN"):
        session.sql("EXPLAIN (TYPE NOPE) SELECT 1")
    with pytest.raises(TableNotFoundError):
        session.sql("EXPLAIN ANALYZE SELECT id FROM hive.s.nope")


def test_in_a_block(session: LocalSession) -> None:
    with session.transaction():
        session.sql("EXPLAIN ANALYZE SELECT id FROM hive.s.orc")
        assert session.sql("SELECT count(*) AS n FROM hive.s.orc").fetchall() == [(_FILES * _ROWS,)]
