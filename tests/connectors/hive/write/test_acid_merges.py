"""Rows of transactional tables that are deleted and replaced: files as Hive's, all changes or none, none lost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import orc

from catalog.metastore.client import TransactionClient
from catalog.metastore.transactions import LockOperation, LockType
from connector_spi.errors import ConnectorError, MetastoreError, NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import MergeCommand
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import insert_rows
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from connectors.toolkit.orc.footer import read_orc_footer
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import make_connector, read_table
from tests.connectors.hive.table_writer import create_table
from tests.connectors.hive.write.test_acid_inserts import Killed, files, new_table

NAME = SchemaTableName("s", "t")
_FULL = {"transactional": "true"}
_SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.string()), ("ds", pa.string())])
_ROWS = pa.table({"id": [1, 2, 3, 4], "v": ["a", None, "c", "d"], "ds": ["x", "y", "x", None]}, _SCHEMA)
_MORE = pa.table({"id": [5, 6], "v": ["e", "f"], "ds": ["x", "y"]}, _SCHEMA)


def ids_of(query: ReferenceQuery, *ids: int) -> pa.Table:
    """The row ids of rows, as a statement reads them."""
    names = ["id", "$row_id", "$partition"]
    met = query.table(NAME).project_names(names).read()
    return met.filter(pc.is_in(met.column("id"), pa.array(ids, pa.int64())))


def row(number: int, value: str | None, key: str | None) -> pa.Table:
    return pa.table({"id": [number], "v": [value], "ds": [key]}, _SCHEMA)


def change(
    hive: HiveConnector, deleted: tuple[int, ...], *inserted: pa.Table, command: MergeCommand = MergeCommand.MERGE
) -> None:
    """Deletes rows by their ``id`` and adds others, each by a task of its own."""
    with ReferenceQuery(hive) as query:
        found = [ids_of(query, one) for one in deleted]
        merge = ReferenceMerge(query, NAME, command)
        merge.finish([*(merge.write(deleted=one) for one in found), *(merge.write(inserted=one) for one in inserted)])


def rows(hive: HiveConnector) -> list[dict[str, object]]:
    met: list[dict[str, object]] = read_table(hive, "s", "t").select(["id", "v", "ds"]).sort_by("id").to_pylist()
    return met


def ids(hive: HiveConnector) -> list[object]:
    return [one["id"] for one in rows(hive)]


def test_files_are_those_of_hives_writer(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, False, _FULL)
    insert_rows(hive, NAME, [_ROWS, _MORE])
    # Tasks see rows in any order; the last two are of the same bucket.
    change(hive, (3, 6, 5, 1), row(7, None, "z"))
    assert files(directory)[:3] == [
        f"delete_delta_0000002_0000002_0000/{name}" for name in ("_orc_acid_version", "bucket_00000", "bucket_00001")
    ]
    assert files(directory)[-2:] == [
        f"delta_0000002_0000002_0000/{name}" for name in ("_orc_acid_version", "bucket_00004")
    ]
    path = directory / "delete_delta_0000002_0000002_0000" / "bucket_00000"
    met = orc.ORCFile(str(path)).read().to_pydict()
    assert met == {
        "operation": [2, 2],
        "originalTransaction": [1, 1],
        "bucket": [536870912, 536870912],
        "rowId": [0, 2],
        "currentTransaction": [2, 2],
        "row": [None, None],
    }
    with FileSystem().open(path.as_uri()) as source:
        metadata = dict(read_orc_footer(source, str(path)).metadata)
    assert (metadata["hive.acid.key.index"], metadata["hive.acid.stats"]) == (b"1,536870912,2;", b"0,0,2")
    assert (path.parent / "_orc_acid_version").read_bytes() == b"2"
    assert ids(hive) == [2, 4, 7]


def test_rows_of_partitions_are_replaced(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, True, _FULL)
    insert_rows(hive, NAME, [_ROWS])
    change(hive, (2, 4), row(2, "new", "x"), row(9, None, "new"))
    assert rows(hive) == [
        {"id": 1, "v": "a", "ds": "x"},
        {"id": 2, "v": "new", "ds": "x"},
        {"id": 3, "v": "c", "ds": "x"},
        {"id": 9, "v": None, "ds": "new"},
    ]
    deletes = {path.rpartition("/")[0] for path in files(directory) if "delete_delta" in path}
    default = "ds=__HIVE_DEFAULT_PARTITION__"
    assert deletes == {f"{key}/delete_delta_0000002_0000002_0000" for key in ("ds=y", default)}
    # Rows that were replaced are rows as others.
    change(hive, (2, 3))
    assert ids(hive) == [1, 9]
    change(hive, (1, 9))
    assert ids(hive) == []


def test_rows_older_than_transactions_are_deleted(hive: HiveConnector, tmp_path: Path) -> None:
    """Files of a table that became transactional hold no ids: they are counted over the files of a bucket."""
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, [], file_format="orc")
    directory = tmp_path / "s" / "t"
    [first] = [path for path in directory.iterdir() if path.is_file()]
    first.rename(directory / "000000_0")
    orc.write_table(_MORE, str(directory / "000000_0_copy_1"))
    entry = hive.metastore.reads.get_table("s", "t")
    assert entry is not None
    given = entry.parameters.__class__.of({**dict(entry.parameters.items()), "transactional": "true"})
    with hive.metastore.transactions._store.write("test") as connection:  # type: ignore[attr-defined]
        connection.execute("INSERT INTO next_write_ids VALUES ('s', 't', 10000001)")
    hive.metastore.writes.alter_table("s", "t", replace(entry, parameters=given))
    change(hive, (2, 6))
    assert ids(hive) == [1, 3, 4, 5]
    met = orc.ORCFile(str(directory / "delete_delta_10000001_10000001_0000" / "bucket_00000")).read().to_pydict()
    assert (met["originalTransaction"], met["rowId"]) == ([0, 0], [1, 5])


@pytest.mark.parametrize(
    ("command", "lock"),
    [
        (MergeCommand.DELETE, LockOperation.DELETE),
        (MergeCommand.UPDATE, LockOperation.UPDATE),
        (MergeCommand.MERGE, LockOperation.UPDATE),
    ],
)
def test_changes_are_seen_when_the_metastore_commits(
    hive: HiveConnector, tmp_path: Path, command: MergeCommand, lock: LockOperation, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_table(hive, tmp_path, True, _FULL)
    insert_rows(hive, NAME, [_ROWS])
    transactions = hive.metastore.transactions
    told: list[tuple[list[str], LockOperation]] = []
    add = transactions.add_dynamic_partitions

    def listen(
        transaction: int, write_id: int, table: tuple[str, str], names: list[str], operation: LockOperation
    ) -> None:
        told.append((names, operation))
        add(transaction, write_id, table, names, operation)

    monkeypatch.setattr(transactions, "add_dynamic_partitions", listen)
    query = ReferenceQuery(hive)
    found = ids_of(query, 1)
    merge = ReferenceMerge(query, NAME, command)
    merge.finish([merge.write(found)])
    held = [one for one in transactions.show_locks("s", "t") if one.transaction == max(_open(transactions))]
    assert [one.type for one in held] == [LockType.SHARED_WRITE]
    assert ids(hive) == [1, 2, 3, 4]
    query.transaction.commit()
    assert ids(hive) == [2, 3, 4]
    assert told == [(["ds=x"], lock)]
    assert (transactions.show_locks("s", "t"), _open(transactions)) == ([], ())


def test_a_rollback_leaves_nothing(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, True, _FULL)
    insert_rows(hive, NAME, [_ROWS])
    before = files(directory)
    query = ReferenceQuery(hive)
    found = ids_of(query, 1, 2)
    merge = ReferenceMerge(query, NAME)
    merge.finish([merge.write(found, row(1, "new", "x"))])
    query.transaction.rollback()
    assert files(directory) == before
    assert rows(hive) == _ROWS.to_pylist()
    assert _open(hive.metastore.transactions) == ()


class TestConflicts:
    """No update is lost: who changes rows that others have changed since they were read, is told so."""

    def test_what_was_committed_after_the_read_is_seen_under_the_lock(
        self, hive: HiveConnector, tmp_path: Path
    ) -> None:
        new_table(hive, tmp_path, True, _FULL)
        insert_rows(hive, NAME, [_ROWS])
        reader = ReferenceQuery(hive)
        reader.table(NAME)
        change(hive, (1,), row(1, "theirs", "x"))
        with (
            reader,
            pytest.raises(MetastoreError, match="run the statement again") as raised,
            ReferenceQuery(hive) as query,
        ):
            ReferenceMerge(query, NAME, reader=reader)
        assert raised.value.code == error_codes.HIVE_WRITE_CONFLICT
        assert rows(hive)[0]["v"] == "theirs"
        assert _open(hive.metastore.transactions) == ()
        change(hive, (1,), row(1, "ours", "x"))
        assert rows(hive)[0]["v"] == "ours"

    def test_what_was_open_at_the_read_and_committed_since(self, hive: HiveConnector, tmp_path: Path) -> None:
        new_table(hive, tmp_path, True, _FULL)
        insert_rows(hive, NAME, [_ROWS])
        other = ReferenceQuery(hive)
        found = ids_of(other, 1)
        theirs = ReferenceMerge(other, NAME)
        insert_rows(hive, NAME, [_MORE])  # a higher write id is visible
        reader = ReferenceQuery(hive)
        reader.table(NAME)
        theirs.finish([theirs.write(found, row(1, "theirs", "x"))])
        other.transaction.commit()
        with reader, pytest.raises(MetastoreError, match="run the statement again"), ReferenceQuery(hive) as query:
            ReferenceMerge(query, NAME, reader=reader)

    def test_the_second_writer_waits_for_the_first(self, tmp_path: Path) -> None:
        hive = make_connector(tmp_path, **{"hive.metastore.thrift.txn-lock-max-wait": "0.2s"})
        new_table(hive, tmp_path, True, _FULL)
        insert_rows(hive, NAME, [_ROWS])
        first, second = ReferenceQuery(hive), ReferenceQuery(hive)
        found = ids_of(first, 1)
        merge = ReferenceMerge(first, NAME)
        with pytest.raises(MetastoreError, match="SHARED_WRITE") as raised, second:
            ReferenceMerge(second, NAME)
        assert raised.value.code == error_codes.HIVE_LOCK_NOT_ACQUIRED
        merge.finish([merge.write(found)])
        first.transaction.commit()
        assert ids(hive) == [2, 3, 4]
        hive.shutdown()

    def test_the_metastores_refusal_of_the_commit(
        self, hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The words of Hive's metastore, which lets two writers at it where it is Hive 4."""
        new_table(hive, tmp_path, True, _FULL)
        insert_rows(hive, NAME, [_ROWS])
        transactions = hive.metastore.transactions
        commit = transactions.commit

        def refuse(transaction: int) -> None:
            monkeypatch.undo()
            transactions.abort(transaction)
            try:
                commit(transaction)
            except MetastoreError as error:
                raise MetastoreError(
                    "Aborting [txnid:7,7] due to a write conflict on s/t/ds=x committed by [txnid:6,7] u/u", error.code
                ) from error

        query = ReferenceQuery(hive)
        found = ids_of(query, 1)
        merge = ReferenceMerge(query, NAME)
        merge.finish([merge.write(found)])
        monkeypatch.setattr(transactions, "commit", refuse)
        with pytest.raises(MetastoreError, match="was committed first") as raised:
            query.transaction.commit()
        assert raised.value.code == error_codes.HIVE_WRITE_CONFLICT
        assert ids(hive) == [1, 2, 3, 4]

    def test_a_partition_that_was_dropped_does_not_come_back(self, hive: HiveConnector, tmp_path: Path) -> None:
        new_table(hive, tmp_path, True, _FULL)
        insert_rows(hive, NAME, [_ROWS])
        query = ReferenceQuery(hive)
        found = ids_of(query, 1)
        merge = ReferenceMerge(query, NAME)
        fragments = merge.write(found)
        hive.metastore.writes.drop_partitions("s", "t", ["ds=x"])
        with pytest.raises(MetastoreError, match=r"rows of s\.t were not written: .* dropped partition ds=x"), query:
            merge.finish([fragments])
        assert ids(hive) == [2, 4]


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({}, "not a transactional table"),
        ({"transactional": "true", "transactional_properties": "insert_only"}, "insert_only"),
        ({"transactional": "true", "spark.sql.sources.schema.numBuckets": "2"}, "bucketed"),
    ],
)
def test_other_tables_are_refused_by_name(
    hive: HiveConnector, tmp_path: Path, parameters: dict[str, str], says: str
) -> None:
    new_table(hive, tmp_path, True, parameters)
    with pytest.raises(NotSupportedError, match=says), ReferenceQuery(hive) as query:
        ReferenceMerge(query, NAME)
    assert _open(hive.metastore.transactions) == ()


