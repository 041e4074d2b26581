"""What the metadata table lists, against what is on storage, for all tables of the corpus that have one."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from connectors.hudi.file_group.slices import DataFile, FileSlice
from connectors.hudi.log.block import BlockType
from connectors.hudi.log.block_parser import parse_log_blocks
from connectors.hudi.metadata_table.listing import list_files, list_partitions
from connectors.hudi.metadata_table.table import UnusableMetadataTableError, open_metadata_table
from connectors.hudi.partition_path import PartitionPaths
from connectors.hudi.planning.listing import PartitionWalk
from connectors.hudi.planning.scan import slices_of
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.table_properties import read_table_config
from connectors.hudi.timeline.loader import list_instants
from connectors.hudi.timeline.view import committed_test, timeline_view
from connectors.toolkit.storage.byte_source import MemorySource
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem
from tests.paths import CORPUS, TABLES

FILES = FileSystem()


@cache
def with_metadata_table() -> tuple[Path, ...]:
    """Archives of the tables that have one."""
    archives = sorted([*(CORPUS / "hudi").glob("*.zip"), *(TABLES / "hudi").glob("*.zip")])
    return tuple(path for path in archives if _has_one(path))


def _has_one(archive: Path) -> bool:
    with zipfile.ZipFile(archive) as packed:
        [name] = [name for name in packed.namelist() if name.count("/") == 2 and name.endswith("/hoodie.properties")]
        lines = packed.read(name).decode().splitlines()
    return any(line.startswith("hoodie.table.metadata.partitions=files") or ",files" in line for line in lines)


def unpacked(archive: Path, folder: Path) -> Path:
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    [table] = [path for path in folder.iterdir() if (path / ".hoodie").is_dir()]
    return table


def snapshot_of(table: Path) -> HudiSnapshot:
    config = read_table_config(FILES, str(table))
    instants = list_instants(FILES, str(table), config)
    return HudiSnapshot(FILES, str(table), config, timeline_view(instants), tuple(instants))


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as made:
        yield made


def from_metadata(snapshot: HudiSnapshot) -> dict[str, list[FileInfo]]:
    metadata = open_metadata_table(snapshot)
    return list_files(metadata, snapshot.location, list_partitions(metadata))


def from_storage(snapshot: HudiSnapshot, pool: ThreadPoolExecutor) -> dict[str, list[FileInfo]]:
    paths = PartitionPaths((), tells_values=False, hive_style=False, url_encoded=False)
    return dict(PartitionWalk(snapshot, paths, {}, pool).partitions())


@pytest.mark.skipif(not with_metadata_table(), reason=f"no tables in {CORPUS} and {TABLES}")
@pytest.mark.parametrize("archive", with_metadata_table(), ids=lambda path: path.stem)
def test_slices_are_those_on_storage(archive: Path, tmp_path: Path, pool: ThreadPoolExecutor) -> None:
    snapshot = snapshot_of(unpacked(archive, tmp_path))
    indexed = from_metadata(snapshot)
    listed = from_storage(snapshot, pool)
    for path in indexed.keys() | listed.keys():
        for read_optimized in (False, True):
            met = slices_of(snapshot, path, indexed.get(path, ()), read_optimized)
            expected = slices_of(snapshot, path, listed.get(path, ()), read_optimized)
            assert [_known(_counting(snapshot, item)) for item in met] == [
                _known(_counting(snapshot, item)) for item in expected
            ]


def test_a_table_without_one_is_listed_from_storage(tmp_path: Path) -> None:
    archive = CORPUS / "hudi" / "v8_nomdt_cow.zip"
    if not archive.exists():
        pytest.skip(f"no tables in {CORPUS}")
    with pytest.raises(UnusableMetadataTableError, match="it is off"):
        open_metadata_table(snapshot_of(unpacked(archive, tmp_path)))


def _known(file_slice: FileSlice) -> tuple[object, ...]:
    """All but modification times, which are not recorded."""
    files = [item for item in (file_slice.base, *file_slice.logs) if item is not None]
    return file_slice.file_id, file_slice.base_instant, [(item.path, item.size) for item in files]


def _counting(snapshot: HudiSnapshot, file_slice: FileSlice) -> FileSlice:
    """The slice without logs of layout 1 in which no block is of a complete write: those were never noted."""
    if snapshot.config.layout == 2:
        return file_slice
    logs = tuple(log for log in file_slice.logs if _counts(snapshot, log))
    return FileSlice(file_slice.file_id, file_slice.base_instant, file_slice.base, logs)


def _counts(snapshot: HudiSnapshot, log: DataFile) -> bool:
    is_committed = committed_test(snapshot.view)
    blocks = parse_log_blocks(MemorySource(Path(log.path).read_bytes()), log.path)
    return any(block.type is not BlockType.COMMAND and is_committed(block.instant_time) for block in blocks)
