"""Storage that fails under writes to tables of real Hive: all is seen, or nothing, and the next write works."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest

from connector_spi.errors import ConnectorError, StorageError
from connector_spi.names import SchemaTableName
from connector_spi.testing.writing import insert_rows
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.write.watched_steps import FILE_STEPS, watch_files
from tests.integration.hive.engine import HiveEngine
from tests.integration.hive.interrupted_writes import FULL, PLAIN, REPLACE, WRITES, create, hive_rows, our_rows

_LARGE = 120_000
"""Rows with more random bytes than a small disk has room for."""


@pytest.fixture(scope="module")
def schema(hive_engine: HiveEngine) -> str:
    name = f"s{uuid4().hex[:8]}"
    hive_engine.sql(f"CREATE DATABASE {name}")
    return name


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with room for 4 MB; skips where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if done.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("write", [*WRITES, "replace"])
def test_each_operation_fails_once(
    hive: HiveConnector, hive_engine: HiveEngine, schema: str, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    name, statement = SchemaTableName(schema, f"each_{write}"), WRITES.get(write, REPLACE)
    create(hive_engine, hive, name, statement.properties)
    rows = our_rows(hive, name)
    for at in count():
        met: list[str] = []

        def before(step: str, at: int = at, met: list[str] = met) -> None:
            met.append(step)
            if len(met) == at + 1:
                raise StorageError("broken")

        error: ConnectorError | None = None
        with monkeypatch.context() as patch:
            watch_files(patch, before)
            try:
                statement.run(hive, name, at)
            except ConnectorError as raised:
                error = raised
        where = f"before step {at} of {met}: {error}"
        older, rows = rows, our_rows(hive, name)
        assert rows == statement.after(older, at) or (rows == older and error is not None), where
        assert hive.metastore.transactions.show_locks(schema, name.table) == [], where
        if at >= len(met):
            break
    assert error is None
    assert set(FILE_STEPS).intersection(met)
    assert hive_rows(hive_engine, name) == rows


@pytest.mark.parametrize("properties", [FULL, PLAIN], ids=["full", "plain"])
def test_a_full_disk(
    hive: HiveConnector, hive_engine: HiveEngine, schema: str, small_disk: Path, properties: str
) -> None:
    name = SchemaTableName(schema, f"full_{len(properties)}")
    create(hive_engine, hive, name, properties, (small_disk / "t").as_uri())
    rows = our_rows(hive, name)
    texts = [os.urandom(64).hex() for _ in range(_LARGE)]
    large = pa.table({"id": range(1000, 1000 + _LARGE), "v": texts, "ds": ["p0"] * len(texts)})
    with pytest.raises(StorageError, match="No space left"):
        insert_rows(hive, name, [large])
    assert our_rows(hive, name) == hive_rows(hive_engine, name) == rows
    small = large.slice(0, 10)
    insert_rows(hive, name, [small])
    added = {row["id"]: (row["v"], row["ds"]) for row in small.to_pylist()}
    assert our_rows(hive, name) == hive_rows(hive_engine, name) == {**rows, **added}


@pytest.mark.parametrize("write", list(WRITES))
def test_a_directory_that_is_read_only(
    hive: HiveConnector, hive_engine: HiveEngine, schema: str, small_disk: Path, write: str
) -> None:
    name, statement = SchemaTableName(schema, f"read_only_{write}"), WRITES[write]
    create(hive_engine, hive, name, statement.properties, (small_disk / "t").as_uri())
    rows = our_rows(hive, name)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StorageError, match="Read-only file system"):
        statement.run(hive, name, 0)
    assert our_rows(hive, name) == hive_rows(hive_engine, name) == rows
    assert hive.metastore.transactions.show_locks(schema, name.table) == []
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    statement.run(hive, name, 1)
    assert our_rows(hive, name) == hive_rows(hive_engine, name) == statement.after(rows, 1)
