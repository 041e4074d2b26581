"""Random histories: the files that are chosen, read by brute force, give the rows of the model."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pyorc
from hypothesis import given, settings

from connector_spi.errors import ConnectorError
from connectors.hive import error_codes
from connectors.hive.acid.directories.location import acid_files, list_acid_location
from connectors.hive.acid.file import AcidFile
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.acid.history import FIELDS, History
from tests.connectors.hive.acid.model import Snapshot
from tests.connectors.hive.acid.snapshots import acid_snapshot
from tests.connectors.hive.acid.steps import Step, original_counts, step_lists
from tests.connectors.hive.acid.writer import AcidLocation, Row, RowKey
from tests.sampling import examples


@settings(max_examples=examples(100))
@given(originals=original_counts(), steps=step_lists())
def test_every_snapshot_and_version(originals: list[int], steps: list[Step]) -> None:
    with TemporaryDirectory() as home:
        history = History(AcidLocation(Path(home, "t"), FIELDS))
        history.start(originals)
        for step in steps:
            history.apply(step)
            now = history.snapshot()
            assert _read(history, now) == history.model.visible(now)
        for snapshot in [*history.snapshots.values(), *map(history.snapshot().as_of, history.versions())]:
            _check(history, snapshot)


def _check(history: History, snapshot: Snapshot) -> None:
    """Right, or refused where a base has taken in what the snapshot does not see."""
    try:
        found = _read(history, snapshot)
    except ConnectorError as error:
        gone = error.code in (error_codes.HIVE_ACID_HISTORY, error_codes.HIVE_FILE_CLEANED)
        if not (gone and history.has_base_above(snapshot.last_complete)):
            raise
    else:
        assert found == history.model.visible(snapshot), f"{snapshot} of {history.on_disk()}"


def _read(history: History, snapshot: Snapshot) -> dict[RowKey, Row]:
    files, asked = FileSystem(), acid_snapshot(snapshot)
    folder = list_acid_location(files, str(history.folder.path), asked, insert_only=False)
    found: dict[RowKey, Row] = {}
    for file in acid_files(files, folder, row_ids_needed=True):
        for key, row in _rows(file, snapshot):
            assert key not in found, f"{key} is in two files"
            found[key] = row
    return found


def _rows(file: AcidFile, snapshot: Snapshot) -> list[tuple[RowKey, Row]]:
    killed = {
        RowKey(*event[1:4])
        for one in file.deletes
        for event in _lines(one.path, one.size)
        if not one.check_write_ids or snapshot.sees(event[4])
    }
    lines = _lines(file.path, file.size)
    if file.original and lines:
        assert file.keys is not None
        keys = file.keys
        pairs = [
            (RowKey(keys.write_id, keys.bucket_property, keys.first_row_id + number), line)
            for number, line in enumerate(lines)
        ]
    else:
        kept = [line for line in lines if not file.check_write_ids or snapshot.sees(line[4])]
        pairs = [(RowKey(*line[1:4]), line[5]) for line in kept]
    return [(key, row) for key, row in pairs if key not in killed]


def _lines(path: str, size: int) -> list[tuple]:  # type: ignore[type-arg]
    return list(pyorc.Reader(io.BytesIO(Path(path).read_bytes()[:size])))
