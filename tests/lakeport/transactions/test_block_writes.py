"""Rows that are written in ``session.transaction()``: all of them are visible at its end, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import lakeport
from catalog.metastore.model import Database
from catalog.metastore.transactions import LockComponent, LockOperation, LockType
from connector_spi.errors import ConnectorError, InvalidArgumentError, MetastoreError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.layout import parse_directory
from connectors.hive.connector import HiveConnector
from lakeport.duckdb.session import LocalSession

_ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "v": ["a", "b"]})
_MORE = pa.table({"id": pa.array([3], pa.int64()), "v": ["c"]})
_FULL = {"transactional": "true"}


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LocalSession]:
    (tmp_path / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={tmp_path / 'm.db'}\n"
    )
    (tmp_path / "mem.properties").write_text("connector.name=memory\n")
    with lakeport.connect(catalogs=tmp_path, engine="duckdb") as opened:
        writes = hive(opened).metastore.writes
        writes.create_database(Database("s", location=(tmp_path / "s").as_uri()))
        for name in ("a", "b"):
            opened.create_table_as(f"hive.s.{name}", _ROWS.slice(0, 0), properties=_FULL)
        yield opened


def hive(session: LocalSession) -> HiveConnector:
    found = session.catalogs.get("hive")
    assert isinstance(found, HiveConnector)
    return found


def ids(session: LocalSession, table: str) -> list[int]:
    return sorted(session.arrow(table).read_all().column("id").to_pylist())


def plain_files(folder: Path) -> list[Path]:
    """All files of the tables ``plain`` and ``other``, hidden ones, too."""
    return sorted(path for name in ("plain", "other") for path in (folder / "s" / name).rglob("*") if path.is_file())


def run(session: LocalSession, writes: dict[str, pa.Table], then: Callable[[], None]) -> None:
    """A block that writes, and does something else at its end."""
    with session.transaction():
        for table, rows in writes.items():
            session.insert(table, rows)
        then()


def fails(session: LocalSession, writes: dict[str, pa.Table]) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(session, writes, fail)


def test_several_statements_are_one_transaction(session: LocalSession, tmp_path: Path) -> None:
    transactions = hive(session).metastore.transactions
    before = transactions.get_valid_transactions().high_watermark
    with session.transaction():
        session.insert("hive.s.a", _ROWS)
        session.sql("INSERT INTO hive.s.b VALUES (11, 'x')")
        session.insert("hive.s.a", _MORE)
        assert len(transactions.get_valid_transactions().open) == 2, "one to write in, and one to read"
        with lakeport.connect(catalogs=tmp_path, engine="duckdb") as other:
            assert (ids(other, "hive.s.a"), ids(other, "hive.s.b")) == ([], [])
    assert (ids(session, "hive.s.a"), ids(session, "hive.s.b")) == ([1, 2, 3], [11])
    assert transactions.get_valid_transactions().open == ()
    assert transactions.get_valid_transactions().high_watermark > before
    deltas = {path.parent.name for path in tmp_path.rglob("bucket_*")}
    # Of one write id; each statement has a number of its own (AcidUtils.deltaSubdir).
    numbers = [parse_directory(name) for name in deltas]
    assert {(one.first, one.last) for one in numbers if one is not None} == {(2, 2)}
    assert len({one.statement for one in numbers if one is not None}) == 2


def test_an_error_takes_all_back(session: LocalSession) -> None:
    fails(session, {"hive.s.a": _ROWS, "hive.s.b": _ROWS})
    assert (ids(session, "hive.s.a"), ids(session, "hive.s.b")) == ([], [])
    assert hive(session).metastore.transactions.get_valid_transactions().open == ()
    session.insert("hive.s.a", _MORE)
    assert ids(session, "hive.s.a") == [3]


def test_a_statement_that_failed_leaves_the_others(session: LocalSession) -> None:
    with session.transaction():
        session.insert("hive.s.a", _ROWS)
        with pytest.raises(InvalidArgumentError):
            session.insert("hive.s.a", pa.table({"id": ["x"]}))
        session.insert("hive.s.b", _MORE)
    assert (ids(session, "hive.s.a"), ids(session, "hive.s.b")) == ([1, 2], [3])


def test_what_was_written_cannot_be_read_before_the_end(session: LocalSession) -> None:
    session.insert("hive.s.a", _ROWS)
    with session.transaction():
        assert ids(session, "hive.s.a") == [1, 2]
        session.insert("hive.s.b", session.arrow("hive.s.a"))
        session.insert("hive.s.a", _MORE)
        for read in (lambda: ids(session, "hive.s.a"), lambda: session.sql("SELECT count(*) FROM hive.s.a").fetchall()):
            with pytest.raises(NotSupportedError, match=r"hive\.s\.a cannot be read in a session.transaction\(\)"):
                read()
        with pytest.raises(NotSupportedError, match=r"hive\.s\.b cannot be read"):
            session.sql("INSERT INTO hive.s.a SELECT * FROM hive.s.b")
    assert (ids(session, "hive.s.a"), ids(session, "hive.s.b")) == ([1, 2, 3], [1, 2])


def test_plain_tables_are_written_with_others(session: LocalSession) -> None:
    """Also one table twice, and by replacing rows: as the statements say, one after another."""
    for name in ("plain", "other"):
        session.create_table_as(f"hive.s.{name}", _ROWS)
    run(session, {"hive.s.plain": _MORE, "hive.s.a": _ROWS, "hive.s.other": _MORE}, lambda: None)
    assert (ids(session, "hive.s.plain"), ids(session, "hive.s.a")) == ([1, 2, 3], [1, 2])
    assert ids(session, "hive.s.other") == [1, 2, 3]
    fails(session, {"hive.s.plain": _MORE, "hive.s.a": _MORE})
    assert (ids(session, "hive.s.plain"), ids(session, "hive.s.a")) == ([1, 2, 3], [1, 2])
    with session.transaction():
        session.insert("hive.s.plain", _ROWS)
        session.overwrite("hive.s.plain", _MORE)
        session.insert("hive.s.plain", _ROWS)
    assert ids(session, "hive.s.plain") == [1, 2, 3]


@pytest.mark.parametrize("change", ["insert", "overwrite"])
def test_plain_tables_are_as_before_where_a_commit_fails(session: LocalSession, tmp_path: Path, change: str) -> None:
    """Of the metastore, after their files were moved."""
    for name in ("plain", "other"):
        session.create_table_as(f"hive.s.{name}", _ROWS)
    before = plain_files(tmp_path)
    transactions = hive(session).metastore.transactions

    def write() -> None:
        with session.transaction():
            getattr(session, change)("hive.s.plain", _MORE)
            session.insert("hive.s.a", _ROWS)
            getattr(session, change)("hive.s.other", _MORE)
            getattr(session, change)("hive.s.other", _ROWS)
            transactions.abort(max(transactions.get_valid_transactions().open))

    with pytest.raises(MetastoreError):
        write()
    assert [ids(session, f"hive.s.{name}") for name in ("plain", "other", "a")] == [[1, 2], [1, 2], []]
    assert plain_files(tmp_path) == before


def test_a_lost_transaction_fails_the_block(session: LocalSession) -> None:
    transactions = hive(session).metastore.transactions

    def lose() -> None:
        # The last one: another was opened before, to read the tables' definitions in.
        transactions.abort(max(transactions.get_valid_transactions().open))

    with pytest.raises(MetastoreError) as raised:
        run(session, {"hive.s.a": _ROWS, "hive.s.b": _ROWS}, lose)
    assert raised.value.code == error_codes.HIVE_TRANSACTION_LOST
    assert (ids(session, "hive.s.a"), ids(session, "hive.s.b")) == ([], [])


def test_rows_are_replaced_under_the_blocks_lock(session: LocalSession) -> None:
    session.insert("hive.s.a", _ROWS)
    transactions = hive(session).metastore.transactions
    with session.transaction():
        session.overwrite("hive.s.a", _MORE)
        session.insert("hive.s.b", _ROWS)
        with pytest.raises(NotSupportedError, match="use a transaction for each"):
            session.insert("hive.s.a", _ROWS)
        other = transactions.open_transaction("bob", "by hand")
        component = LockComponent("s", "a", type=LockType.EXCL_WRITE, operation=LockOperation.UPDATE)
        assert transactions.lock(other, [component], "bob", "by hand").state.name == "WAITING"
        transactions.abort(other)
    assert (ids(session, "hive.s.a"), ids(session, "hive.s.b")) == ([3], [1, 2])


def test_tables_of_rows_are_made_outside(session: LocalSession) -> None:
    with session.transaction(), pytest.raises(NotSupportedError, match="make it before"):
        session.create_table_as("hive.s.new", _ROWS)
    with pytest.raises(ConnectorError):
        session.arrow("hive.s.new")
