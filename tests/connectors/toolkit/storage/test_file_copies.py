"""Copies within a store, and those that a store does not make itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from connector_spi.errors import StorageError
from connectors.toolkit.storage import file_copies
from connectors.toolkit.storage.filesystem import FileSystem
from connectors.toolkit.storage.remote_storage import StorageKind
from tests.object_store import ObjectStore

_ROWS = b"rows" * 1000


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    made = ObjectStore.installed(monkeypatch)
    made.objects["lake/a"] = (_ROWS, 0)
    return made


def watched(store: ObjectStore) -> list[str]:
    """The changes that are made from now on."""
    met: list[str] = []
    store.before = lambda name, path: met.append(f"{name} {path}")
    return met


def test_the_store_copies(store: ObjectStore) -> None:
    met = watched(store)
    FileSystem().copy("s3://lake/a", "s3://lake/t/b")
    assert met == ["copy_file lake/t/b"]
    FileSystem().move("s3://lake/t/b", "s3://lake/t/c")
    assert met[1:3] == ["copy_file lake/t/c", "delete_file lake/t/b"]
    assert FileSystem().read_bytes("s3://lake/t/c") == _ROWS


def test_what_is_too_large_for_one_request_is_read_and_written(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_copies, "MOST_COPIED_BYTES", {StorageKind.S3: len(_ROWS) - 1})
    monkeypatch.setattr(file_copies, "BLOCK_BYTES", 1500)
    met = watched(store)
    FileSystem().copy("s3://lake/a", "s3://lake/b")
    assert met == ["open lake/b", "put lake/b"]
    assert store.objects["lake/b"][0] == _ROWS
    FileSystem().copy("gs://lake/a", "gs://lake/c")
    assert met[2:] == ["copy_file lake/c"]


def test_from_one_storage_to_another(store: ObjectStore, tmp_path: Path) -> None:
    (tmp_path / "local.gz").write_bytes(_ROWS)
    FileSystem().copy(f"{tmp_path}/local.gz", "s3://lake/b.gz")
    FileSystem().copy("s3://lake/b.gz", f"{tmp_path}/back/local.gz")
    assert (tmp_path / "back" / "local.gz").read_bytes() == store.objects["lake/b.gz"][0] == _ROWS


def test_of_a_copy_that_fails_nothing_stays(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Arrow completes an upload whose file is freed, with what it has until then."""

    def refuse(name: str, path: str) -> None:
        if name == "put" and store.objects.get(path) is None:
            met.append(path)
            if len(met) == 1:
                raise OSError("the store is busy")

    met: list[str] = []
    store.before = refuse
    (tmp_path / "local").write_bytes(_ROWS)
    with pytest.raises(StorageError, match="cannot write s3://lake/b: the store is busy"):
        FileSystem().copy(f"{tmp_path}/local", "s3://lake/b")
    assert "lake/b" not in store.objects
