"""Column statistics of what a write changes are never those of before; those of all else stay."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from catalog.metastore.model import ColumnStatistics, Parameters
from connector_spi.errors import StorageError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import MergeCommand, Overwrite
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows, overwrite_rows
from connectors.hive.connector import HiveConnector
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import read_table
from tests.connectors.hive.table_writer import create_table

NAME = SchemaTableName("s", "t")
_ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "ds": ["a", "b"]})
_NEW = pa.table({"id": pa.array([8, 9], pa.int64()), "ds": ["a", "c"]})
_KINDS = pytest.mark.parametrize("parameters", [{}, {"transactional": "true"}], ids=["plain", "transactional"])
_OF_ID = ColumnStatistics("id", "bigint", 0, 1, 1, 2)


def new_table(
    hive: HiveConnector, folder: Path, parameters: dict[str, str] | None = None, keys: tuple[str, ...] = ()
) -> None:
    """Two rows, and statistics of the table and of each partition."""
    create_table(
        hive.metastore, folder, "s", "t", _ROWS[:0], list(keys), file_format="orc", parameters=parameters or {}
    )
    for path in (folder / "s" / "t").rglob("*"):
        if path.is_file():
            path.unlink()
    insert_rows(hive, NAME, [_ROWS])
    hive.metastore.writes.set_table_statistics("s", "t", [_OF_ID])
    if keys:
        hive.metastore.writes.set_partition_statistics("s", "t", {"ds=a": [_OF_ID], "ds=b": [_OF_ID]})


def known(hive: HiveConnector) -> dict[str, tuple[object, object]]:
    """The bounds of what has statistics, by partition; the table itself is an empty name."""
    reads = hive.metastore.reads
    found = reads.get_partition_statistics("s", "t", reads.get_partition_names("s", "t"), ["id"])
    found = {"": reads.get_table_statistics("s", "t", ["id"]), **found}
    return {name: (one.low, one.high) for name, some in sorted(found.items()) for one in some}


def delete_first(hive: HiveConnector) -> None:
    with ReferenceQuery(hive) as query:
        read = query.table(NAME).project_names(["id", "$row_id", "$partition"]).read()
        merge = ReferenceMerge(query, NAME, MergeCommand.DELETE)
        merge.finish([merge.write(deleted=read.filter(pc.equal(read.column("id"), 1)))])


@_KINDS
@pytest.mark.parametrize(
    ("write", "left"),
    [
        (lambda hive: insert_rows(hive, NAME, [_NEW]), {"": (1, 9)}),
        (lambda hive: overwrite_rows(hive, NAME, [_NEW]), {"": (8, 9)}),
        (lambda hive: overwrite_rows(hive, NAME, []), {}),
    ],
    ids=["insert", "overwrite", "truncate"],
)
def test_of_a_table(
    hive: HiveConnector,
    tmp_path: Path,
    parameters: dict[str, str],
    write: Callable[[HiveConnector], None],
    left: dict[str, object],
) -> None:
    new_table(hive, tmp_path, parameters)
    assert known(hive) == {"": (1, 2)}
    write(hive)
    assert known(hive) == left


@_KINDS
def test_of_partitions_that_are_written_to(hive: HiveConnector, tmp_path: Path, parameters: dict[str, str]) -> None:
    new_table(hive, tmp_path, parameters, ("ds",))
    assert known(hive) == {"": (1, 2), "ds=a": (1, 2), "ds=b": (1, 2)}
    insert_rows(hive, NAME, [_NEW])
    # How many rows a new partition of a transactional table has is not counted, nor which those of before are.
    counted = not parameters
    assert known(hive) == {**({"ds=a": (1, 8)} if counted else {}), "ds=b": (1, 2), "ds=c": (9, 9)}
    overwrite_rows(hive, NAME, [_ROWS.slice(1)], Overwrite(dynamic=True))
    assert known(hive) == {**({"ds=a": (1, 8)} if counted else {}), "ds=b": (2, 2), "ds=c": (9, 9)}
    overwrite_rows(hive, NAME, [])
    assert known(hive) == {}


@pytest.mark.parametrize(("keys", "left"), [((), {}), (("ds",), {"ds=b": (1, 2)})], ids=["flat", "partitioned"])
def test_of_deleted_rows(hive: HiveConnector, tmp_path: Path, keys: tuple[str, ...], left: dict[str, object]) -> None:
    new_table(hive, tmp_path, {"transactional": "true"}, keys)
    delete_first(hive)
    assert known(hive) == left


@_KINDS
def test_who_is_killed_leaves_no_old_ones(
    hive: HiveConnector, tmp_path: Path, parameters: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are gone before the first file is visible, so that no death in between keeps them."""
    new_table(hive, tmp_path, parameters)

    def refuse(*_: object) -> None:
        raise StorageError("the storage is gone")

    query = ReferenceQuery(hive)
    insert = ReferenceInsert(query, NAME)
    insert.finish([insert.write(_NEW)])
    monkeypatch.setattr(FileSystem, "move", refuse)
    with pytest.raises(StorageError):
        query.transaction.commit()
    assert known(hive) == {}


