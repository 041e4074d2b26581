"""Plain Parquet files, which DuckDB reads itself where that gives the table's rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakeport
from connector_spi.errors import CorruptFileError
from lakeport.duckdb.session import LocalSession

_ROWS = pa.table(
    {
        "id": pa.array([1, 2, None], pa.int64()),
        "Name": ["a", None, "c"],
        "amount": pa.array([Decimal("1.50"), None, Decimal("-2.25")], pa.decimal128(10, 2)),
        "day": pa.array([date(2024, 2, 29), None, date(1969, 12, 31)]),
        "f": pa.array([math.nan, 1.5, None]),
        "ok": [True, None, False],
    }
)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalSession]:
    monkeypatch.chdir(tmp_path)
    with lakeport.connect(engine="duckdb") as made:
        yield made


def _register(session: LocalSession, folder: Path) -> None:
    session.sql(f"CALL hive.system.register_table('s', 't', '{folder}')")


def _write(folder: Path, table: pa.Table, name: str = "part-0.parquet") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / name)


def _is_native(session: LocalSession, query: str) -> bool:
    [(plan,)] = session.sql(f"EXPLAIN {query}").fetchall()
    return "READ_PARQUET" in str(plan)


def _agrees(session: LocalSession, columns: str = "*") -> None:
    """The rows are those that are read without DuckDB."""
    found = session.sql(f"SELECT {columns} FROM hive.s.t").arrow()
    scan = session.scan("hive.s.t")
    expected = (scan if columns == "*" else scan.select(*columns.replace("`", "").split(", "))).to_arrow()
    assert found.schema.names == expected.schema.names
    assert sorted(map(str, found.to_pylist())) == sorted(map(str, expected.to_pylist()))


def test_plain_files(session: LocalSession, tmp_path: Path) -> None:
    _write(tmp_path / "t", _ROWS)
    _write(tmp_path / "t", _ROWS, "part-1.parquet")
    _register(session, tmp_path / "t")
    assert _is_native(session, "SELECT * FROM hive.s.t")
    _agrees(session)
    _agrees(session, "NAME, `$path`, id")
    assert session.sql("SELECT count(*) FROM hive.s.t").fetchall() == [(6,)]
    # NaN is larger than all other numbers, and no statistics of the file count it.
    assert session.sql("SELECT count(*) FROM hive.s.t WHERE f > 5").fetchall() == [(2,)]


def test_files_of_another_time(session: LocalSession, tmp_path: Path) -> None:
    """Columns come in another order, in other letters, or not at all."""
    _write(tmp_path / "t", _ROWS, "part-1.parquet")
    _register(session, tmp_path / "t")
    _write(tmp_path / "t", pa.table({"name": ["z"], "ID": [7]}), "part-0.parquet")
    assert _is_native(session, "SELECT id, name, amount FROM hive.s.t")
    _agrees(session)
    assert session.sql("SELECT name, amount FROM hive.s.t WHERE id = 7").fetchall() == [("z", None)]


def test_partitions(session: LocalSession, tmp_path: Path) -> None:
    for number in range(3):
        _write(tmp_path / "t" / f"p={number}", _ROWS)
    _write(tmp_path / "t" / "p=__HIVE_DEFAULT_PARTITION__", _ROWS)
    _register(session, tmp_path / "t")
    assert _is_native(session, "SELECT * FROM hive.s.t")
    _agrees(session)
    [(plan,)] = session.sql("EXPLAIN SELECT id FROM hive.s.t WHERE p = 1").fetchall()
    assert str(plan).count("READ_PARQUET") == 1
    assert session.sql("SELECT count(*), max(p) FROM hive.s.t WHERE p >= 1").fetchall() == [(6, 2)]
    assert session.sql("SELECT count(*) FROM hive.s.t WHERE p IS NULL").fetchall() == [(3,)]
    # The rows that the filter wants of one side are not those that the other one has to keep.
    joined = "SELECT count(*) FROM hive.s.t a LEFT JOIN hive.s.t b ON a.id = b.id AND b.p = 1 WHERE b.p IS NULL"
    assert session.sql(joined).fetchall() == [(4,)]


def test_partitions_by_an_or_over_two_keys(session: LocalSession, tmp_path: Path) -> None:
    for first in range(2):
        for second in range(2):
            _write(tmp_path / "t" / f"p={first}" / f"q={second}", _ROWS)
    _register(session, tmp_path / "t")
    query = "SELECT count(*) FROM hive.s.t WHERE (p = 0 AND q = 1) OR (p = 1 AND q = 0)"
    [(plan,)] = session.sql(f"EXPLAIN {query}").fetchall()
    assert str(plan).count("READ_PARQUET") == 2
    assert session.sql(query).fetchall() == [(6,)]
    assert session.sql("SELECT count(*) FROM hive.s.t WHERE p = 0 OR id = 2").fetchall() == [(3 + 3 + 1 + 1,)]


def test_more_files_than_the_most_come_as_arrow(
    session: LocalSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only files that the filters want count; 20,000 of them would take a test too long."""
    monkeypatch.setattr("lakeport.duckdb.tables.native_query._MOST_FILES", 2)
    for part in range(3):
        _write(tmp_path / "t" / f"p={part}", _ROWS)
    _register(session, tmp_path / "t")
    assert _is_native(session, "SELECT * FROM hive.s.t WHERE p < 2")
    assert not _is_native(session, "SELECT * FROM hive.s.t")
    assert session.sql("SELECT count(*) FROM hive.s.t WHERE p < 2").fetchall() == [(6,)]
    assert session.sql("SELECT count(*), max(p) FROM hive.s.t").fetchall() == [(9, 2)]
    _agrees(session)


