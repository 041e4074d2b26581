"""Archived timelines of real tables, and damaged ones."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connector_spi.errors import CorruptFileError
from connectors.hudi.table_config import TableConfig
from connectors.hudi.table_properties import read_table_config
from connectors.hudi.timeline.archive import ArchivedCompletions, ArchivedTimeline, read_archive
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hudi.corpus import CASES, HUDI
from tests.connectors.hudi.writer import HudiWriter

ARCHIVED = [case for case in CASES if "_archived_" in case]

real = pytest.mark.skipif(not CASES, reason="the corpus is not here")


def unpacked(case: str, folder: Path) -> tuple[str, TableConfig]:
    with zipfile.ZipFile(HUDI / f"{case}.zip") as packed:
        packed.extractall(folder)
    location = str(folder / case)
    return location, read_table_config(FileSystem(), location)


def read(location: str, config: TableConfig) -> ArchivedTimeline:
    return read_archive(FileSystem(), location, config)


@real
@pytest.mark.parametrize("case", ARCHIVED)
def test_the_archive_and_the_active_timeline_are_the_whole_history(case: str, tmp_path: Path) -> None:
    """The case says how many writes there were."""
    location, config = unpacked(case, tmp_path)
    archive = read(location, config)
    recorded = json.loads((HUDI / f"{case}.json").read_text())
    actions = {"commit", "deltacommit"}
    active = {name[:17] for name in recorded["timeline"] if name.rpartition(".")[2] in actions}
    archived = [item for item in archive.instants if item.action in actions]
    writes = len([step for step in recorded["steps"] if "op" in step])
    assert len(archived) + len(active) >= writes
    assert active.isdisjoint(item.requested for item in archived)
    for instant in archived:
        commit = archive.commit(instant)
        assert commit.operation
        assert commit.schema
        assert all(stat.path for stat in commit.stats)
        assert (instant.completion is None) == (config.layout == 1)


@real
def test_completion_times_are_those_of_the_whole_archive(tmp_path: Path) -> None:
    location, config = unpacked("v9_archived_mor", tmp_path)
    times = ArchivedCompletions(FileSystem(), location, config)
    archived = read(location, config).instants
    assert archived
    assert [times.of(item.requested) for item in archived] == [item.completion for item in archived]
    assert times.of("20000101000000000") is None
    assert times.of("29990101000000000") is None


@real
def test_only_files_of_the_newest_manifest_count(tmp_path: Path) -> None:
    location, config = unpacked("v9_archived_cow", tmp_path)
    before = read(location, config)
    history = Path(location, ".hoodie", "timeline", "history")
    stray = {"instantTime": ["1"], "completionTime": ["2"], "action": ["commit"], "metadata": [b""]}
    pq.write_table(pa.table(stray), history / "00000000000000001_00000000000000002_0.parquet")
    assert read(location, config) == before
    (history / "_version_").unlink()
    assert read(location, config) == before
    (history / "_version_").write_text("not a number")
    assert read(location, config) == before


@real
@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("v9_archived_cow", "timeline/history/manifest_4"),
        ("v9_archived_cow", "timeline/history/20261121101047246_20261121101054014_0.parquet"),
        ("v6_archived_cow", "archived/.commits_.archive.2_1-0-1"),
    ],
)
def test_a_damaged_archive_is_an_error(case: str, name: str, tmp_path: Path) -> None:
    location, config = unpacked(case, tmp_path)
    path = Path(location, ".hoodie", name)
    path.write_bytes(b"damaged" + path.read_bytes()[7:])
    if "parquet" in name:
        path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CorruptFileError) as caught:
        read(location, config)
    assert path.name in str(caught.value)


@pytest.mark.parametrize("version", [6, 9])
def test_a_table_without_an_archive(version: int, tmp_path: Path) -> None:
    writer = HudiWriter(tmp_path / "table", version).create()
    location = str(writer.folder)
    config = read_table_config(FileSystem(), location)
    assert read(location, config).instants == ()
    assert ArchivedCompletions(FileSystem(), location, config).of("20240101000000000") is None
