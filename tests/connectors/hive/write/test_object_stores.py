"""Tables in an object store: files are written aside, and the store copies those that are committed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import MetastoreError, NotSupportedError, StorageError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import MergeCommand, Overwrite
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows, overwrite_rows
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from connectors.hive.write.publish import storage_requests
from connectors.hive.write.sink import page_sink
from tests.connectors.hive.compaction.compacting import clean, compact
from tests.connectors.hive.reading import read_table
from tests.connectors.hive.table_writer import create_table
from tests.connectors.hive.test_leftovers import call as remove_orphan_files
from tests.connectors.hive.write.test_acid_merges import change
from tests.connectors.hive.write.test_bucketed_inserts import rows_of
from tests.connectors.hive.write.test_loading import load
from tests.object_store import ObjectStore

NAME = SchemaTableName("s", "t")
FULL = {"transactional": "true"}
INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}
_KINDS = pytest.mark.parametrize("kind", [{}, FULL, INSERT_ONLY], ids=["plain", "full", "insert_only"])
_X = Overwrite(TupleDomain.with_column_domains({"ds": Domain.single_value(pa.string(), "x")}))


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    return ObjectStore.installed(monkeypatch)


def object_table(hive: HiveConnector, folder: Path, kind: dict[str, str], *, partitioned: bool = False) -> None:
    """A table of ORC without files in the object store."""
    keys = ["ds"] if partitioned else []
    create_table(hive.metastore, folder, "s", "t", rows_of(), keys, file_format="orc", parameters=kind)
    table = hive.metastore.reads.get_table("s", "t")
    assert table is not None
    hive.metastore.writes.alter_table("s", "t", replace(table, storage=replace(table.storage, location="s3://lake/t")))


def ids(hive: HiveConnector) -> list[int]:
    return sorted(row["id"] for row in read_table(hive, "s", "t", ["id"]).to_pylist())


@_KINDS
def test_rows_are_added_and_replaced(
    hive: HiveConnector, tmp_path: Path, store: ObjectStore, kind: dict[str, str]
) -> None:
    object_table(hive, tmp_path, kind, partitioned=True)
    insert_rows(hive, NAME, [rows_of(1, 2, 3), rows_of(4)])
    insert_rows(hive, NAME, [rows_of(5)])
    assert ids(hive) == [1, 2, 3, 4, 5]
    overwrite_rows(hive, NAME, [rows_of(6)], Overwrite(dynamic=True))  # of ds=y
    assert ids(hive) == [1, 2, 4, 5, 6]
    overwrite_rows(hive, NAME, [rows_of(7)], _X)
    assert ids(hive) == [6, 7]
    overwrite_rows(hive, NAME, [rows_of(8, 9)])
    assert ids(hive) == [8, 9]
    overwrite_rows(hive, NAME, [])
    assert ids(hive) == []
    assert [one for one in store.names(hidden=True) if not one.endswith("_orc_acid_version")] == []


def test_rows_are_deleted_and_updated(hive: HiveConnector, tmp_path: Path, store: ObjectStore) -> None:
    object_table(hive, tmp_path, FULL, partitioned=True)
    insert_rows(hive, NAME, [rows_of(1, 2), rows_of(3, 4)])
    # Two tasks each delete rows of one bucket, whose events the driver puts into one file.
    change(hive, (1, 2, 3), rows_of(10), command=MergeCommand.MERGE)
    assert ids(hive) == [4, 10]
    change(hive, (10,), command=MergeCommand.DELETE)
    assert ids(hive) == [4]
    assert not any(".lakeport" in one for one in store.objects)


@pytest.mark.parametrize("kind", [FULL, INSERT_ONLY], ids=["full", "insert_only"])
def test_tables_are_compacted_and_cleaned(
    hive: HiveConnector, tmp_path: Path, store: ObjectStore, kind: dict[str, str]
) -> None:
    object_table(hive, tmp_path, kind)
    for number in (1, 2, 3):
        insert_rows(hive, NAME, [rows_of(number)])
    compact(hive)
    assert ids(hive) == [1, 2, 3]
    assert clean(hive)[0]["state"] == "succeeded"
    assert {one.split("/")[2].partition("_v")[0] for one in store.objects if one.count("/") > 2} == {"base_0000003"}
    assert ids(hive) == [1, 2, 3]


def test_files_are_loaded(hive: HiveConnector, tmp_path: Path, store: ObjectStore) -> None:
    """Two that load files of one name at once could not notice each other: so each file gets a name of its own."""
    object_table(hive, tmp_path, {})
    for number in (1, 2):
        insert_rows(hive, NAME, [rows_of(number)])
        [name] = store.names(hidden=False)
        store.objects["lake/incoming/000000_0"] = store.objects.pop(name)
        store.objects.pop("lake/t/", None)
        load(hive, "s3://lake/incoming")
        assert ids(hive) == [number]
        assert [one[:7] for one in store.names(hidden=False)] == ["lake/t/"]
        store.objects = {path: one for path, one in store.objects.items() if path.endswith("/")}


def test_a_reader_sees_only_whole_files_of_the_commit(
    hive: HiveConnector, tmp_path: Path, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing before the copies begin; and at no moment neither old nor new rows."""
    # No file goes between our listing and our reading.
    monkeypatch.setattr(storage_requests, "REQUESTS_AT_ONCE", 1)
    object_table(hive, tmp_path, {})
    insert_rows(hive, NAME, [rows_of(1), rows_of(2)])
    seen: list[tuple[str, list[int]]] = []

    def look(name: str, path: str) -> None:
        store.after = lambda name, path: None
        seen.append((name, ids(hive)))
        store.after = look

    store.after = look
    overwrite_rows(hive, NAME, [rows_of(3), rows_of(4)])
    met = [found for _, found in seen]
    assert all(found == [1, 2] for name, found in seen[: [name for name, _ in seen].index("copy_file")])
    assert all({1, 2} <= set(found) or {3, 4} <= set(found) for found in met)
    assert met[-1] == [3, 4]