def _watched(hive: HiveConnector, monkeypatch: pytest.MonkeyPatch, before: Callable[[str], None]) -> None:
    transactions = hive.metastore.transactions
    writes = hive.metastore.writes._writer  # type: ignore[attr-defined]  # the one that is wrapped
    names = [
        "open_transaction",
        "allocate_write_ids",
        "lock",
        "get_valid_write_ids",
        "add_dynamic_partitions",
        "commit",
    ]
    watched: list[tuple[object, list[str]]] = [
        (FileSystem, ["create", "create_folder", "move"]),
        (writes, ["add_partitions"]),
        (transactions, names),
    ]
    for owner, methods in watched:
        for name in methods:
            behind = getattr(owner, name)

            def call(*args: object, _behind: Callable[..., object] = behind, _name: str = name, **kw: object) -> object:
                before(_name)
                return _behind(*args, **kw)

            monkeypatch.setattr(owner, name, call)


def _merge(hive: HiveConnector) -> None:
    change(hive, (1, 2, 3), row(1, "new", "z"), row(8, "new", "x"))


@pytest.mark.slow
def test_a_failure_at_any_step_shows_all_changes_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails before each operation, by an error and by the end of the process; then the next change is done."""
    trial = make_connector(tmp_path / "trial")
    new_table(trial, tmp_path / "trial", True, _FULL)
    insert_rows(trial, NAME, [_ROWS])
    steps: list[str] = []
    with monkeypatch.context() as patch:
        _watched(trial, patch, steps.append)
        _merge(trial)
    after = rows(trial)
    assert [one["id"] for one in after] == [1, 4, 8]
    trial.shutdown()
    commit = steps.index("commit")
    assert {"create", "move", "add_partitions", "add_dynamic_partitions"} <= set(steps[:commit])
    for step, name in enumerate(steps):
        for error in (MetastoreError("broken"), Killed()):
            folder = tmp_path / f"{step}{type(error).__name__}"
            hive = make_connector(folder, **{"hive.metastore.thrift.txn-lock-max-wait": "0.1s"})
            new_table(hive, folder, True, _FULL)
            insert_rows(hive, NAME, [_ROWS])
            count = 0

            def before(met: str, at: int = step, error: BaseException = error) -> None:
                nonlocal count
                count += 1
                if count == at + 1 or (count > at + 1 and isinstance(error, Killed)):
                    raise error

            with monkeypatch.context() as patch:
                _watched(hive, patch, before)
                with suppress(ConnectorError, Killed):
                    _merge(hive)
            met = rows(hive)
            expected = after if step > commit else _ROWS.to_pylist()
            assert met == expected, f"after {type(error).__name__} before {name}, step {step}"
            _end_all(hive.metastore.transactions)
            change(hive, (4,))
            assert rows(hive) == [one for one in expected if one["id"] != 4]
            hive.shutdown()


def _end_all(transactions: TransactionClient) -> None:
    """What the metastore's timeout does with transactions of a process that was killed."""
    for one in _open(transactions):
        transactions.abort(one)


def _open(transactions: TransactionClient) -> tuple[int, ...]:
    return transactions.get_valid_transactions().open
