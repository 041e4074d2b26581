"""Files that are opened for an engine: any bytes, for several threads, of the file that was listed."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from connector_spi.errors import FileMissingError, StorageError
from connector_spi.handles import NativeFile
from connectors.toolkit.storage.filesystem import FileSystem
from connectors.toolkit.storage.opened_file import open_native_file
from tests.object_store import ObjectStore

_CONTENT = random.Random(7).randbytes(200_000)


def _native(path: str, size: int = len(_CONTENT)) -> NativeFile:
    return NativeFile("parquet", path, 0, size, size, 0)


@pytest.mark.parametrize("through_python", [False, True])
def test_threads_read_any_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, through_python: bool) -> None:
    """A file that comes through Python has one offset, which threads must not take from each other."""
    if through_python:
        store = ObjectStore.installed(monkeypatch)
        store.objects["bucket/f"] = (_CONTENT, 0)
        path = "s3://bucket/f"
    else:
        (tmp_path / "f").write_bytes(_CONTENT)
        path = str(tmp_path / "f")
    assert FileSystem().reads_at_once(path) is not through_python
    opened = open_native_file(FileSystem(), _native(path))
    places = [(at * 37 % 190_000, at % 9_000) for at in range(3_000)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda place: opened.read_at(*place), places))
    assert found == [_CONTENT[offset : offset + length] for offset, length in places]
    opened.close()
    opened.close()


def test_another_file_than_the_one_that_was_listed(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(_CONTENT)
    with pytest.raises(StorageError, match=r"f has 200,000 bytes, and had 199,999 when it was listed"):
        open_native_file(FileSystem(), _native(str(path), 199_999))
    opened = open_native_file(FileSystem(), _native(str(path)))
    with path.open("r+b") as file:
        file.truncate(1_000)
    with pytest.raises(StorageError, match=r"f gave 500 bytes at offset 500, and 9,500 were expected"):
        opened.read_at(500, 9_500)
    path.unlink()
    with pytest.raises(FileMissingError, match="f is not there"):
        open_native_file(FileSystem(), _native(str(path)))


def test_blocks_that_are_kept_and_signed_addresses_come_through_python(tmp_path: Path) -> None:
    kept = (("fs.cache.directories", str(tmp_path)), ("fs.cache.enabled", "true"), ("fs.cache.max-sizes", "10MB"))
    place = (("s3.endpoint", "http://127.0.0.1:1"), ("s3.region", "us-east-1"))
    assert FileSystem(place).reads_at_once("s3://bucket/f")
    assert not FileSystem((*kept, *place)).reads_at_once("s3://bucket/f")
    assert FileSystem((*kept, *place)).reads_at_once("/local/f")
