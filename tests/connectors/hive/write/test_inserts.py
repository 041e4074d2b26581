"""Rows that are added to plain tables: where their files go, and what the metastore says afterwards."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.model import Parameters, Partition
from connector_spi.errors import (
    ConnectorError,
    InvalidArgumentError,
    MetastoreError,
    NotSupportedError,
    StorageError,
    UserError,
)
from connector_spi.names import SchemaTableName
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows
from connectors.hive.connector import HiveConnector
from connectors.hive.write.publish import target_partitions
from connectors.hive.write.sink import page_sink
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import make_connector, read_table
from tests.connectors.hive.table_writer import add_partition, create_table, storage
from tests.connectors.hive.write.watched_steps import watch_steps

NAME = SchemaTableName("s", "t")
_ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "ds": ["a", "b"]})
_MORE = pa.table({"id": pa.array([3, 4, 5], pa.int64()), "ds": ["b", "c", None]})


def rows(hive: HiveConnector) -> list[dict[str, object]]:
    found: list[dict[str, object]] = read_table(hive, "s", "t").select(["id", "ds"]).to_pylist()
    return sorted(found, key=lambda row: str(row["id"]))


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_rows_go_to_partitions_that_are_there_and_to_new_ones(
    hive: HiveConnector, tmp_path: Path, file_format: str
) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, ["ds"], file_format=file_format)
    insert_rows(hive, NAME, [_MORE])
    assert rows(hive) == [*_ROWS.to_pylist(), *_MORE.to_pylist()]
    names = hive.metastore.reads.get_partition_names("s", "t")
    assert names == ["ds=__HIVE_DEFAULT_PARTITION__", "ds=a", "ds=b", "ds=c"]
    folders = [path.partition("/")[0] for path in files(tmp_path / "s" / "t")]
    assert folders == ["ds=__HIVE_DEFAULT_PARTITION__", "ds=a", "ds=b", "ds=b", "ds=c"]


def test_a_partition_of_its_own_place_gets_its_rows_there(hive: HiveConnector, tmp_path: Path) -> None:
    table = create_table(hive.metastore, tmp_path, "s", "t", _ROWS.slice(0, 1), ["ds"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    own = storage(table.storage.columns, elsewhere, "parquet")
    hive.metastore.writes.add_partitions("s", "t", [Partition("s", "t", ("b",), own)])
    insert_rows(hive, NAME, [_MORE.slice(0, 1)])
    assert len(files(elsewhere)) == 1
    assert rows(hive) == [{"id": 1, "ds": "a"}, {"id": 3, "ds": "b"}]


def test_counts_are_added_and_no_longer_said_to_be_exact(hive: HiveConnector, tmp_path: Path) -> None:
    """Hive answers count(*) from counts that are said to be exact (StatsSetupConst.areBasicStatsUptoDate)."""
    said = {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true","COLUMN_STATS":{"id":"true"}}', "numFiles": "1"}
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, parameters={**said, "rawDataSize": "7", "k": "v"})
    insert_rows(hive, NAME, [_MORE])
    entry = hive.metastore.reads.get_table("s", "t")
    assert entry is not None
    assert (entry.parameters["numRows"], entry.parameters["numFiles"], entry.parameters["k"]) == ("5", "2", "v")
    assert "BASIC_STATS" not in entry.parameters["COLUMN_STATS_ACCURATE"]
    assert "rawDataSize" not in entry.parameters


def test_counts_of_partitions_are_added(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, ["ds"])
    exact = Parameters.of({"numRows": "1", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'})
    hive.metastore.writes.set_partition_parameters("s", "t", {"ds=a": exact, "ds=b": exact})
    insert_rows(hive, NAME, [_MORE])
    found = hive.metastore.reads.get_partitions_by_names("s", "t", ["ds=a", "ds=b", "ds=c"])
    assert found[0].parameters == exact
    assert dict(found[1].parameters) == {"numRows": "2"}
    assert (found[2].parameters["numRows"], found[2].parameters["numFiles"]) == ("1", "1")
    (file,) = (tmp_path / "s" / "t" / "ds=c").iterdir()
    assert found[2].parameters["totalSize"] == str(file.stat().st_size)


def test_nothing_is_left_when_the_metastore_fails(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, ["ds"])
    before = files(tmp_path / "s" / "t")

    def fail(database: str, table: str, partitions: Sequence[Partition]) -> None:
        raise MetastoreError("the metastore is gone")

    writes = hive.metastore.writes._writer  # type: ignore[attr-defined]  # the one that is wrapped
    monkeypatch.setattr(writes, "add_partitions", fail)
    with pytest.raises(MetastoreError, match="is gone"):
        insert_rows(hive, NAME, [_MORE])
    assert files(tmp_path / "s" / "t") == before
    assert rows(hive) == _ROWS.to_pylist()
    monkeypatch.undo()
    insert_rows(hive, NAME, [_MORE])
    assert len(rows(hive)) == 5


def test_a_task_that_goes_on_after_the_abort_leaves_nothing(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, ["ds"])
    before = files(tmp_path / "s" / "t")
    with ReferenceQuery(hive) as query:
        insert = ReferenceInsert(query, NAME)
        open_file, late = insert.sink(), insert.sink()
        open_file.append(_MORE.to_batches()[0])
        insert.abort()
        for sink in (open_file, late):
            sink.append(_MORE.to_batches()[0])
            with pytest.raises(StorageError, match="given up meanwhile"):
                sink.finish()
            sink.abort()
    assert files(tmp_path / "s" / "t") == before
    assert not list((tmp_path / "s" / "t").glob(".*"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_named(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS)
    folder = tmp_path / "s" / "t"
    folder.chmod(0o555)
    try:
        with pytest.raises(ConnectorError, match=str(folder)):
            insert_rows(hive, NAME, [_MORE])
    finally:
        folder.chmod(0o755)


def test_files_that_lie_where_a_new_partition_would_be_are_no_rows_of_it(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target_partitions, "MOST_WAITED_SECONDS", 0.2)
    table = create_table(hive.metastore, tmp_path, "s", "t", _ROWS, ["ds"])
    add_partition(hive.metastore, table, ["c"], _ROWS.select(["id"]), "parquet")
    hive.metastore.writes.drop_partitions("s", "t", ["ds=c"])
    with pytest.raises(UserError, match=r"there are files in .*ds=c; add the partition with ALTER TABLE"):
        insert_rows(hive, NAME, [_MORE])
    assert rows(hive) == _ROWS.to_pylist()


@pytest.mark.parametrize("fails", [False, True])
def test_two_writers_of_one_new_partition(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """One writer stops at each of its steps, and goes on or fails; the other one writes meanwhile."""
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, ["ds"])
    first = threading.get_ident()
    steps, stops_at, other = 0, -1, threading.Thread()
    written: list[int] = []

    def before(step: str) -> None:
        nonlocal steps
        if threading.get_ident() != first:
            return
        steps += 1
        if steps == stops_at:
            other.start()
            # It ends now, or waits for the partition.
            other.join(0.3)
            if fails:
                raise StorageError("stopped")

    def insert(row: int, key: str) -> None:
        insert_rows(hive, NAME, [pa.table({"id": pa.array([row], pa.int64()), "ds": [key]})])
        written.append(row)

    watch_steps(hive, monkeypatch, before)
    while stops_at < 0 or steps >= stops_at:
        stops_at, steps = max(stops_at, 0) + 1, 0
        key, row = f"new-{stops_at}", 100 * stops_at
        other = threading.Thread(target=insert, args=(row + 1, key))
        with suppress(StorageError):
            insert(row, key)
        if other.ident is not None:
            other.join()
    assert stops_at > 4
    found = rows(hive)
    assert [row["id"] for row in found if row["ds"] not in ("a", "b")] == sorted(written, key=str)
    assert sum(row % 100 for row in written) == stops_at - 1, "the other one was refused"
    assert fails or len(written) == 2 * stops_at - 1


def test_many_partitions_open_few_files(hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_sink, "MOST_OPEN_FILES", 2)
    monkeypatch.setattr(page_sink, "MOST_WAITING_BYTES", 1000)
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, ["ds"], file_format="orc")
    many = pa.table({"id": pa.array(range(5000), pa.int64()), "ds": [f"p{row % 7}" for row in range(5000)]})
    insert_rows(hive, NAME, [many])
    assert sorted(read_table(hive, "s", "t")["id"].to_pylist()) == sorted([1, 2, *range(5000)])
    assert len(files(tmp_path / "s" / "t")) == 2 + 7  # one for each partition, whatever waited on disk


def test_texts_of_char_and_varchar(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", pa.table({"c": ["x"], "v": ["y"]}), file_format="orc")
    entry = hive.metastore.reads.get_table("s", "t")
    assert entry is not None
    columns = tuple(
        replace(field, type=kind) for field, kind in zip(entry.storage.columns, ("char(3)", "varchar(2)"), strict=True)
    )
    hive.metastore.writes.alter_table("s", "t", replace(entry, storage=replace(entry.storage, columns=columns)))
    insert_rows(hive, NAME, [pa.table({"c": ["ab ", None], "v": ["é ", "zz"]})])
    met = read_table(hive, "s", "t").to_pylist()
    assert sorted(met, key=str) == [{"c": "ab ", "v": "é "}, {"c": "x  ", "v": "y"}, {"c": None, "v": "zz"}]
    for column, text in (("c", "abcd"), ("v", "abc")):
        other = {"c": "a", "v": "b", column: text}
        with pytest.raises(InvalidArgumentError, match=f"column '{column}' is .*char"):
            insert_rows(hive, NAME, [pa.table({key: [value] for key, value in other.items()})])


@pytest.mark.parametrize(
    "value",
    [date(1582, 10, 14), datetime(1582, 10, 14, 23, 59, 59)],
    ids=["date", "timestamp"],
)
@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_times_before_the_gregorian_calendar_are_refused(
    hive: HiveConnector, tmp_path: Path, file_format: str, value: date
) -> None:
    data = pa.table({"v": pa.array([value], pa.timestamp("us") if isinstance(value, datetime) else pa.date32())})
    create_table(hive.metastore, tmp_path, "s", "t", data.slice(0, 0), file_format=file_format)
    with pytest.raises(NotSupportedError, match="column 'v' has a time before 1582-10-15"):
        insert_rows(hive, NAME, [data])


def test_a_fraction_of_a_second_before_1970_is_refused_in_orc(hive: HiveConnector, tmp_path: Path) -> None:
    """Hive 4.0.1 fails on such a file: Invalid value for NanoOfSecond."""
    late = pa.array([datetime(1969, 12, 31, 23, 59, 58), datetime(1970, 1, 1, 0, 0, 0, 1), None], pa.timestamp("us"))
    early = pa.array([datetime(1969, 12, 31, 23, 59, 58, 1)], pa.timestamp("us"))
    for name, data in (("t", pa.table({"v": late})), ("u", pa.table({"v": pa.array([[value] for value in late])}))):
        create_table(hive.metastore, tmp_path, "s", name, data.slice(0, 0), file_format="orc")
        insert_rows(hive, SchemaTableName("s", name), [data])
        assert read_table(hive, "s", name).to_pylist() == data.to_pylist()
    for name, bad in (("t", early), ("u", pa.array([[value] for value in early], pa.list_(pa.timestamp("us"))))):
        with pytest.raises(NotSupportedError, match="'v' has a time before 1970 with a fraction of a second"):
            insert_rows(hive, SchemaTableName("s", name), [pa.table({"v": bad})])


@pytest.mark.parametrize(
    ("key", "spoken"), [("", "an empty text"), ("__HIVE_DEFAULT_PARTITION__", "the text __HIVE_DEFAULT_PARTITION__")]
)
def test_what_stands_for_null_is_no_partition_key(hive: HiveConnector, tmp_path: Path, key: str, spoken: str) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, ["ds"])
    with pytest.raises(InvalidArgumentError, match=f"partition key 'ds' is {spoken}"):
        insert_rows(hive, NAME, [pa.table({"id": pa.array([3], pa.int64()), "ds": [key]})])


def test_files_that_cannot_be_deleted_do_not_fail_an_insert(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its rows are there: who is told of an error would add them once more."""
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS.slice(0, 0))

    def refuses(self: FileSystem, uri: str) -> None:
        raise StorageError(f"cannot delete {uri}")

    with monkeypatch.context() as patch:
        patch.setattr(FileSystem, "delete_folder", refuses)
        insert_rows(hive, NAME, [_ROWS])
    assert read_table(hive, "s", "t").num_rows == _ROWS.num_rows
    assert "files of a write were left behind" in caplog.text


