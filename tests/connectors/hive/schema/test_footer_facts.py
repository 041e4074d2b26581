"""Footers that planning has read: opened once for a file as it is, and again for one that was replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.names import SchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connectors.hive.connector import HiveConnector
from connectors.hive.schema.footer_facts import FOOTER_CACHE
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import make_session
from tests.connectors.hive.table_writer import create_table, write_file

ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "day": pa.array([19000, 19001], pa.date32())})
OLDER = pa.table({"id": pa.array([1, 2], pa.int64()), "day": pa.array([-200000, 19001], pa.date32())})


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
    FOOTER_CACHE.drop()
    yield
    FOOTER_CACHE.drop()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that are opened."""
    found: list[str] = []
    original = FileSystem.open

    def counting(self: FileSystem, uri: str) -> pa.NativeFile:
        found.append(uri.rpartition("/")[2])
        return original(self, uri)

    monkeypatch.setattr(FileSystem, "open", counting)
    return found


def made(hive: HiveConnector, folder: Path, file_format: str, age: int = 60) -> Path:
    """The only file of a table ``s.t``, written some seconds ago."""
    create_table(hive.metastore, folder, "s", "t", ROWS, file_format=file_format)
    path = folder / "s" / "t" / "000000_0"
    settle(path, age)
    return path


def settle(path: Path, age: int) -> None:
    times = path.stat()
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns - age * 1_000_000_000))


def native(hive: HiveConnector, session: ConnectorSession | None = None) -> bool:
    """Plans a scan and reads nothing; whether the engine may read the file."""
    session = session or make_session(hive)
    transaction = hive.begin_transaction(session)
    metadata = hive.get_metadata(transaction)
    handle = metadata.get_table_handle(session, SchemaTableName("s", "t"))
    assert handle is not None
    columns = (metadata.get_column_handles(session, handle)["day"],)
    source = hive.split_manager.get_splits(transaction, session, handle, columns, TupleDomain.all())
    [split] = [one for batch in source for one in batch]
    transaction.commit()
    return split.native_file is not None


@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_the_next_plan_opens_no_file(hive: HiveConnector, tmp_path: Path, opened: list[str], file_format: str) -> None:
    made(hive, tmp_path, file_format)
    first = native(hive)
    assert opened
    opened.clear()
    assert native(hive) is first
    assert opened == []


def test_a_file_that_was_replaced_is_opened_again(hive: HiveConnector, tmp_path: Path) -> None:
    """Dates before 1582 are for tasks."""
    path = made(hive, tmp_path, "orc")
    assert native(hive)
    write_file(path, OLDER, "orc")
    assert not native(hive)


def test_a_file_that_was_just_written_is_not_kept(hive: HiveConnector, tmp_path: Path, opened: list[str]) -> None:
    """Within the grain of the storage's clock another one may take its place."""
    made(hive, tmp_path, "orc", age=0)
    native(hive)
    opened.clear()
    native(hive)
    assert opened


def test_without_memory_nothing_is_kept(hive: HiveConnector, tmp_path: Path, opened: list[str]) -> None:
    made(hive, tmp_path, "orc")
    session = make_session(hive, footer_cache=0)
    for _ in range(2):
        opened.clear()
        native(hive, session)
        assert opened
    assert FOOTER_CACHE.state.entries == 0
