"""Folders that real Hive wrote: the files chosen and the row ids given are those that Hive itself names.

The rows are put together here in the plainest way, from whole files, so that only the choice of files, lengths, row
ids and delete files is under test.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from connector_spi.errors import InvalidArgumentError
from connectors.hive import error_codes
from connectors.hive.acid.directories.location import AcidLocation, acid_files, insert_only_files, list_acid_location
from connectors.hive.acid.file import AcidFile
from connectors.hive.acid.valid_ids import AcidSnapshot, ValidIds
from connectors.toolkit.storage.filesystem import FileSystem
from tests.hive_corpus import require_corpus
from tests.paths import CORPUS

FILES = FileSystem()

Key = tuple[int, int, int]


def _cases(pattern: str) -> list[str]:
    return sorted(one.parent.name for one in (CORPUS / "hive").glob(pattern))


ACID_CASES = _cases("*/expected_rowid.json") or ["no corpus"]
INSERT_ONLY_CASES = [
    one.name
    for one in sorted((CORPUS / "hive").glob("*"))
    if one.is_dir() and '"transactional_properties":"insert_only"' in (one / "metastore.json").read_text()
] or ["no corpus"]


@pytest.mark.parametrize("case", ACID_CASES)
def test_rows_and_row_ids_are_hives(case: str) -> None:
    root = require_corpus() / case
    table = root / "table"

    found = Counter(
        (*key, file.path.removeprefix(str(table)))
        for folder in _folders(root, insert_only=False)
        for file in acid_files(FILES, folder, row_ids_needed=True)
        for key in _live_keys(file, folder.snapshot.visible)
    )

    told = json.loads((root / "expected_rowid.json").read_text())["rows"]
    assert found == Counter((int(row[0]), int(row[1]), int(row[2]), row[3]) for row in told)


@pytest.mark.parametrize("case", ACID_CASES)
def test_deletes_apply_where_no_row_ids_are_asked(case: str) -> None:
    root = require_corpus() / case

    found = sum(
        len(_live_keys(file, folder.snapshot.visible)) if file.keys or not file.original else _rows(file)
        for folder in _folders(root, insert_only=False)
        for file in acid_files(FILES, folder, row_ids_needed=False)
    )

    assert found == json.loads((root / "expected.json").read_text())["row_count"]


@pytest.mark.parametrize("case", INSERT_ONLY_CASES)
def test_insert_only_files_have_hives_rows(case: str) -> None:
    root = require_corpus() / case
    input_format = json.loads((root / "metastore.json").read_text())["table"]["sd"]["inputFormat"]

    paths = [info.path for folder in _folders(root, insert_only=True) for info in insert_only_files(folder)]

    if "Text" in input_format:
        found = sum(Path(path).read_bytes().count(b"\n") for path in paths)
    elif "Parquet" in input_format:
        found = sum(parquet.ParquetFile(path).metadata.num_rows for path in paths)
    else:
        found = sum(orc.ORCFile(path).nrows for path in paths)
    assert found == json.loads((root / "expected.json").read_text())["row_count"]


# The same table, kept by Hive at several moments of its life.
@pytest.mark.parametrize(
    ("case", "version", "then"),
    [
        ("acid_minor_writes", 4, "acid_minor"),
        ("acid_major", 4, "acid_minor"),
        ("acid_major_writes", 6, "acid_major"),
        ("converted_unbucketed_more", 10000000, "converted_unbucketed_fresh"),
        ("converted_unbucketed_more", 10000002, "converted_unbucketed"),
        ("load_data_acid", 2, "load_data_acid_fresh"),
    ],
)
def test_a_version_is_what_hive_read_then(case: str, version: int, then: str) -> None:
    corpus = require_corpus()

    found = Counter(
        key
        for folder in _folders(corpus / case, insert_only=False, version=version)
        for file in acid_files(FILES, folder, row_ids_needed=True)
        for key in _live_keys(file, folder.snapshot.visible)
    )

    told = json.loads((corpus / then / "expected_rowid.json").read_text())["rows"]
    assert found == Counter((int(row[0]), int(row[1]), int(row[2])) for row in told)


@pytest.mark.parametrize(
    ("case", "version", "left"),
    [
        ("acid_major_clean", 4, "6 and later"),
        ("acid_major_writes", 5, "6 and later"),
        ("acid_major", 0, "1 to 5, 6 and later"),
        ("converted_unbucketed_major", 10000002, "10000004 and later"),
    ],
)
def test_a_version_that_compaction_took_is_refused(case: str, version: int, left: str) -> None:
    with pytest.raises(
        InvalidArgumentError, match=f"version {version} of .*/{case}/.*versions that can be read: {left}$"
    ) as caught:
        _folders(require_corpus() / case, insert_only=False, version=version)

    assert caught.value.code is error_codes.HIVE_ACID_HISTORY


def _folders(root: Path, *, insert_only: bool, version: int | None = None) -> list[AcidLocation]:
    dump = json.loads((root / "metastore.json").read_text())
    snapshot = AcidSnapshot(
        ValidIds.parse_write_ids(dump["valid_write_id_list"]), ValidIds.parse_transactions(dump["valid_txn_list"])
    )
    if version is not None:
        snapshot = snapshot.at(version)
    locations = [one["sd"]["location"] for one in dump["partitions"]] or [dump["table"]["sd"]["location"]]
    if dump["table"]["partitionKeys"] and not dump["partitions"]:
        locations = []
    return [
        list_acid_location(FILES, location.replace("${TABLE}", str(root / "table")), snapshot, insert_only=insert_only)
        for location in locations
    ]


def _live_keys(file: AcidFile, visible: ValidIds) -> list[Key]:
    deleted = {
        key
        for one in file.deletes
        for key, written in _events(_open(one.path, one.size))
        if visible.is_valid(written) or not one.check_write_ids
    }
    if file.original:
        assert file.keys is not None
        keys = [
            (file.keys.write_id, file.keys.bucket_property, file.keys.first_row_id + position)
            for position in range(_rows(file))
        ]
    else:
        rows = _events(_open(file.path, file.size))
        keys = [key for key, written in rows if visible.is_valid(written) or not file.check_write_ids]
    return [key for key in keys if key not in deleted]


def _rows(file: AcidFile) -> int:
    return int(_open(file.path, file.size).nrows)


def _open(path: str, size: int) -> orc.ORCFile:
    return orc.ORCFile(pa.BufferReader(Path(path).read_bytes()[:size]))


def _events(file: orc.ORCFile) -> list[tuple[Key, int]]:
    table = file.read(columns=file.schema.names[1:5])
    columns = [column.to_pylist() for column in table.columns]
    return [((first, bucket, row), written) for first, bucket, row, written in zip(*columns, strict=True)]
