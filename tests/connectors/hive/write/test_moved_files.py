"""Files that are moved, and taken back after an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from connector_spi.errors import StorageError
from connectors.hive.write.publish.moved_files import MovedFiles
from connectors.toolkit.storage.filesystem import FileSystem


@pytest.mark.parametrize("done", [False, True])
def test_a_move_without_an_answer_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: bool) -> None:
    """A NameNode may have moved a file before the connection was lost; nothing else is at its target then."""
    files, real = FileSystem(), FileSystem.move
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(b"rows")

    def lost(self: FileSystem, uri: str, target: str) -> None:
        if uri.endswith("one") or done:
            real(self, uri, target)
        if uri.endswith("two"):
            raise StorageError("no answer")

    monkeypatch.setattr(FileSystem, "move", lost)
    moves = [(f"{tmp_path}/{name}", f"{tmp_path}/t/{name}") for name in ("one", "two")]
    with pytest.raises(StorageError, match="no answer"), MovedFiles(files) as moved:
        moved.move_all(moves)
    assert list((tmp_path / "t").iterdir()) == []


def test_what_another_writer_has_put_there_stays(tmp_path: Path) -> None:
    for name in ("one", "t/one"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"rows")
    with pytest.raises(StorageError, match="expected a free path"), MovedFiles(FileSystem()) as moved:
        moved.move(f"{tmp_path}/one", f"{tmp_path}/t/one")
    assert (tmp_path / "t" / "one").exists()
    assert (tmp_path / "one").exists()
