"""Rows that are added to transactional tables: files as Hive's writer makes them, seen all at once or not at all."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import orc

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.client import TransactionClient
from catalog.metastore.model import Partition
from catalog.metastore.transactions import LockComponent, LockType
from connector_spi.errors import ConnectorError, MetastoreError
from connector_spi.names import SchemaTableName
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from connectors.hive.transaction import hive_transaction
from connectors.hive.write.sink import page_sink
from connectors.toolkit.orc.footer import read_orc_footer
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import make_connector, read_table
from tests.connectors.hive.table_writer import create_table

NAME = SchemaTableName("s", "t")
_ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "v": ["a", None, "c"], "ds": ["x", "y", "x"]})
_MORE = pa.table({"id": pa.array([4], pa.int64()), "v": ["d"], "ds": ["x"]})
_FULL = {"transactional": "true"}
_INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}


def new_table(
    hive: HiveConnector,
    folder: Path,
    partitioned: bool,
    parameters: dict[str, str],
    file_format: str = "orc",
    data: pa.Table = _ROWS,
) -> Path:
    """A table without files; its directory."""
    keys = ["ds"] if partitioned else []
    create_table(hive.metastore, folder, "s", "t", data[:0], keys, file_format=file_format, parameters=parameters)
    directory = folder / "s" / "t"
    for path in directory.rglob("*"):
        if path.is_file():
            path.unlink()
    return directory


def files(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def rows(hive: HiveConnector) -> list[dict[str, object]]:
    met: list[dict[str, object]] = read_table(hive, "s", "t").select(["id", "v", "ds"]).sort_by("id").to_pylist()
    return met


def test_files_are_those_of_hives_writer(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, False, _FULL)
    insert_rows(hive, NAME, [_ROWS, _MORE])
    delta = "delta_0000001_0000001_0000"
    assert files(directory) == [f"{delta}/{name}" for name in ("_orc_acid_version", "bucket_00000", "bucket_00001")]
    assert (directory / delta / "_orc_acid_version").read_bytes() == b"2"
    first, second = (orc.ORCFile(str(directory / delta / f"bucket_0000{n}")).read() for n in (0, 1))
    assert [(field.name, str(field.type).partition("<")[0]) for field in first.schema] == [
        ("operation", "int32"),
        ("originalTransaction", "int64"),
        ("bucket", "int32"),
        ("rowId", "int64"),
        ("currentTransaction", "int64"),
        ("row", "struct"),
    ]
    # The properties of bucket 0 and 1 of statement 0 (BucketCodec.V1).
    assert [line[:-1] for line in zip(*first.to_pydict().values(), strict=True)] == [
        (0, 1, 536870912, row, 1) for row in range(3)
    ]
    assert [line[:-1] for line in zip(*second.to_pydict().values(), strict=True)] == [(0, 1, 536936448, 0, 1)]
    assert rows(hive) == [*_ROWS.to_pylist(), *_MORE.to_pylist()]


@pytest.mark.slow
def test_footers_have_the_last_key_of_each_stripe(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_sink, "MOST_WAITING_BYTES", 1 << 20)
    count = 1_500_000
    numbers = pa.array(np.random.default_rng(1).integers(0, 1 << 62, count))
    data = pa.table({"id": numbers, "v": numbers.cast(pa.string()), "ds": pa.nulls(count, pa.string())})
    directory = new_table(hive, tmp_path, False, {**_FULL, "orc.compress": "NONE"})
    insert_rows(hive, NAME, [data])
    path = str(directory / "delta_0000001_0000001_0000" / "bucket_00000")
    with FileSystem().open(path) as file:
        footer = read_orc_footer(file, path)
    metadata = dict(footer.metadata)
    ends = [sum(stripe.rows for stripe in footer.stripes[: index + 1]) for index in range(len(footer.stripes))]
    assert len(ends) > 1
    assert metadata["hive.acid.key.index"].decode() == "".join(f"1,536870912,{end - 1};" for end in ends)
    assert (metadata["hive.acid.stats"], metadata["hive.acid.version"]) == (f"{count},0,0".encode(), b"2")
    assert read_table(hive, "s", "t").num_rows == count


@pytest.mark.parametrize("codec", ["NONE", "ZLIB", "SNAPPY", "ZSTD", "LZ4"])
def test_codecs(hive: HiveConnector, tmp_path: Path, codec: str) -> None:
    new_table(hive, tmp_path, True, {**_FULL, "orc.compress": codec})
    insert_rows(hive, NAME, [_ROWS])
    assert rows(hive) == _ROWS.to_pylist()


def test_partitions_that_are_there_and_new_ones(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, True, _FULL)
    insert_rows(hive, NAME, [_MORE])
    insert_rows(hive, NAME, [_ROWS])
    assert hive.metastore.reads.get_partition_names("s", "t") == ["ds=x", "ds=y"]
    assert [path for path in files(directory) if "bucket" in path] == [
        "ds=x/delta_0000001_0000001_0000/bucket_00000",
        "ds=x/delta_0000002_0000002_0000/bucket_00000",
        "ds=y/delta_0000002_0000002_0000/bucket_00000",
    ]
    assert rows(hive) == [*_ROWS.to_pylist(), *_MORE.to_pylist()]


@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_tables_of_inserts_alone_have_plain_files(hive: HiveConnector, tmp_path: Path, file_format: str) -> None:
    directory = new_table(hive, tmp_path, True, _INSERT_ONLY, file_format)
    insert_rows(hive, NAME, [_ROWS, _MORE])
    delta = "delta_0000001_0000001_0000"
    assert files(directory) == [f"ds=x/{delta}/000000_0", f"ds=x/{delta}/000001_0", f"ds=y/{delta}/000000_0"]
    assert rows(hive) == [*_ROWS.to_pylist(), *_MORE.to_pylist()]


def test_no_two_rows_have_the_same_id(hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_sink, "MOST_OPEN_FILES", 2)
    monkeypatch.setattr(page_sink, "MOST_WAITING_BYTES", 1000)
    new_table(hive, tmp_path, True, _FULL)
    many = pa.table({"id": range(4000), "v": ["v"] * 4000, "ds": [f"p{row % 7}" for row in range(4000)]}, _ROWS.schema)
    with ReferenceQuery(hive) as query:
        inserts = [ReferenceInsert(query, NAME) for _ in range(2)]
        for insert in inserts:
            # More tasks than there are numbers of buckets.
            insert.finish([insert.write(many, task) for task in (0, 1, 4096)])
    met = read_table(hive, "s", "t", ["id", "ds", "$row_id"])
    keys = {(row["ds"], *row["$row_id"].values()) for row in met.to_pylist()}
    assert len(keys) == met.num_rows == 6 * 4000


def test_rows_are_seen_when_the_metastore_commits(hive: HiveConnector, tmp_path: Path) -> None:
    new_table(hive, tmp_path, True, _FULL)
    query = ReferenceQuery(hive)
    insert = ReferenceInsert(query, NAME)
    fragments = [insert.write(_ROWS)]
    transactions = hive.metastore.transactions
    [lock] = [one for one in transactions.show_locks("s", "t") if one.transaction == max(_open(transactions))]
    assert (lock.type, lock.partition) == (LockType.SHARED_READ, None)
    insert.finish(fragments)
    assert rows(hive) == []
    query.transaction.commit()
    assert rows(hive) == _ROWS.to_pylist()
    assert transactions.show_locks("s", "t") == []


def test_a_rollback_leaves_nothing(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, True, _FULL)
    query = ReferenceQuery(hive)
    insert = ReferenceInsert(query, NAME)
    insert.finish([insert.write(_ROWS)])
    query.transaction.rollback()
    assert (files(directory), rows(hive)) == ([], [])
    assert _open(hive.metastore.transactions) == ()
    insert_rows(hive, NAME, [_MORE])
    assert rows(hive) == _MORE.to_pylist()


def test_an_exclusive_lock_is_waited_for(tmp_path: Path) -> None:
    hive = make_connector(tmp_path, **{"hive.metastore.thrift.txn-lock-max-wait": "0.2s"})
    new_table(hive, tmp_path, False, _FULL)
    transactions = hive.metastore.transactions
    other = transactions.open_transaction("bob", "compaction by hand")
    transactions.lock(other, [LockComponent("s", "t", type=LockType.EXCLUSIVE)], "bob", "compaction by hand")
    with pytest.raises(MetastoreError, match=r"bob .*compaction by hand.* holds EXCLUSIVE") as raised:
        insert_rows(hive, NAME, [_ROWS])
    assert raised.value.code == error_codes.HIVE_LOCK_NOT_ACQUIRED
    transactions.commit(other)
    insert_rows(hive, NAME, [_ROWS])
    assert len(rows(hive)) == 3
    hive.shutdown()


class Killed(BaseException):
    """The process ends here: nothing after it is done."""


def _patched(hive: HiveConnector, monkeypatch: pytest.MonkeyPatch, before: Callable[[str], None]) -> None:
    """Has ``before`` called before each operation on storage and each call to the metastore that writes."""
    writes = hive.metastore.writes._writer  # type: ignore[attr-defined]  # the one that is wrapped
    transactions = hive.metastore.transactions
    watched: list[tuple[object, list[str]]] = [
        (FileSystem, ["create", "create_folder", "move"]),
        (writes, ["add_partitions"]),
        (transactions, ["open_transaction", "allocate_write_ids", "lock", "add_dynamic_partitions", "commit"]),
    ]
    for owner, names in watched:
        for name in names:
            behind = getattr(owner, name)

            def call(*args: object, _behind: Callable[..., object] = behind, _name: str = name, **kw: object) -> object:
                before(_name)
                return _behind(*args, **kw)

            monkeypatch.setattr(owner, name, call)


def _steps(hive: HiveConnector, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations of an insert, in order."""
    seen: list[str] = []
    with monkeypatch.context() as patch:
        _patched(hive, patch, seen.append)
        insert_rows(hive, NAME, [_ROWS])
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [_FULL, _INSERT_ONLY], ids=["full", "insert_only"])
def test_a_failure_at_any_step_shows_all_rows_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parameters: dict[str, str]
) -> None:
    """Fails before each operation, by an error and by the end of the process; then the next insert is done."""
    trial = make_connector(tmp_path / "trial")
    new_table(trial, tmp_path / "trial", True, parameters)
    steps = _steps(trial, monkeypatch)
    trial.shutdown()
    assert {"create", "create_folder", "move", "add_partitions", "lock"} <= set(steps)
    commit = steps.index("commit")  # the second one is of what was read
    for step, name in enumerate(steps):
        for error in (MetastoreError("broken"), Killed()):
            folder = tmp_path / f"{step}{type(error).__name__}"
            hive = make_connector(folder)
            new_table(hive, folder, True, parameters)
            count = 0

            def before(met: str, at: int = step, error: BaseException = error) -> None:
                nonlocal count
                count += 1
                if count == at + 1 or (count > at + 1 and isinstance(error, Killed)):
                    raise error

            with monkeypatch.context() as patch:
                _patched(hive, patch, before)
                with suppress(ConnectorError, Killed):
                    insert_rows(hive, NAME, [_ROWS])
                    assert step > commit
            expected = _ROWS.to_pylist() if step > commit else []
            assert rows(hive) == expected, f"after {type(error).__name__} before {name}, step {step}"
            insert_rows(hive, NAME, [_MORE])
            assert rows(hive) == [*expected, *_MORE.to_pylist()]
            hive.shutdown()


