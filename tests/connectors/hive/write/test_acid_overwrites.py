"""Rows that are replaced in transactional tables: bases as Hive makes them, and whom they may hide."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from catalog.metastore.transactions import LockComponent, LockType
from connector_spi.errors import MetastoreError, NotSupportedError, StorageError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import Overwrite
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows, overwrite_rows
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from connectors.hive.handles import HiveTableHandle
from connectors.hive.write.handles import AcidWrite
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import make_connector, read_table
from tests.connectors.hive.table_writer import create_table

NAME = SchemaTableName("s", "t")
_ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "ds": ["a", "b"]})
_NEW = pa.table({"id": pa.array([8, 9], pa.int64()), "ds": ["a", "c"]})
_A = Overwrite(TupleDomain.with_column_domains({"ds": Domain.single_value(pa.string(), "a")}))
_FULL = {"transactional": "true"}
_INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}
_KINDS = [(_FULL, "orc"), (_INSERT_ONLY, "orc"), (_INSERT_ONLY, "parquet")]


def new_table(
    hive: HiveConnector, folder: Path, parameters: dict[str, str] = _FULL, keys: tuple[str, ...] = (), kind: str = "orc"
) -> Path:
    """A table of two rows; its directory."""
    create_table(hive.metastore, folder, "s", "t", _ROWS[:0], list(keys), file_format=kind, parameters=parameters)
    directory = folder / "s" / "t"
    for path in directory.rglob("*"):
        if path.is_file():
            path.unlink()
    insert_rows(hive, NAME, [_ROWS])
    return directory


def files(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def rows(hive: HiveConnector) -> list[tuple[object, object]]:
    found = read_table(hive, "s", "t").select(["id", "ds"]).to_pylist()
    return sorted((row["id"], row["ds"]) for row in found)


def test_files_are_those_of_hives_base(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path)
    overwrite_rows(hive, NAME, [_NEW, _NEW])
    base = directory / "base_0000002"
    assert sorted(path.name for path in base.iterdir()) == ["_orc_acid_version", "bucket_00000", "bucket_00001"]
    assert (base / "_orc_acid_version").read_bytes() == b"2"
    found = orc.ORCFile(str(base / "bucket_00001")).read().to_pydict()
    keys = [found[name] for name in ("operation", "originalTransaction", "bucket", "rowId", "currentTransaction")]
    assert [list(one) for one in zip(*keys, strict=True)] == [[0, 2, 536936448, 0, 2], [0, 2, 536936448, 1, 2]]
    assert rows(hive) == [(8, "a"), (8, "a"), (9, "c"), (9, "c")]


@pytest.mark.parametrize(("parameters", "kind"), _KINDS)
def test_all_rows(hive: HiveConnector, tmp_path: Path, parameters: dict[str, str], kind: str) -> None:
    new_table(hive, tmp_path, parameters, kind=kind)
    overwrite_rows(hive, NAME, [_NEW])
    assert rows(hive) == [(8, "a"), (9, "c")]
    insert_rows(hive, NAME, [_ROWS])
    assert rows(hive) == [(1, "a"), (2, "b"), (8, "a"), (9, "c")]
    overwrite_rows(hive, NAME, [])
    assert rows(hive) == []
    insert_rows(hive, NAME, [_ROWS])
    assert rows(hive) == [(1, "a"), (2, "b")]


@pytest.mark.parametrize(("parameters", "kind"), _KINDS)
@pytest.mark.parametrize(
    ("overwrite", "left"),
    [
        (Overwrite(), [(8, "a"), (9, "c")]),
        (_A, [(2, "b"), (8, "a"), (9, "c")]),
        (Overwrite(dynamic=True), [(2, "b"), (8, "a"), (9, "c")]),
        (
            Overwrite(TupleDomain.with_column_domains({"ds": Domain.single_value(pa.string(), "b")})),
            [(1, "a"), (8, "a"), (9, "c")],
        ),
    ],
    ids=["all", "one", "dynamic", "another"],
)
def test_partitions(
    hive: HiveConnector,
    tmp_path: Path,
    parameters: dict[str, str],
    kind: str,
    overwrite: Overwrite,
    left: list[tuple[object, object]],
) -> None:
    new_table(hive, tmp_path, parameters, ("ds",), kind)
    overwrite_rows(hive, NAME, [_NEW], overwrite)
    assert rows(hive) == left
    overwrite_rows(hive, NAME, [], Overwrite(dynamic=True))
    assert rows(hive) == left


def test_rows_of_before_the_table_was_transactional_go(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, file_format="orc")
    entry = hive.metastore.reads.get_table("s", "t")
    assert entry is not None
    parameters = type(entry.parameters).of({**entry.parameters, **_FULL})
    hive.metastore.writes.alter_table("s", "t", replace(entry, parameters=parameters))
    # Else the metastore knows no write ids, and takes the files for those of another.
    transaction = hive.metastore.transactions.open_transaction("u", "converted")
    hive.metastore.transactions.allocate_write_ids([transaction], "s", "t")
    hive.metastore.transactions.commit(transaction)
    directory = tmp_path / "s" / "t"
    [original] = files(directory)
    (directory / original).rename(directory / "000000_0")
    assert rows(hive) == [(1, "a"), (2, "b")]
    overwrite_rows(hive, NAME, [_NEW])
    assert rows(hive) == [(8, "a"), (9, "c")]


def test_a_reader_that_came_before_still_sees_the_old_rows(hive: HiveConnector, tmp_path: Path) -> None:
    new_table(hive, tmp_path)
    with ReferenceQuery(hive) as query:
        table = query.table(NAME)
        overwrite_rows(hive, NAME, [_NEW])
        assert sorted(table.read().column("id").to_pylist()) == [1, 2]
    assert rows(hive) == [(8, "a"), (9, "c")]


@pytest.mark.parametrize("finished", [False, True], ids=["aborted", "finished"])
def test_a_rollback_leaves_the_old_rows(hive: HiveConnector, tmp_path: Path, finished: bool) -> None:
    directory = new_table(hive, tmp_path)
    before = files(directory)
    query = ReferenceQuery(hive)
    insert = ReferenceInsert(query, NAME, Overwrite())
    fragments = [insert.write(_NEW)]
    insert.finish(fragments) if finished else insert.abort()
    query.transaction.rollback()
    assert files(directory) == before
    assert rows(hive) == [(1, "a"), (2, "b")]
    overwrite_rows(hive, NAME, [_NEW])
    assert rows(hive) == [(8, "a"), (9, "c")]


def test_a_failure_of_storage_leaves_the_old_rows(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = new_table(hive, tmp_path, keys=("ds",))
    before, move, moves = files(directory), FileSystem.move, []

    def fail(self: FileSystem, uri: str, target: str) -> None:
        moves.append(uri)
        if len(moves) == 2:
            raise StorageError("the disk is full")
        move(self, uri, target)

    monkeypatch.setattr(FileSystem, "move", fail)
    with pytest.raises(StorageError, match="is full"):
        overwrite_rows(hive, NAME, [_NEW])
    assert files(directory) == before
    assert rows(hive) == [(1, "a"), (2, "b")]


def test_a_writer_that_is_not_done_refuses_the_overwrite(hive: HiveConnector, tmp_path: Path) -> None:
    """Its rows have a lower write id: they would be lost."""
    new_table(hive, tmp_path)
    with ReferenceQuery(hive) as other:
        insert = ReferenceInsert(other, NAME)
        with pytest.raises(MetastoreError, match="another writer is at it, with write id 2") as caught:
            overwrite_rows(hive, NAME, [_NEW])
        insert.finish([insert.write(_NEW)])
    assert caught.value.code == error_codes.HIVE_WRITE_CONFLICT
    assert rows(hive) == [(1, "a"), (2, "b"), (8, "a"), (9, "c")]


def test_a_writer_that_begins_later_adds_its_rows(hive: HiveConnector, tmp_path: Path) -> None:
    new_table(hive, tmp_path)
    with ReferenceQuery(hive) as query:
        overwrite = ReferenceInsert(query, NAME, Overwrite())
        insert_rows(hive, NAME, [_NEW.slice(1)])
        overwrite.finish([overwrite.write(_NEW.slice(0, 1))])
    assert rows(hive) == [(8, "a"), (9, "c")]


def test_rows_that_came_since_the_table_was_read_refuse_the_overwrite(hive: HiveConnector, tmp_path: Path) -> None:
    """What the statement writes may be what it has read, without them."""
    new_table(hive, tmp_path)
    with ReferenceQuery(hive) as reader:
        seen = reader.table(NAME).table
        assert isinstance(seen, HiveTableHandle)
        insert_rows(hive, NAME, [_NEW])
        with pytest.raises(MetastoreError, match="has written to it meanwhile, with write id 2") as caught:
            overwrite_rows(hive, NAME, [_ROWS], Overwrite(seen=seen))
    assert caught.value.code == error_codes.HIVE_WRITE_CONFLICT
    assert len(rows(hive)) == 4
    with ReferenceQuery(hive) as reader:
        overwrite_rows(hive, NAME, [_ROWS], Overwrite(seen=reader.table(NAME).table))
    assert rows(hive) == [(1, "a"), (2, "b")]


@pytest.mark.slow
def test_of_two_overwrites_the_second_waits_and_is_refused(tmp_path: Path) -> None:
    hive = make_connector(tmp_path, **{"hive.metastore_thrift_txn__lock__max__wait": "1s"})
    try:
        new_table(hive, tmp_path)
        with ReferenceQuery(hive) as query:
            first = ReferenceInsert(query, NAME, Overwrite())
            with pytest.raises(MetastoreError, match=r"SHARED_WRITE lock .* not free") as caught:
                overwrite_rows(hive, NAME, [_ROWS])
            first.finish([first.write(_NEW)])
        assert caught.value.code == error_codes.HIVE_LOCK_NOT_ACQUIRED
        assert rows(hive) == [(8, "a"), (9, "c")]
    finally:
        hive.shutdown()


def test_rows_under_a_later_base_are_refused(hive: HiveConnector, tmp_path: Path) -> None:
    """Hive's INSERT OVERWRITE may have a later write id, and be done before: it would hide the rows."""
    directory = new_table(hive, tmp_path)
    with ReferenceQuery(hive) as query:
        insert = ReferenceInsert(query, NAME)
        (directory / "base_0000009").mkdir()
        insert.finish([insert.write(_NEW)])
        with pytest.raises(MetastoreError, match=r"has replaced the rows of .* by base_0000009") as caught:
            query.transaction.commit()
    assert caught.value.code == error_codes.HIVE_WRITE_CONFLICT