@_KINDS
def test_a_write_does_not_fail_by_them(
    hive: HiveConnector, tmp_path: Path, parameters: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    new_table(hive, tmp_path, parameters)
    with sqlite3.connect(tmp_path / "metastore.db") as connection:
        connection.execute("ALTER TABLE statistics RENAME TO gone")
    with caplog.at_level(logging.WARNING):
        insert_rows(hive, NAME, [_NEW])
    assert "the column statistics of s.t are of rows from before a write" in caplog.text
    assert sorted(read_table(hive, "s", "t").column("id").to_pylist()) == [1, 2, 8, 9]


EXACT = {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}', "numRows": "0", "numFiles": "0", "totalSize": "0"}


def counts(parameters: Mapping[str, str]) -> tuple[str | None, ...]:
    """The counts, without what is said of the statistics of columns."""
    said = parameters.get("COLUMN_STATS_ACCURATE", "")
    return ("exact" if "BASIC_STATS" in said else None, *(parameters.get(key) for key in list(EXACT)[1:]))


def of_table(hive: HiveConnector) -> tuple[str | None, ...]:
    entry = hive.metastore.reads.get_table("s", "t")
    assert entry is not None
    return counts(entry.parameters)


def bytes_of(folder: Path, pattern: str) -> str:
    return str(sum(path.stat().st_size for path in (folder / "s" / "t").glob(pattern)))


def test_counts_of_a_transactional_table_follow_its_writes(hive: HiveConnector, tmp_path: Path) -> None:
    """Hive answers count(*) from counts that are said to be exact; it says so of a table that it makes."""
    new_table(hive, tmp_path, {"transactional": "true", **EXACT})
    assert of_table(hive) == (None, "2", "1", bytes_of(tmp_path, "delta_*/bucket_*"))
    insert_rows(hive, NAME, [_NEW, _NEW])
    assert of_table(hive) == (None, "6", "3", bytes_of(tmp_path, "delta_*/bucket_*"))
    with ReferenceQuery(hive) as query:
        read = query.table(NAME).project_names(["id", "$row_id"]).read()
        merge = ReferenceMerge(query, NAME, MergeCommand.DELETE)
        merge.finish([merge.write(read.slice(0, 1))])
    assert of_table(hive) == (None, "5", "4", bytes_of(tmp_path, "*delta_*/bucket_*"))
    overwrite_rows(hive, NAME, [_NEW])
    assert of_table(hive) == (None, "2", "1", bytes_of(tmp_path, "base_*/bucket_*"))


def test_counts_of_transactional_partitions(hive: HiveConnector, tmp_path: Path) -> None:
    """Those that are there are counted on; of new ones nothing is known, since they would stay after a rollback."""
    new_table(hive, tmp_path, {"transactional": "true"}, ("ds",))
    hive.metastore.writes.set_partition_parameters("s", "t", {"ds=a": Parameters.of({**EXACT, "numRows": "1"})})
    insert_rows(hive, NAME, [_NEW])
    found = hive.metastore.reads.get_partitions_by_names("s", "t", ["ds=a", "ds=b", "ds=c"])
    assert [counts(one.parameters)[:3] for one in found] == [(None, "2", "1"), (None,) * 3, (None,) * 3]


@_KINDS
def test_counts_are_those_of_before_after_a_commit_that_failed(
    hive: HiveConnector, tmp_path: Path, parameters: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not said to be exact again: that only a writer of Hive's may."""
    new_table(hive, tmp_path, {**parameters, **EXACT})
    before = of_table(hive)

    def refuse(self: FileSystem, path: str, target: str) -> None:
        raise StorageError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(FileSystem, "move", refuse)
        with pytest.raises(StorageError):
            insert_rows(hive, NAME, [_NEW])
    assert before[0] is None
    assert of_table(hive) == before
