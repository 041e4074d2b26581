"""Folders of stores without folders; against servers in tests/integration/storage."""

from __future__ import annotations

from pathlib import Path

import pyarrow.fs as pafs
import pytest

from connectors.toolkit.storage.object_directories import list_folder
from connectors.toolkit.storage.remote_storage import StorageKind


@pytest.fixture
def root(tmp_path: Path) -> str:
    for name in ("a/b/c/f", "a/g", "h"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    return str(tmp_path)


@pytest.mark.parametrize("recursive", [True, False])
@pytest.mark.parametrize("kind", list(StorageKind))
def test_a_store_that_has_folders_is_listed_as_it_is(root: str, kind: StorageKind, recursive: bool) -> None:
    local = pafs.LocalFileSystem()
    real = {(info.path, info.type) for info in local.get_file_info(pafs.FileSelector(root, recursive=recursive))}
    listed = list_folder(kind, local, root, recursive)
    assert {(info.path, info.type) for info in listed} == real
    assert len(listed) == len(real)


@pytest.mark.parametrize("kind", list(StorageKind))
def test_what_is_missing(root: str, kind: StorageKind) -> None:
    with pytest.raises(FileNotFoundError):
        list_folder(kind, pafs.LocalFileSystem(), f"{root}/nothing", False)