def test_the_lock_lets_readers_in_and_no_other_change(hive: HiveConnector, tmp_path: Path) -> None:
    new_table(hive, tmp_path)
    transactions = hive.metastore.transactions
    with ReferenceQuery(hive) as query:
        insert = ReferenceInsert(query, NAME, Overwrite())
        found = {lock.type for lock in transactions.show_locks("s", "t")}
        assert found == {LockType.SHARED_READ, LockType.SHARED_WRITE}
        other = transactions.open_transaction("u", "other")
        asked = transactions.lock(other, [LockComponent("s", "t", type=LockType.SHARED_READ)], "u", "other")
        assert asked.state.name == "ACQUIRED"
        transactions.abort(other)
        insert.finish([])
    assert rows(hive) == []
    assert transactions.show_locks("s", "t") == []


def test_a_transaction_that_writes_twice_is_refused(hive: HiveConnector, tmp_path: Path) -> None:
    new_table(hive, tmp_path)
    for first, second in ((None, Overwrite()), (Overwrite(), None), (Overwrite(), Overwrite())):
        query = ReferenceQuery(hive)
        ReferenceInsert(query, NAME, first)
        with pytest.raises(NotSupportedError, match="writes to it twice"):
            ReferenceInsert(query, NAME, second)
        query.transaction.rollback()
    assert rows(hive) == [(1, "a"), (2, "b")]


def test_more_tasks_than_buckets_are_refused(hive: HiveConnector, tmp_path: Path) -> None:
    write = AcidWrite(1, 0, row_ids=True, base=True)
    assert write.of_task(4095)[1] == 4095
    with pytest.raises(NotSupportedError, match="more than 4096 tasks"):
        write.of_task(4096)
