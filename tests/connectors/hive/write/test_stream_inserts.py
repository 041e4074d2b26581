"""Batches of streaming queries: each comes once, wherever its writer was killed, and whoever else writes it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import ConnectorError, InvalidArgumentError, MetastoreError, StorageError
from connector_spi.names import SchemaTableName
from connector_spi.optional.streaming import StreamEpoch
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import make_connector
from tests.connectors.hive.table_writer import create_table
from tests.connectors.hive.write.test_bucketed_inserts import bucketed_table, read, rows_of
from tests.connectors.hive.write.watched_steps import Killed, watch_steps

NAME = SchemaTableName("s", "t")
QUERY = "0d3e2f30-6b2e-4c3e-9f68-3ff7a3d1a5a0"
_FULL = {"transactional": "true"}
_INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}


@dataclass(frozen=True)
class Kind:
    """A kind of table."""

    name: str
    parameters: dict[str, str]
    partitioned: bool = False
    bucketed: bool = False

    def make(self, folder: Path) -> HiveConnector:
        hive = make_connector(folder)
        if self.bucketed:
            bucketed_table(hive, folder, self.parameters, partitioned=self.partitioned)
            return hive
        keys = ["ds"] if self.partitioned else []
        create_table(hive.metastore, folder, "s", "t", rows_of(), keys, file_format="orc", parameters=self.parameters)
        for path in (folder / "s" / "t").rglob("*"):
            if path.is_file():
                path.unlink()
        return hive


_KINDS = [
    Kind("plain", {}),
    Kind("plain partitioned", {}, partitioned=True),
    Kind("plain bucketed", {}, bucketed=True),
    Kind("full", _FULL),
    Kind("full partitioned", _FULL, partitioned=True, bucketed=True),
    Kind("insert only", _INSERT_ONLY, partitioned=True),
]
_OF_EACH_KIND = pytest.mark.parametrize("kind", _KINDS, ids=lambda kind: kind.name)


def write(hive: HiveConnector, number: int, *rows: int, query: str = QUERY) -> bool:
    """Writes a batch as Spark does, by two tasks; whether it was new."""
    with ReferenceQuery(hive) as asked:
        insert = ReferenceInsert(asked, NAME)
        tables = [rows_of(*rows[:2]), rows_of(*rows[2:])]
        return insert.finish_epoch([insert.write(one) for one in tables if one.num_rows], StreamEpoch(query, number))


def ids(hive: HiveConnector) -> list[object]:
    return [row["id"] for row in read(hive)]


def write_batches_again(hive: HiveConnector) -> None:
    """Writes batches of two queries, some of them twice, and rows of another statement between them."""
    assert write(hive, 0, 1, 2, 3)
    assert not write(hive, 0, 1, 2, 3)
    assert write(hive, 1, 4)
    assert not write(hive, 0, 1, 2, 3)
    assert write(hive, 0, 5, query="another")
    insert_rows(hive, NAME, [rows_of(6)])
    assert write(hive, 2, 7, 8, 9)
    assert ids(hive) == [1, 2, 3, 4, 5, 6, 7, 8, 9]


@_OF_EACH_KIND
def test_a_batch_that_comes_again_adds_nothing(tmp_path: Path, kind: Kind) -> None:
    hive = kind.make(tmp_path)
    write_batches_again(hive)
    assert not list((tmp_path / "s" / "t").glob(".lakeport_insert_*"))
    journals = list((tmp_path / "s" / "t").glob(".lakeport_stream_*/*"))
    assert len(journals) == 4, journals  # of the newest batch of each query


@pytest.mark.slow
@_OF_EACH_KIND
@pytest.mark.parametrize("error", [StorageError("broken"), Killed()], ids=["error", "kill"])
def test_a_batch_comes_once_whatever_step_its_writer_ended_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Kind, error: BaseException
) -> None:
    """Killed, it may be seen in part where the table is a plain one, until the query goes on."""
    for step in count():
        folder = tmp_path / f"{step}"
        hive = kind.make(folder)
        write(hive, 0, 1, 2, 3)
        met: list[str] = []

        def before(name: str, at: int = step, met: list[str] = met) -> None:
            met.append(name)
            if len(met) == at + 1 or (len(met) > at + 1 and isinstance(error, Killed)):
                raise error

        with monkeypatch.context() as patch:
            watch_steps(hive, patch, before)
            with suppress(ConnectorError, Killed):
                write(hive, 1, 4, 5, 6)
        where = f"before {met[step] if step < len(met) else 'the end'}, step {step} of {met}"
        if kind.parameters:
            assert ids(hive) in ([1, 2, 3], [1, 2, 3, 4, 5, 6]), where
        hive.shutdown()
        hive = make_connector(folder)
        write(hive, 1, 4, 5, 6)
        assert ids(hive) == [1, 2, 3, 4, 5, 6], where
        assert not write(hive, 1, 4, 5, 6), where
        assert write(hive, 2, 7), where
        assert ids(hive) == [1, 2, 3, 4, 5, 6, 7], where
        hive.shutdown()
        if step >= len(met):
            break


def kill_before(
    hive: HiveConnector, monkeypatch: pytest.MonkeyPatch, is_step: Callable[[str, int], bool], *rows: int
) -> None:
    """Ends the writer of batch 1 before the first step of a name and number that fits."""
    met: list[str] = []
    dead: list[str] = []

    def before(name: str) -> None:
        met.append(name)
        if dead or is_step(name, met.count(name)):
            dead.append(name)
            raise Killed

    with monkeypatch.context() as patch:
        watch_steps(hive, patch, before)
        with pytest.raises(Killed):
            write(hive, 1, *rows)


def test_files_of_a_killed_batch_that_another_has_rewritten_are_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows may be in the files that came instead."""
    hive = _KINDS[0].make(tmp_path)
    # The journal's entry, the two files, and then the entry that ends it.
    kill_before(hive, monkeypatch, lambda name, number: name == "move" and number == 4, 4, 5, 6)
    assert ids(hive) == [4, 5, 6]
    for path in (tmp_path / "s" / "t").glob("*.orc"):
        path.unlink()
    insert_rows(hive, NAME, [rows_of(4, 5, 6)])
    with pytest.raises(MetastoreError, match=r"batch 1 of a streaming query into s.t .* is gone") as caught:
        write(hive, 1, 4, 5, 6)
    assert caught.value.code == error_codes.HIVE_STREAM_BATCH_UNKNOWN
    [begun] = (tmp_path / "s" / "t").glob(".lakeport_stream_*/*.begun")
    begun.with_suffix(".ended").write_text("committed")
    assert not write(hive, 1, 4, 5, 6)
    assert write(hive, 2, 7)
    assert ids(hive) == [4, 5, 6, 7]


