"""Batches of streaming queries, and buckets, in an object store, where no file can be the only one of its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.model import ColumnStatistics
from connector_spi.errors import ConnectorError, MetastoreError
from connector_spi.optional.streaming import StreamEpoch
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows, overwrite_rows
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_connector, scan_table
from tests.connectors.hive.test_leftovers import call as remove_orphan_files
from tests.connectors.hive.write.test_bucketed_inserts import bucketed_table, read, rows_of
from tests.connectors.hive.write.test_stream_inserts import NAME, QUERY, Kind, ids, write, write_batches_again
from tests.connectors.hive.write.watched_steps import Killed, watch_steps
from tests.object_store import ObjectStore

_FULL = {"transactional": "true"}
_INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}
_PLAIN = Kind("plain", {})
_KINDS = [
    _PLAIN,
    Kind("plain partitioned", {}, partitioned=True),
    Kind("plain bucketed", {}, bucketed=True),
    Kind("full", _FULL),
    Kind("full partitioned", _FULL, partitioned=True, bucketed=True),
    Kind("insert only", _INSERT_ONLY, partitioned=True),
]
_OF_EACH_KIND = pytest.mark.parametrize("kind", _KINDS, ids=lambda kind: kind.name)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    return ObjectStore.installed(monkeypatch)


def made(kind: Kind, folder: Path) -> HiveConnector:
    """A table of the kind in the object store."""
    hive = kind.make(folder)
    move_to_store(hive)
    return hive


def move_to_store(hive: HiveConnector) -> None:
    table = hive.metastore.reads.get_table("s", "t")
    assert table is not None
    hive.metastore.writes.alter_table("s", "t", replace(table, storage=replace(table.storage, location="s3://lake/t")))


@contextmanager
def begun_batch(hive: HiveConnector, number: int, *rows: int) -> Iterator[ReferenceQuery]:
    """A writer of a batch that will commit at the end of the block."""
    query = ReferenceQuery(hive)
    insert = ReferenceInsert(query, NAME)
    assert insert.finish_epoch([insert.write(rows_of(*rows))], StreamEpoch(QUERY, number))
    yield query
    query.transaction.commit()


@_OF_EACH_KIND
def test_a_batch_that_comes_again_adds_nothing(tmp_path: Path, store: ObjectStore, kind: Kind) -> None:
    hive = made(kind, tmp_path)
    write_batches_again(hive)
    assert not [one for one in store.objects if ".lakeport_insert_" in one]
    journals = [one for one in store.objects if ".lakeport_stream_" in one and not one.endswith("/")]
    assert len(journals) == 4, journals  # of the newest batch of each query


@pytest.mark.slow
@pytest.mark.parametrize("kind", [_KINDS[1], _KINDS[4]], ids=lambda kind: kind.name)
@pytest.mark.parametrize("how", ["killed", "answer lost"])
def test_a_batch_comes_once_wherever_its_writer_has_ended(
    tmp_path: Path, store: ObjectStore, monkeypatch: pytest.MonkeyPatch, kind: Kind, how: str
) -> None:
    for step in count():
        store.objects.clear()
        hive = made(kind, tmp_path / f"{step}")
        write(hive, 0, 1, 2, 3)
        met: list[str] = []

        def end(name: str, path: str = "", at: int = step, met: list[str] = met) -> None:
            met.append(f"{name} {path}")
            if len(met) == at + 1 or (len(met) > at + 1 and how == "killed"):
                raise Killed if how == "killed" else OSError("the answer is lost")

        with monkeypatch.context() as patch:
            if how == "killed":
                watch_steps(hive, patch, end)
            else:
                patch.setattr(store, "after", end)
            with suppress(ConnectorError, Killed):
                write(hive, 1, 4, 5, 6)
        where = f"at {met[step] if step < len(met) else 'the end'}, step {step} of {met}"
        found = ids(hive)
        assert set(found) <= {1, 2, 3, 4, 5, 6}, where
        assert len(found) == len(set(found)), where
        if kind.parameters:
            assert found in ([1, 2, 3], [1, 2, 3, 4, 5, 6]), where
        hive.shutdown()
        remove_orphan_files(hive := make_connector(tmp_path / f"{step}"), retention_threshold="0s")
        write(hive, 1, 4, 5, 6)
        assert ids(hive) == [1, 2, 3, 4, 5, 6], where
        assert not write(hive, 1, 4, 5, 6), where
        assert write(hive, 2, 7), where
        assert ids(hive) == [1, 2, 3, 4, 5, 6, 7], where
        hive.shutdown()
        if step >= len(met):
            break


@pytest.mark.parametrize("kind", [_PLAIN, _KINDS[3]], ids=lambda kind: kind.name)
def test_of_two_writers_of_a_batch_one_is_refused(tmp_path: Path, store: ObjectStore, kind: Kind) -> None:
    """Both have found nothing of the batch, as after a restart of the query while its old driver is only slow."""
    hive = made(kind, tmp_path)
    refused = pytest.raises(MetastoreError, match="batch 1, too")
    with refused as caught, begun_batch(hive, 1, 4, 5), begun_batch(hive, 1, 4, 5):
        pass
    assert caught.value.code == error_codes.HIVE_WRITE_CONFLICT
    assert ids(hive) == [4, 5]
    assert not write(hive, 1, 4, 5)
    assert ids(hive) == [4, 5]


def test_a_slow_writer_whose_batch_another_has_finished_adds_nothing(tmp_path: Path, store: ObjectStore) -> None:
    hive = made(_PLAIN, tmp_path)
    copied: list[str] = []

    def overtaken(name: str, path: str) -> None:
        if name == "copy_file" and path.endswith(".orc") and not copied:
            copied.append(path)
            assert not write(hive, 1, 4, 5)  # it has finished ours
            assert ids(hive) == [4, 5]

    with pytest.raises(ConnectorError, match="is not there"), begun_batch(hive, 1, 4, 5):
        store.before = overtaken
    assert copied
    assert ids(hive) == [4, 5]
    assert not write(hive, 1, 4, 5)
    assert write(hive, 2, 6)
    assert ids(hive) == [4, 5, 6]


def test_files_of_a_killed_batch_that_another_has_rewritten_are_not_copied_again(
    tmp_path: Path, store: ObjectStore
) -> None:
    hive = made(_PLAIN, tmp_path)

    def die(name: str, path: str) -> None:
        if name == "put" and path.endswith(".tmp") and any(one.endswith(".orc") for one in store.names(hidden=False)):
            raise OSError("the store is gone")

    with suppress(ConnectorError), begun_batch(hive, 1, 4, 5):
        store.before = die
    store.before = lambda name, path: None
    assert ids(hive) == [4, 5]
    overwrite_rows(hive, NAME, [rows_of(4, 5)])
    with pytest.raises(MetastoreError, match=r"batch 1 of a streaming query into s.t .* is gone") as caught:
        write(hive, 1, 4, 5)
    assert caught.value.code == error_codes.HIVE_STREAM_BATCH_UNKNOWN
    assert ids(hive) == [4, 5]


@pytest.mark.parametrize("kind", _KINDS[:2], ids=lambda kind: kind.name)
def test_statistics_from_before_a_batch_was_finished_are_dropped(
    tmp_path: Path, store: ObjectStore, kind: Kind
) -> None:
    hive = made(kind, tmp_path)
    insert_rows(hive, NAME, [rows_of(1, 2, 3)])

    def die(name: str, path: str) -> None:
        if name == "copy_file" and path.endswith(".orc"):
            raise OSError("the store is gone")

    with suppress(ConnectorError), begun_batch(hive, 1, 4, 5, 6):
        store.before = die
    store.before = lambda name, path: None
    assert ids(hive) == [1, 2, 3]
    statistics = [ColumnStatistics("id", "bigint", 0, 3, 1, 3)]
    names = hive.metastore.reads.get_partition_names("s", "t") if kind.partitioned else []
    if kind.partitioned:
        hive.metastore.writes.set_partition_statistics("s", "t", dict.fromkeys(names, statistics))
    hive.metastore.writes.set_table_statistics("s", "t", statistics)
    assert not write(hive, 1, 4, 5, 6)
    assert ids(hive) == [1, 2, 3, 4, 5, 6]
    assert hive.metastore.reads.get_table_statistics("s", "t", ["id"]) == []
    assert not any(hive.metastore.reads.get_partition_statistics("s", "t", names, ["id"]).values())


@pytest.mark.parametrize("partitioned", [False, True])
def test_rows_of_plain_buckets(hive: HiveConnector, tmp_path: Path, store: ObjectStore, partitioned: bool) -> None:
    bucketed_table(hive, tmp_path, {}, partitioned=partitioned)
    move_to_store(hive)
    others: list[str] = []

    def other(name: str, path: str) -> None:
        if name == "copy_file" and not others:
            others.append(path)
            insert_rows(hive, NAME, [rows_of(*range(100, 120))])

    insert_rows(hive, NAME, [rows_of(*range(20, 40)), rows_of(*range(40, 50))])
    store.before = other
    insert_rows(hive, NAME, [rows_of(*range(20))])
    assert others
    assert [row["id"] for row in read(hive)] == [*range(50), *range(100, 120)]
    # Hive's name, and a part of it that no other file has: of two files of one name the last would win.
    assert all(re.search(r"/00000[0-3]_0\.[0-9a-f]{32}$", one) for one in store.names(hidden=False))
    only = TupleDomain.with_column_domains({"id": Domain.single_value(pa.int64(), 7)})
    assert {split.bucket for split in scan_table(hive, "s", "t", constraint=only).splits} != {None}
    overwrite_rows(hive, NAME, [rows_of(1, 2, 3)])
    assert [row["id"] for row in read(hive)] == [1, 2, 3]
