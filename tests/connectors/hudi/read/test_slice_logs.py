"""The log files of a slice, each opened once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import CorruptFileError
from connectors.hudi.handles import LogFile
from connectors.hudi.log.block import BlockType
from connectors.hudi.read.slice_logs import SliceLogs
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hudi.log.writer import log_block

BLOCKS = [log_block(BlockType.AVRO_DATA, {0: str(number)}, bytes([number]) * 1000) for number in range(5)]
opens: Counter[str] = Counter()


class CountingFileSystem(FileSystem):
    def open(self, uri: str) -> pa.NativeFile:
        opens[uri] += 1
        return super().open(uri)


def written(folder: Path) -> list[LogFile]:
    """Two blocks, an empty file, and three blocks."""
    logs = []
    for number, content in enumerate((b"".join(BLOCKS[:2]), b"", b"".join(BLOCKS[2:]))):
        path = folder / f"{number}.log"
        path.write_bytes(content)
        logs.append(LogFile(str(path), len(content)))
    return logs


@pytest.mark.parametrize("keep_bytes", [0, 2500, 1 << 20])
def test_each_file_is_opened_once_for_frames_and_contents(keep_bytes: int, tmp_path: Path) -> None:
    opens.clear()
    files = written(tmp_path)
    with SliceLogs(CountingFileSystem(), files, keep_bytes) as logs:
        blocks = list(logs.blocks())
        assert [block.instant_time for block in blocks] == ["0", "1", "2", "3", "4"]
        for number, block in enumerate(blocks):
            content = logs.content(block)
            assert content.slice(0, content.size).to_pybytes() == bytes([number]) * 1000
            assert content.slice(990, 10).to_pybytes() == bytes([number]) * 10
    assert opens == {files[0].path: 1, files[2].path: 1}


@pytest.mark.parametrize("keep_bytes", [0, 1 << 20])
def test_what_was_appended_since_is_not_read(keep_bytes: int, tmp_path: Path) -> None:
    files = written(tmp_path)
    for log in files:
        with open(log.path, "ab") as file:
            file.write(BLOCKS[0])
    with SliceLogs(FileSystem(), files, keep_bytes) as logs:
        assert [block.instant_time for block in logs.blocks()] == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("keep_bytes", [0, 1 << 20])
def test_a_file_that_became_shorter_is_an_error(keep_bytes: int, tmp_path: Path) -> None:
    [log, *_] = written(tmp_path)
    Path(log.path).write_bytes(BLOCKS[0])
    with SliceLogs(FileSystem(), [log], keep_bytes) as logs, pytest.raises(CorruptFileError, match="run the query"):
        list(logs.blocks())