def test_a_committed_batch_that_was_compacted_before_it_was_recorded_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The metastore forgets aborted transactions, so that their write ids look committed."""
    hive = Kind("full", _FULL).make(tmp_path)
    kill_before(hive, monkeypatch, lambda name, number: name == "move" and number == 4, 4, 5, 6)
    assert ids(hive) == [4, 5, 6]
    [delta] = (tmp_path / "s" / "t").glob("delta_*")
    delta.rename(delta.with_name("base_0000001"))
    with pytest.raises(MetastoreError, match="base_0000001 may have its rows") as caught:
        write(hive, 1, 4, 5, 6)
    assert caught.value.code == error_codes.HIVE_STREAM_BATCH_UNKNOWN
    delta.with_name("base_0000001").rename(delta)
    assert not write(hive, 1, 4, 5, 6)


def test_a_slow_writer_of_a_batch_that_another_has_written_adds_nothing(tmp_path: Path) -> None:
    hive = _KINDS[0].make(tmp_path)
    slow = ReferenceQuery(hive)
    insert = ReferenceInsert(slow, NAME)
    assert insert.finish_epoch([insert.write(rows_of(4, 5))], StreamEpoch(QUERY, 1))
    moved: list[str] = []
    move = FileSystem.move

    def overtaken(files: FileSystem, path: str, target: str) -> None:
        if target.endswith(".orc") and not moved:
            moved.append(target)
            assert write(hive, 1, 4, 5)
        move(files, path, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FileSystem, "move", overtaken)
        with pytest.raises(ConnectorError):
            slow.transaction.commit()
    assert ids(hive) == [4, 5]
    assert not write(hive, 1, 4, 5)


@pytest.mark.parametrize("kind", [_KINDS[0], _KINDS[3]], ids=lambda kind: kind.name)
def test_of_two_writers_that_have_found_nothing_of_a_batch_one_is_refused(tmp_path: Path, kind: Kind) -> None:
    hive = kind.make(tmp_path)
    queries = [ReferenceQuery(hive) for _ in range(2)]
    for query in queries:
        insert = ReferenceInsert(query, NAME)
        assert insert.finish_epoch([insert.write(rows_of(4, 5))], StreamEpoch(QUERY, 1))
    queries[0].transaction.commit()
    with pytest.raises(MetastoreError, match="batch 1, too") as caught:
        queries[1].transaction.commit()
    assert caught.value.code == error_codes.HIVE_WRITE_CONFLICT
    assert ids(hive) == [4, 5]
    assert not write(hive, 1, 4, 5)


def test_a_query_is_recorded_by_an_id_that_can_be_the_name_of_a_folder(tmp_path: Path) -> None:
    hive = _KINDS[0].make(tmp_path)
    query = ReferenceQuery(hive)
    insert = ReferenceInsert(query, NAME)
    with pytest.raises(InvalidArgumentError, match="letters, digits"):
        insert.finish_epoch([insert.write(pa.table(rows_of(1)))], StreamEpoch("../t", 1))
    query.transaction.rollback()
