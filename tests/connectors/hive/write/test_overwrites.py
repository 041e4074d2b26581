"""Rows that are replaced in plain tables: the files, the metastore's entries, and what another writer may do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.model import Parameters, Partition
from connector_spi.errors import MetastoreError, NotSupportedError, StorageError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import Overwrite
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows, overwrite_rows
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import read_table
from tests.connectors.hive.table_writer import create_table, storage

NAME = SchemaTableName("s", "t")
_ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "ds": ["a", "b"]})
_NEW = pa.table({"id": pa.array([8, 9], pa.int64()), "ds": ["a", "c"]})
_A = Overwrite(TupleDomain.with_column_domains({"ds": Domain.single_value(pa.string(), "a")}))


def rows(hive: HiveConnector) -> list[tuple[object, object]]:
    found = read_table(hive, "s", "t").select(["id", "ds"]).to_pylist()
    return sorted((row["id"], row["ds"]) for row in found)


def files(folder: Path) -> list[str]:
    """All files, hidden ones, too."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_counts_are_those_of_the_new_rows(hive: HiveConnector, tmp_path: Path) -> None:
    said = {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}', "numRows": "2", "numFiles": "1", "totalSize": "7"}
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, parameters={**said, "rawDataSize": "7", "k": "v"})
    overwrite_rows(hive, NAME, [_NEW.slice(0, 1), _NEW.slice(1, 1)])
    entry = hive.metastore.reads.get_table("s", "t")
    assert entry is not None
    size = sum(path.stat().st_size for path in (tmp_path / "s" / "t").iterdir())
    wanted = {"numRows": "2", "numFiles": "2", "totalSize": str(size), "k": "v"}
    assert {key: entry.parameters.get(key) for key in (*said, *wanted, "rawDataSize")} == {
        **wanted,
        "COLUMN_STATS_ACCURATE": '{"COLUMN_STATS":{"ds":"true","id":"true"}}',
        "rawDataSize": None,
    }
    overwrite_rows(hive, NAME, [])
    entry = hive.metastore.reads.get_table("s", "t")
    assert entry is not None
    assert [entry.parameters[key] for key in ("numRows", "numFiles", "totalSize")] == ["0", "0", "0"]
    assert files(tmp_path / "s" / "t") == []


