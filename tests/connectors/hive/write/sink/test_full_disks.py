"""Disks that are full, or a quota that is used up, while files are written: an error says so, nothing is visible."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from connector_spi.errors import StorageError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import MergeCommand
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import insert_rows
from connectors.hive.connector import HiveConnector
from connectors.hive.definitions.storage_classes import declared_storage
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import read_table

NAME = SchemaTableName("s", "t")
_DEVICE = "/dev/full"
_FEW, _MANY = 10, 100_000

pytestmark = pytest.mark.skipif(not Path(_DEVICE).exists(), reason=f"there is no {_DEVICE}")


def _create(hive: HiveConnector, folder: Path, file_format: str, **properties: str) -> None:
    hive.metastore.writes.create_database(Database("s"))
    (folder / "t").mkdir()
    columns = (FieldSchema("id", "bigint"), FieldSchema("v", "string"))
    storage = declared_storage(file_format, {}, columns, f"file://{folder / 't'}")
    hive.metastore.writes.create_table(Table("s", "t", storage, (), Parameters.of(properties), "MANAGED_TABLE"))


def _rows(count: int) -> pa.Table:
    return pa.table({"id": range(count), "v": [os.urandom(50).hex() for _ in range(count)]})


def _fill(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(FileSystem, "create", lambda self, uri: pa.OSFile(_DEVICE, "wb"))


@pytest.mark.parametrize("count", [_FEW, pytest.param(_MANY, marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("file_format", ["orc", "parquet", "textfile", "avro", "rcfile", "sequencefile", "acid"])
def test_the_error_names_the_disk(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: str, count: int
) -> None:
    """ORC's C++ library would end the process: it throws where nothing catches."""
    if file_format == "acid":
        _create(hive, tmp_path, "orc", transactional="true")
    else:
        _create(hive, tmp_path, file_format)
    with monkeypatch.context() as patch:
        _fill(patch)
        with pytest.raises(StorageError, match="No space left on device"):
            insert_rows(hive, NAME, [_rows(count)])
    insert_rows(hive, NAME, [_rows(3)])
    assert read_table(hive, "s", "t").num_rows == 3


class _Quota(io.RawIOBase):
    """A file of an owner who has used up what the file system grants."""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))


@pytest.mark.parametrize("file_format", ["orc", "parquet", "textfile", "avro", "rcfile", "sequencefile", "acid"])
def test_the_error_names_the_quota(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: str
) -> None:
    properties = {"transactional": "true"} if file_format == "acid" else {}
    _create(hive, tmp_path, "orc" if properties else file_format, **properties)
    with monkeypatch.context() as patch:
        patch.setattr(FileSystem, "create", lambda self, uri: pa.PythonFile(_Quota(), "w"))
        with pytest.raises(StorageError, match="quota exceeded"):
            insert_rows(hive, NAME, [_rows(_FEW)])
    assert read_table(hive, "s", "t").num_rows == 0
    insert_rows(hive, NAME, [_rows(3)])
    assert read_table(hive, "s", "t").num_rows == 3


def test_deleted_rows_stay(hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _create(hive, tmp_path, "orc", transactional="true")
    insert_rows(hive, NAME, [_rows(3)])
    _fill(monkeypatch)
    with ReferenceQuery(hive) as query:
        merge = ReferenceMerge(query, NAME, MergeCommand.DELETE)
        with pytest.raises(StorageError, match="No space left on device"):
            merge.write(query.table(NAME).project_names(list(merge.row_ids)).read())
        merge.abort()
    assert read_table(hive, "s", "t").num_rows == 3