def test_tables_that_take_no_rows_say_why(hive: HiveConnector, tmp_path: Path) -> None:
    parameters = [
        ({"transactional": "true", "transactional_properties": "insert_only"}, "knows no write ids of the files"),
        ({"spark.sql.sources.schema.numBuckets": "4"}, "it is bucketed"),
        ({"parquet.compression": "BROTLI"}, "the codec"),
    ]
    for number, (extra, why) in enumerate(parameters):
        create_table(hive.metastore, tmp_path, "s", f"t{number}", _ROWS, parameters=extra)
        with pytest.raises(NotSupportedError, match=why):
            insert_rows(hive, SchemaTableName("s", f"t{number}"), [_MORE])


def test_a_catalog_that_is_read_only_takes_no_rows(tmp_path: Path) -> None:
    writing = make_connector(tmp_path)
    create_table(writing.metastore, tmp_path, "s", "t", _ROWS)
    writing.shutdown()
    reading = make_connector(tmp_path, **{"hive.read-only": "true"})
    with pytest.raises(NotSupportedError, match=r"cannot add rows to s\.t: .*hive\.read-only=false"):
        insert_rows(reading, NAME, [_MORE])
    reading.shutdown()


def test_what_a_killed_writer_left_is_not_seen(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS)
    query = ReferenceQuery(hive)
    insert = ReferenceInsert(query, NAME)
    insert.write(_MORE)
    left = [path for path in files(tmp_path / "s" / "t") if path.startswith(".")]
    assert len(left) == 1
    assert rows(hive) == _ROWS.to_pylist()
    query.transaction.rollback()
    assert files(tmp_path / "s" / "t") == ["000000_0"]