def test_counts_of_partitions(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, ["ds"])
    exact = Parameters.of({"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}', "numRows": "1"})
    hive.metastore.writes.set_partition_parameters("s", "t", {"ds=a": exact, "ds=b": exact})
    overwrite_rows(hive, NAME, [_NEW.slice(1)], _A)
    found = hive.metastore.reads.get_partitions_by_names("s", "t", ["ds=a", "ds=b", "ds=c"])
    assert [dict(found[0].parameters), found[1].parameters] == [
        {"numRows": "0", "numFiles": "0", "totalSize": "0"},
        exact,
    ]
    assert found[2].parameters["numRows"] == "1"


def test_files_below_and_hidden_ones(hive: HiveConnector, tmp_path: Path) -> None:
    """Files in folders are rows, too; what no reader looks at stays."""
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS)
    place = tmp_path / "s" / "t"
    (place / "sub").mkdir()
    for path in list(place.glob("*.parquet")) or [path for path in place.iterdir() if path.is_file()]:
        path.rename(place / "sub" / path.name)
    (place / "_SUCCESS").touch()
    assert len(rows(hive)) == 2
    overwrite_rows(hive, NAME, [_NEW])
    assert rows(hive) == [(8, "a"), (9, "c")]
    assert len(files(place)) == 2
    assert (place / "_SUCCESS").exists()


def test_a_partition_of_its_own_place_is_replaced_there(hive: HiveConnector, tmp_path: Path) -> None:
    table = create_table(hive.metastore, tmp_path, "s", "t", _ROWS.slice(1), ["ds"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    own = storage(table.storage.columns, elsewhere, "parquet")
    hive.metastore.writes.add_partitions("s", "t", [Partition("s", "t", ("a",), own)])
    insert_rows(hive, NAME, [_ROWS.slice(0, 1)])
    overwrite_rows(hive, NAME, [_NEW.slice(0, 1)], _A)
    assert len(files(elsewhere)) == 1
    assert rows(hive) == [(2, "b"), (8, "a")]


def test_a_partition_above_the_table_is_refused(hive: HiveConnector, tmp_path: Path) -> None:
    """Its folder has the files of all others."""
    table = create_table(hive.metastore, tmp_path, "s", "t", _ROWS.slice(1), ["ds"])
    own = storage(table.storage.columns, tmp_path / "s", "parquet")
    hive.metastore.writes.add_partitions("s", "t", [Partition("s", "t", ("a",), own)])
    with pytest.raises(NotSupportedError, match=r"s\.t cannot be replaced: a partition is in .*above the table's"):
        overwrite_rows(hive, NAME, [_NEW], _A)
    assert len(files(tmp_path / "s" / "t")) == 1


def test_a_condition_on_another_column_is_refused(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, ["ds"])
    by_id = Overwrite(TupleDomain.with_column_domains({"id": Domain.single_value(pa.int64(), 1)}))
    with pytest.raises(NotSupportedError, match="'id': expected whole partitions, by ds"):
        overwrite_rows(hive, NAME, [_NEW], by_id)
    assert len(rows(hive)) == 2


@pytest.mark.parametrize("keys", [[], ["ds"]], ids=["table", "partitions"])
@pytest.mark.parametrize("step", range(1, 8))
def test_a_failure_at_any_step_leaves_the_old_rows(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: list[str], step: int
) -> None:
    """Two files come and two go, at each of which storage fails once; at no moment a reader finds neither."""
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS.slice(0, 1), keys)
    insert_rows(hive, NAME, [_ROWS.slice(1)])
    before, moves, move = files(tmp_path / "s" / "t"), [], FileSystem.move

    def fail_once(self: FileSystem, uri: str, target: str) -> None:
        moves.append(uri)
        found = {identity for identity, _ in rows(hive)}
        assert found >= {1, 2} or found >= {8, 9}
        if len(moves) == step:
            raise StorageError("the disk is full")
        move(self, uri, target)

    monkeypatch.setattr(FileSystem, "move", fail_once)
    if step > 4:
        overwrite_rows(hive, NAME, [_NEW.slice(0, 1), _NEW.slice(1)])
        assert rows(hive) == [(8, "a"), (9, "c")]
        return
    with pytest.raises(StorageError, match="the disk is full"):
        overwrite_rows(hive, NAME, [_NEW.slice(0, 1), _NEW.slice(1)])
    assert rows(hive) == [(1, "a"), (2, "b")]
    assert files(tmp_path / "s" / "t") == before
    overwrite_rows(hive, NAME, [_NEW])
    assert rows(hive) == [(8, "a"), (9, "c")]


def test_files_that_cannot_be_put_back_are_kept_and_named(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS.slice(0, 1))
    insert_rows(hive, NAME, [_ROWS.slice(1)])
    moves, move = [], FileSystem.move

    def fail(self: FileSystem, uri: str, target: str) -> None:
        moves.append(uri)
        if len(moves) >= 3:
            raise StorageError("the disk is gone")
        move(self, uri, target)

    monkeypatch.setattr(FileSystem, "move", fail)
    with pytest.raises(StorageError, match=r"could not be put back .*the disk is gone.*\.lakeport_replaced_"):
        overwrite_rows(hive, NAME, [_NEW])
    monkeypatch.undo()
    [kept] = (tmp_path / "s" / "t").glob(".lakeport_replaced_*/*")
    assert kept.is_file()
    assert rows(hive)[-2:] == [(8, "a"), (9, "c")]


def test_of_two_overwrites_at_once_one_is_refused(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS)
    conflict(hive, monkeypatch, lambda: overwrite_rows(hive, NAME, [_ROWS]))
    assert rows(hive) == [(1, "a"), (2, "b")]


def test_rows_that_are_added_meanwhile_are_not_lost(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS)
    conflict(hive, monkeypatch, lambda: insert_rows(hive, NAME, [_NEW.slice(1)]))
    assert rows(hive) == [(1, "a"), (2, "b"), (9, "c")]


def test_a_partition_that_another_writer_adds_meanwhile(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, ["ds"])
    conflict(hive, monkeypatch, lambda: insert_rows(hive, NAME, [_NEW.slice(1)]))
    assert rows(hive) == [(1, "a"), (2, "b"), (9, "c")]


def conflict(hive: HiveConnector, monkeypatch: pytest.MonkeyPatch, other: Callable[[], None]) -> None:
    """Another writer comes while the first file of an overwrite is moved."""
    move = FileSystem.move

    def after_other(self: FileSystem, uri: str, target: str) -> None:
        monkeypatch.undo()
        other()
        move(self, uri, target)

    monkeypatch.setattr(FileSystem, "move", after_other)
    with pytest.raises(MetastoreError, match=r"another writer has .* run the statement again") as caught:
        overwrite_rows(hive, NAME, [_NEW])
    assert caught.value.code == error_codes.HIVE_WRITE_CONFLICT


def test_an_overwrite_that_is_rolled_back_leaves_no_folder(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS)
    query = ReferenceQuery(hive)
    insert = ReferenceInsert(query, NAME, Overwrite())
    insert.finish([insert.write(_NEW)])
    query.transaction.rollback()
    assert rows(hive) == [(1, "a"), (2, "b")]
    assert not list((tmp_path / "s" / "t").glob(".*"))