def test_a_lost_answer_to_the_commit_is_asked_for(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_table(hive, tmp_path, False, _FULL)
    transactions = hive.metastore.transactions
    commit = transactions.commit

    def lose(transaction: int) -> None:
        commit(transaction)
        raise MetastoreError("the connection broke")

    monkeypatch.setattr(transactions, "commit", lose)
    insert_rows(hive, NAME, [_ROWS])
    assert rows(hive) == _ROWS.to_pylist()

    def never(transaction: int) -> None:
        raise MetastoreError("the connection broke")

    monkeypatch.setattr(transactions, "commit", never)
    with pytest.raises(MetastoreError, match="the connection broke"):
        insert_rows(hive, NAME, [_MORE])
    assert rows(hive) == _ROWS.to_pylist()

    def silent(current: int = 0) -> None:
        raise MetastoreError("still no connection")

    monkeypatch.setattr(transactions, "get_valid_transactions", silent)
    with ReferenceQuery(hive) as query:
        writes = hive_transaction(query.transaction).writes
        writes.begin_insert(NAME, partitioned=False)
        with pytest.raises(MetastoreError, match="look whether its rows are there") as raised:
            writes.commit()
    assert raised.value.code == error_codes.HIVE_COMMIT_UNKNOWN


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_a_commit_that_fails_within_the_metastore_is_tried_again(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    """Its database ends one of two calls that deadlock, and leaves the transaction open."""
    new_table(hive, tmp_path, False, _FULL)
    transactions = hive.metastore.transactions
    commit, tried = transactions.commit, 0

    def fail(transaction: int) -> None:
        nonlocal tried
        tried += 1
        if tried <= failures:
            raise MetastoreError("Internal error processing commit_txn", metastore_codes.REFUSED_REQUEST)
        commit(transaction)

    monkeypatch.setattr(transactions, "commit", fail)
    with ReferenceQuery(hive) as query:
        insert = ReferenceInsert(query, NAME)
        insert.finish([insert.write(_ROWS)])
        writes = hive_transaction(query.transaction).writes
        if failures < 3:
            writes.commit()
        else:
            with pytest.raises(MetastoreError, match="Internal error"):
                writes.commit()
    assert rows(hive) == (_ROWS.to_pylist() if failures < 3 else [])
    assert _open(transactions) == ()


def test_a_transaction_that_the_metastore_has_ended_adds_nothing(hive: HiveConnector, tmp_path: Path) -> None:
    new_table(hive, tmp_path, False, _FULL)
    query = ReferenceQuery(hive)
    insert = ReferenceInsert(query, NAME)
    insert.finish([insert.write(_ROWS)])
    transactions: TransactionClient = hive.metastore.transactions
    transactions.abort(max(_open(transactions)))
    with pytest.raises(MetastoreError, match=r"has ended transaction .* whose rows are gone") as raised:
        query.transaction.commit()
    assert raised.value.code == error_codes.HIVE_TRANSACTION_LOST
    assert rows(hive) == []


def _open(transactions: TransactionClient) -> tuple[int, ...]:
    """The open transactions; the one of the writes is opened behind the one of the reads."""
    return transactions.get_valid_transactions().open


def test_a_partition_that_another_adds_meanwhile_gets_the_rows(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_table(hive, tmp_path, True, _FULL)
    writes = hive.metastore.writes._writer  # type: ignore[attr-defined]
    add, elsewhere = writes.add_partitions, tmp_path / "elsewhere"
    entry = hive.metastore.reads.get_table("s", "t")
    assert entry is not None

    def add_before(database: str, table: str, partitions: list[Partition]) -> None:
        monkeypatch.undo()
        add("s", "t", [Partition("s", "t", ("x",), replace(entry.storage, location=f"file://{elsewhere}"))])
        add(database, table, partitions)

    monkeypatch.setattr(writes, "add_partitions", add_before)
    insert_rows(hive, NAME, [_ROWS])
    assert files(elsewhere) == [f"delta_0000001_0000001_0000/{name}" for name in ("_orc_acid_version", "bucket_00000")]
    assert rows(hive) == _ROWS.to_pylist()