def test_duckdb_knows_how_many_rows_files_have(session: LocalSession, tmp_path: Path) -> None:
    """Its joins begin with the smaller table."""
    for number in range(3):
        _write(tmp_path / "t", _ROWS, f"part-{number}.parquet")
    _register(session, tmp_path / "t")
    [(plan,)] = session.sql("EXPLAIN SELECT name FROM hive.s.t").fetchall()
    assert "~9 rows" in str(plan)


def test_names_that_duckdb_gives_to_other_columns(session: LocalSession, tmp_path: Path) -> None:
    """Of ``x`` and ``X`` it calls the second one ``X_1``."""
    _write(tmp_path / "t", pa.table([[1], [2], [3]], names=["id", "name", "id_1"]))
    _register(session, tmp_path / "t")
    _write(tmp_path / "t", pa.table([[1], [2], [3], [4]], names=["id", "ID", "name", "id_1"]))
    assert session.sql("SELECT id_1, name FROM hive.s.t").fetchall() == [(4, 3)]


def test_many_partitions_of_columns_in_another_order(session: LocalSession, tmp_path: Path) -> None:
    columns = ["id", "Name", "amount"]
    for number in range(4):
        _write(tmp_path / "t" / f"p={number}", _ROWS.select(columns[number % 3 :] + columns[: number % 3]))
    _register(session, tmp_path / "t")
    assert _is_native(session, "SELECT * FROM hive.s.t")
    _agrees(session)
    _agrees(session, "amount, p, id")


@pytest.mark.parametrize(
    "rows",
    [
        pa.table({"at": pa.array([0], pa.timestamp("us"))}),
        pa.table({"at": pa.array([[1, 2]])}),
        pa.table({"at": pa.array([b"a"])}),
        _ROWS.select(["day"]).replace_schema_metadata({"org.apache.spark.legacyDateTime": ""}),
        _ROWS.select(["day"]).replace_schema_metadata({"org.apache.spark.version": "2.4.8"}),
    ],
)
def test_what_duckdb_would_read_apart(session: LocalSession, tmp_path: Path, rows: pa.Table) -> None:
    _write(tmp_path / "t", rows)
    _register(session, tmp_path / "t")
    assert not _is_native(session, "SELECT * FROM hive.s.t")
    _agrees(session)


def test_names_of_files_that_are_patterns(session: LocalSession, tmp_path: Path) -> None:
    _write(tmp_path / "t", _ROWS, "part-[0].parquet")
    _write(tmp_path / "t", _ROWS, "part-0.parquet")
    _register(session, tmp_path / "t")
    assert not _is_native(session, "SELECT * FROM hive.s.t")
    _agrees(session)


def test_a_file_of_another_type_is_not_read_as_if_it_fit(session: LocalSession, tmp_path: Path) -> None:
    _write(tmp_path / "t", _ROWS, "part-1.parquet")
    _register(session, tmp_path / "t")
    _write(tmp_path / "t", pa.table({"id": ["12"]}), "part-0.parquet")
    assert not _is_native(session, "SELECT id FROM hive.s.t")


def test_a_damaged_file_is_named(session: LocalSession, tmp_path: Path) -> None:
    _write(tmp_path / "t", _ROWS)
    _register(session, tmp_path / "t")
    (tmp_path / "t" / "part-0.parquet").write_bytes(b"PAR1 and no more PAR1")
    with pytest.raises(CorruptFileError, match=r"part-0\.parquet"):
        session.sql("SELECT id FROM hive.s.t").fetchall()
