"""What only the embedded metastore has to stand: several processes, and files that are not its own."""

from __future__ import annotations

import multiprocessing
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from catalog.metastore.embedded.factory import open_embedded
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Database, FieldSchema, Partition, Table
from catalog.metastore.testing.objects import STORAGE, add_partitions, new_table
from connector_spi.errors import MetastoreError


def _metastore(path: Path) -> Metastore:
    return open_embedded(path)


def _write(path: Path, worker: int) -> list[int]:
    """Runs in a process of its own, beside others that begin with the same absent file."""
    with closing(_metastore(path)) as metastore:
        for number in range(6):
            database = f"w{worker}_{number}"
            metastore.writes.create_database(Database(database))
            metastore.writes.create_table(Table(database, "t", STORAGE, (FieldSchema("p", "int"),)))
            partitions = [Partition(database, "t", (str(p),), STORAGE) for p in range(20)]
            metastore.writes.add_partitions(database, "t", partitions)
        given: list[int] = []
        for _ in range(6):
            transaction = metastore.transactions.open_transaction("ann", "q")
            given.extend(metastore.transactions.allocate_write_ids([transaction], "d", "shared").values())
            metastore.transactions.commit(transaction)
        return given


@pytest.mark.slow
def test_several_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "metastore.db"
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(4, context) as pool:
        given = [one for ids in pool.map(_write, [path] * 4, range(4)) for one in ids]
    assert sorted(given) == list(range(1, 25))
    with closing(_metastore(path)) as metastore:
        databases = [f"w{worker}_{number}" for worker in range(4) for number in range(6)]
        assert metastore.reads.get_databases() == ["default", *databases]
        for database in databases:
            assert len(metastore.reads.get_partition_names(database, "t")) == 20


def test_a_partition_that_is_there_already_is_named(embedded_metastore: Metastore) -> None:
    table = new_table(embedded_metastore, ("p", "string"))
    add_partitions(embedded_metastore, table, ("a/b",))
    with pytest.raises(MetastoreError, match=rf"the partition p=a%2Fb of {table.database}\.t exists already"):
        add_partitions(embedded_metastore, table, ("c",), ("a/b",))
    assert embedded_metastore.reads.get_partition_names(table.database, "t") == ["p=a%2Fb"]


@pytest.mark.parametrize("empty", [False, True])
def test_reads_make_no_file(tmp_path: Path, empty: bool) -> None:
    path = tmp_path / "new" / "metastore.db"
    if empty:
        path.parent.mkdir()
        path.touch()
    before = [(one, one.stat().st_mtime_ns) for one in tmp_path.rglob("*")]
    with closing(_metastore(path)) as metastore:
        assert metastore.reads.get_databases() == ["default"]
        assert metastore.reads.get_database("default") is not None
        assert metastore.reads.get_table_names("default") == []
        assert metastore.check is not None
        with pytest.raises(MetastoreError, match=r"check hive\.metastore\.embedded\.path"):
            metastore.check()
        assert [(one, one.stat().st_mtime_ns) for one in tmp_path.rglob("*")] == before
        metastore.writes.create_database(Database("d"))
        assert metastore.reads.get_databases() == ["d", "default"]
        metastore.check()


def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "metastore.db"
    with closing(_metastore(path)) as metastore:
        table = new_table(metastore, ("p", "int"))
        add_partitions(metastore, table, ("1",))
        partitions = metastore.reads.get_partitions_by_names(table.database, "t", ["p=1"])
    with closing(_metastore(path)) as metastore:
        assert metastore.reads.get_table(table.database, "t") == table
        assert metastore.reads.get_partitions_by_names(table.database, "t", ["p=1"]) == partitions


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    with closing(_metastore(tmp_path / "metastore.db")) as metastore:
        table = new_table(metastore, ("p", "int"))
        broken = [Partition(table.database, "t", ("1",), STORAGE), Partition(table.database, "t", ("1", "2"), STORAGE)]
        with pytest.raises(MetastoreError, match="2 values"):
            metastore.writes.add_partitions(table.database, "t", broken)
        assert metastore.reads.get_partition_names(table.database, "t") == []


def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "metastore.db"
    with closing(_metastore(path)) as metastore:
        metastore.writes.create_database(Database("d"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with closing(_metastore(path)) as metastore, pytest.raises(MetastoreError, match="version 99"):
        metastore.reads.get_databases()


def test_another_sqlite_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE mine (a)")
    before = path.read_bytes()
    with closing(_metastore(path)) as metastore, pytest.raises(MetastoreError, match="no metastore"):
        metastore.reads.get_databases()
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database at all, but text of some length" * 30, None])
def test_what_is_no_sqlite_file_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "file.db"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with closing(_metastore(path)) as metastore, pytest.raises(MetastoreError, match=r"file\.db"):
        metastore.reads.get_databases()


def test_no_files_are_deleted(tmp_path: Path) -> None:
    with closing(_metastore(tmp_path / "metastore.db")) as metastore:
        table = new_table(metastore)
        with pytest.raises(MetastoreError, match="deletes no files"):
            metastore.writes.drop_table(table.database, "t", delete_data=True)
        assert metastore.reads.get_table(table.database, "t") == table