@_KINDS
def test_an_attempt_that_ends_after_the_commit_is_never_seen(
    hive: HiveConnector, tmp_path: Path, store: ObjectStore, kind: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Speculative copies of a task run on for a while; their names in the table would be the same."""
    monkeypatch.setattr(page_sink, "MOST_WAITING_BYTES", 0)
    object_table(hive, tmp_path, kind)
    with ReferenceQuery(hive) as query:
        insert = ReferenceInsert(query, NAME)
        late = insert.sink(task=0)
        for batch in rows_of(1, 2).to_batches():
            late.append(batch)
        insert.finish([insert.write(rows_of(1, 2), task=0)])
    late.finish()
    assert ids(hive) == [1, 2]
    assert len([one for one in store.names(hidden=True) if "/.lakeport_insert_" in one]) == 1
    time.sleep(0.002)
    assert len(remove_orphan_files(hive, retention_threshold="0s")) == 1
    assert not any(".lakeport" in one for one in store.objects)
    assert ids(hive) == [1, 2]


def test_a_write_that_has_not_written_yet_keeps_its_folder(
    hive: HiveConnector, tmp_path: Path, store: ObjectStore
) -> None:
    """Folders of an object store have no age, and an upload is not seen before its end."""
    object_table(hive, tmp_path, {})
    with ReferenceQuery(hive) as query:
        insert = ReferenceInsert(query, NAME)
        assert remove_orphan_files(hive, retention_threshold="1h") == []
        insert.finish([insert.write(rows_of(1))])
    assert ids(hive) == [1]


@pytest.mark.parametrize("lost", [False, True], ids=["refused", "answer_lost"])
def test_copies_of_a_commit_that_fails_are_taken_back(
    hive: HiveConnector, tmp_path: Path, store: ObjectStore, lost: bool
) -> None:
    object_table(hive, tmp_path, {})
    insert_rows(hive, NAME, [rows_of(1)])
    before = store.names(hidden=False)
    copies: list[str] = []

    def fail(name: str, path: str) -> None:
        if name == "copy_file":
            copies.append(path)
            if len(copies) == 2:
                raise OSError("the store is busy")

    if lost:
        store.after = fail
    else:
        store.before = fail
    with pytest.raises(StorageError, match="the store is busy"):
        overwrite_rows(hive, NAME, [rows_of(2), rows_of(3), rows_of(4)])
    assert store.names(hidden=False) == before
    assert ids(hive) == [1]


def test_what_could_not_be_deleted_is_told(hive: HiveConnector, tmp_path: Path, store: ObjectStore) -> None:
    object_table(hive, tmp_path, {})
    insert_rows(hive, NAME, [rows_of(1)])
    [old] = store.names(hidden=False)

    def fail(name: str, path: str) -> None:
        if name == "delete_file" and path == old:
            raise OSError("the object is retained")

    def overwrite_twice() -> None:
        with ReferenceQuery(hive) as query:
            for number in (2, 3):
                insert = ReferenceInsert(query, NAME, Overwrite())
                insert.finish([insert.write(rows_of(number))])

    store.before = fail
    told = rf"{old} and 0 other files were replaced and could not be deleted .*retained"
    with pytest.raises(StorageError, match=told):
        overwrite_twice()
    # What the second statement has replaced of the first is gone all the same.
    assert ids(hive) == [1, 3]
    store.before = lambda name, path: None
    overwrite_rows(hive, NAME, [rows_of(4)])
    assert ids(hive) == [4]


def test_of_two_overwrites_at_once_one_is_refused(hive: HiveConnector, tmp_path: Path, store: ObjectStore) -> None:
    object_table(hive, tmp_path, {})
    insert_rows(hive, NAME, [rows_of(1)])
    begun: list[str] = []

    def other(name: str, path: str) -> None:
        if name == "copy_file" and not begun:
            begun.append(path)
            overwrite_rows(hive, NAME, [rows_of(2)])

    store.after = other
    with pytest.raises(MetastoreError, match="meanwhile") as refused:
        overwrite_rows(hive, NAME, [rows_of(3)])
    assert refused.value.code == error_codes.HIVE_WRITE_CONFLICT
    assert ids(hive) in ([1], [2])


def test_a_store_that_is_not_known_is_refused(hive: HiveConnector, tmp_path: Path, store: ObjectStore) -> None:
    object_table(hive, tmp_path, {})
    table = hive.metastore.reads.get_table("s", "t")
    assert table is not None
    elsewhere = replace(table.storage, location="oss://lake/t")
    hive.metastore.writes.alter_table("s", "t", replace(table, storage=elsewhere))
    with pytest.raises(NotSupportedError, match="storage of the scheme oss is not known"):
        insert_rows(hive, NAME, [rows_of(1)])
    assert store.names(hidden=False) == []


class Killed(BaseException):
    """The process ends here: nothing after it is done."""


def _insert(hive: HiveConnector) -> None:
    insert_rows(hive, NAME, [rows_of(10, 11, 12), rows_of(13)])


def _overwrite(hive: HiveConnector) -> None:
    overwrite_rows(hive, NAME, [rows_of(10, 11, 12)])


def _merge(hive: HiveConnector) -> None:
    change(hive, (0, 1), rows_of(10, 11))


_BEFORE = [0, 1, 2]
_AFTER: dict[Callable[[HiveConnector], None], list[int]] = {
    _insert: [0, 1, 2, 10, 11, 12, 13],
    _overwrite: [10, 11, 12],
    _merge: [2, 10, 11],
}


def _end_at(store: ObjectStore, step: int, error: type[BaseException], *, lost: bool) -> list[str]:
    """Has one operation fail, or from it on all; the operations that were met."""
    met: list[str] = []

    def count(name: str, path: str) -> None:
        met.append(f"{name} {path}")
        if len(met) == step + 1 or (len(met) > step + 1 and error is Killed):
            raise error("broken")

    if lost:
        store.after = count
    else:
        store.before = count
    return met


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "write", "error", "lost"),
    [
        (FULL, _merge, Killed, False),
        (FULL, _merge, OSError, True),
        (FULL, _overwrite, Killed, False),
        (FULL, _overwrite, OSError, False),
        ({}, _insert, Killed, False),
        ({}, _insert, OSError, False),
        ({}, _overwrite, Killed, False),
        ({}, _overwrite, OSError, False),
        ({}, _overwrite, OSError, True),
    ],
)
def test_a_failure_at_any_operation_of_storage(
    hive: HiveConnector,
    tmp_path: Path,
    store: ObjectStore,
    kind: dict[str, str],
    write: Callable[[HiveConnector], None],
    error: type[BaseException],
    lost: bool,
) -> None:
    quiet = store.before
    for step in range(200):
        object_table(hive, tmp_path / f"{step}", kind, partitioned=True)
        insert_rows(hive, NAME, [rows_of(*_BEFORE)])
        met = _end_at(store, step, error, lost=lost)
        done = False
        try:
            write(hive)
            done = True
        except (StorageError, Killed):
            pass
        store.before = store.after = quiet
        found, where = ids(hive), f"{'after' if lost else 'before'} {met[step] if step < len(met) else 'the end'}"
        _check(found, write, kind, error is Killed, done, where)
        insert_rows(hive, NAME, [rows_of(90)])
        assert ids(hive) == [*found, 90], where
        time.sleep(0.002)
        remove_orphan_files(hive, retention_threshold="0s")
        assert not any(".lakeport" in one for one in store.names(hidden=True)), where
        hive.metastore.writes.drop_table("s", "t", delete_data=False)
        store.objects.clear()
        if step >= len(met):
            assert done
            return
    raise AssertionError("more operations than expected")


def _check(
    found: list[int],
    write: Callable[[HiveConnector], None],
    kind: dict[str, str],
    killed: bool,
    done: bool,
    where: str,
) -> None:
    after = _AFTER[write]
    if done:
        assert found == after, where
    elif kind:
        assert found in (_BEFORE, after), where
    elif write is _insert:
        # Of a plain table nothing takes back what a killed writer has copied.
        whole = found in (_BEFORE, after)
        assert whole or (killed and set(_BEFORE) < set(found) < set(after)), where
    else:
        # New rows come first, and what they replace goes last.
        assert set(_BEFORE) <= set(found) or set(after) <= set(found), where
        assert killed or found == _BEFORE or set(after) <= set(found), where
    assert len(found) == len(set(found)), where
