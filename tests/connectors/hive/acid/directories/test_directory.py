"""Folders on disk: empty bases, markers, side files, loaded files, deletes by bucket, insert-only tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connector_spi.errors import CorruptFileError, FileMissingError, InvalidArgumentError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.directories.entries import acid_entries
from connectors.hive.acid.directories.location import AcidLocation, acid_files, insert_only_files, list_acid_location
from connectors.hive.acid.directories.unknown_ids import UnknownIds
from connectors.hive.acid.file import AcidFile, SyntheticKeys
from connectors.hive.acid.valid_ids import ALL_VALID, AcidSnapshot, ValidIds
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.acid.writer import RowKey, bucket_property
from tests.connectors.hive.acid.writer.orc_files import inserts, write_acid_file, write_flat_file

FILES = FileSystem()
EVERYTHING = AcidSnapshot(ALL_VALID)


@pytest.mark.parametrize("marker", ["", "_orc_acid_version", ".crc", "empty.orc"])
def test_an_empty_base_hides_what_is_older(tmp_path: Path, marker: str) -> None:
    _put(tmp_path, "000000_0", "delta_1_1/bucket_0", "delta_3_3/bucket_00000")
    (tmp_path / "base_2").mkdir()
    if marker:
        (tmp_path / "base_2" / marker).touch()

    assert _names(tmp_path) == ["delta_3_3/bucket_00000"]


@pytest.mark.parametrize("name", ["-tmp.delta_0000002_0000002_0001", "-tmp.base_0000002", "-tmp.delete_delta_2_2_0000"])
def test_lists_of_files_that_hive_is_writing_are_no_rows(tmp_path: Path, name: str) -> None:
    """Hive 4.0.1 has them beside the table's directories while a statement runs."""
    _put(tmp_path, "delta_1_1/bucket_00000", f"{name}/000000_0.manifest", size=100)
    assert _names(tmp_path) == ["delta_1_1/bucket_00000"]


@pytest.mark.parametrize(("data_format", "chosen"), [("compacted", "delta_1_1"), ("truncated", ""), ("dropped", "")])
def test_only_a_compacted_base_holds_history(tmp_path: Path, data_format: str, chosen: str) -> None:
    # Write id 1 is open: a base that compaction made of it cannot be, one that emptied the table can.
    _put(tmp_path, "delta_1_1/bucket_00000", "base_0/bucket_00000")
    _mark(tmp_path / "base_3", data_format)
    snapshot = AcidSnapshot(ValidIds(3, open=(2,), minimum_open=2))

    assert _names(tmp_path, snapshot) == (["base_0/bucket_00000", "delta_1_1/bucket_00000"] if chosen else [])


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"thisFileVersion":"1","dataFormat":"compacted"}', NotSupportedError),
        ('{"thisFileVersion":"0","dataFormat":"folded"}', NotSupportedError),
        ('{"thisFileVersion":"0"}', CorruptFileError),
        ("[]", CorruptFileError),
        ("{", CorruptFileError),
    ],
)
def test_unknown_markers_are_refused(tmp_path: Path, text: str, error: type[Exception]) -> None:
    _put(tmp_path, "base_3/bucket_00000")
    (tmp_path / "base_3" / "_metadata_acid").write_text(text)

    with pytest.raises(error, match=r"base_3/_metadata_acid.*expected"):
        _list(tmp_path)


@pytest.mark.parametrize(
    ("side_file", "size"),
    [(None, 100), ([40], 40), ([40, 90], 90), (b"\0" * 7 + b"\x28" + b"\0\0\0", 40), (b"", None), (b"\0\0\0", None)],
)
def test_side_files_tell_how_much_is_committed(
    tmp_path: Path, side_file: list[int] | bytes | None, size: int | None
) -> None:
    _put(tmp_path, "delta_1_3/bucket_00000", size=100)
    if side_file is not None:
        content = side_file if isinstance(side_file, bytes) else b"".join(one.to_bytes(8, "big") for one in side_file)
        (tmp_path / "delta_1_3" / "bucket_00000_flush_length").write_bytes(content)

    assert [one.size for one in _files(tmp_path)] == ([] if size is None else [size])


@pytest.mark.parametrize("directory", ["delta_1_1", "delta_1_3_v9", "base_3"])
def test_side_files_count_for_open_batches_only(tmp_path: Path, directory: str) -> None:
    # AcidUtils.ParsedDelta.mayContainSideFile
    _put(tmp_path, f"{directory}/bucket_00000", size=100)
    (tmp_path / directory / "bucket_00000_flush_length").write_bytes((40).to_bytes(8, "big"))

    assert [one.size for one in _files(tmp_path)] == [100]


def test_rows_and_events_of_partly_visible_ranges_are_checked(tmp_path: Path) -> None:
    _put(tmp_path, "delta_1_3/bucket_00000", "delete_delta_1_3/bucket_00000", "delta_4_4_0000/bucket_00000")

    files = _files(tmp_path, AcidSnapshot(ValidIds(4, aborted=(3,))))

    assert [(one.directory, one.check_write_ids) for one in files] == [("delta_1_3", True), ("delta_4_4_0000", False)]
    assert [one.check_write_ids for one in files[0].deletes] == [True]


def test_delete_files_are_found_by_bucket_and_attempt(tmp_path: Path) -> None:
    _put(
        tmp_path,
        "base_1/bucket_00000",
        "base_1/bucket_00001_0",
        "base_1/bucket_00002",
        "delete_delta_2_2_0000/bucket_00000",
        "delete_delta_2_2_0000/bucket_00001_3",
        "delete_delta_3_3_0000/bucket_00000_0",
        "delete_delta_3_3_0000/bucket_00000_1",
        "delete_delta_3_3_0000/_orc_acid_version",
    )

    assert _deletes(tmp_path) == {
        "base_1/bucket_00000": [
            "delete_delta_2_2_0000/bucket_00000",
            "delete_delta_3_3_0000/bucket_00000_0",
            "delete_delta_3_3_0000/bucket_00000_1",
        ],
        "base_1/bucket_00001_0": ["delete_delta_2_2_0000/bucket_00001_3"],
        "base_1/bucket_00002": [],
    }


def test_deletes_that_are_older_than_the_rows_are_passed_over(tmp_path: Path) -> None:
    deletes = ["2_2_0000", "3_3_0001", "3_3_0002", "4_4_0000"]
    _put(tmp_path, "000000_0", *(f"delta_{one}/bucket_00000" for one in ("1_1_0000", "3_3_0001", "4_4_0003")))
    _put(tmp_path, *(f"delete_delta_{one}/bucket_00000" for one in deletes))

    found = {
        name.partition("/")[0]: [one.partition("/")[0].removeprefix("delete_delta_") for one in paths]
        for name, paths in _deletes(tmp_path).items()
    }

    assert found == {
        "000000_0": deletes,
        "delta_1_1_0000": deletes,
        "delta_3_3_0001": ["3_3_0002", "4_4_0000"],
        "delta_4_4_0003": [],
    }


def test_statements_that_compaction_merged_are_not_told_apart(tmp_path: Path) -> None:
    # A statement may have deleted rows of an earlier one of its transaction; both are in the merged folders.
    _put(tmp_path, "delta_5_5_v9/bucket_00000", "delete_delta_5_5_v9/bucket_00000")

    assert _deletes(tmp_path) == {"delta_5_5_v9/bucket_00000": ["delete_delta_5_5_v9/bucket_00000"]}


@pytest.mark.parametrize(("directory", "write_id", "statement"), [("delta_3_3_0002", 3, 2), ("base_4", 4, 0)])
def test_loaded_files_get_row_ids(tmp_path: Path, directory: str, write_id: int, statement: int) -> None:
    _put(tmp_path, "000000_0")
    for name in ("000000_0", "000000_0_copy_1", "000001_0", "HIVE_UNION_SUBDIR_1/000000_0"):
        write_flat_file(tmp_path / directory / name, "k:int", [(1,), (2,), (3,)])
    _put(tmp_path, "delete_delta_9_9_0000/bucket_00000_0")

    files = {one.path.removeprefix(f"{tmp_path}/{directory}/"): one for one in _files(tmp_path) if one.directory}

    assert {name: one.keys for name, one in files.items()} == {
        "000000_0": SyntheticKeys(write_id, bucket_property(0, statement), 0),
        "000000_0_copy_1": SyntheticKeys(write_id, bucket_property(0, statement), 3),
        "HIVE_UNION_SUBDIR_1/000000_0": SyntheticKeys(write_id, bucket_property(0, statement), 6),
        "000001_0": None,
    }
    assert all(one.original and one.directory == directory for one in files.values())
    assert [len(one.deletes) for one in files.values()] == [1, 1, 0, 1]


@pytest.mark.parametrize(
    "path",
    [
        "delta_1_1/part-00000.orc",
        "delta_1_2/000000_0",
        "base_1_v5/000000_0",
        "delete_delta_1_1/000000_0",
        "delete_delta_1_1/x",
        "base_1/data.orc",
        "p=1/delta_1_1/bucket_00000",
        "delta_x/bucket_00000",
    ],
)
def test_what_hive_does_not_write_is_refused_by_name(tmp_path: Path, path: str) -> None:
    _put(tmp_path, path)

    with pytest.raises(NotSupportedError, match=path.split("/")[-2]) as caught:
        _files(tmp_path)

    assert caught.value.code is error_codes.HIVE_ACID_LAYOUT


def test_folders_of_two_kinds_of_files_are_refused(tmp_path: Path) -> None:
    write_flat_file(tmp_path / "delta_1_1" / "000000_0", "k:int", [(1,)])
    _put(tmp_path, "delta_1_1/bucket_00000")

    with pytest.raises(NotSupportedError, match="000000_0 is not a file that Hive writes into delta_1_1"):
        _files(tmp_path)


def test_acid_files_called_as_originals_are_refused(tmp_path: Path) -> None:
    write_acid_file(tmp_path / "delta_1_1" / "000000_0", "k:int", inserts([RowKey(1, bucket_property(0), 0)], [(1,)]))

    with pytest.raises(NotSupportedError, match="000000_0 is not a file that Hive writes into delta_1_1"):
        _files(tmp_path)


def test_copies_that_a_race_of_compactions_left_are_passed_over(tmp_path: Path) -> None:
    _put(tmp_path, "delta_1_1/bucket_00000", "delta_1_1/delta_1_1/bucket_00000", "delta_1_1/sub/bucket_00001")

    assert _names(tmp_path) == ["delta_1_1/bucket_00000", "delta_1_1/sub/bucket_00001"]


def test_hidden_names_above_the_folder_do_not_matter(tmp_path: Path) -> None:
    table = tmp_path / "_x" / ".y" / "t"
    _put(table, "000000_0", "delta_1_1/bucket_00000", "_tmp.delta_2_2/bucket_00000", ".hive-staging_1/000000_0")

    assert _names(table) == ["000000_0", "delta_1_1/bucket_00000"]


def test_insert_only_folders_have_files_of_any_name(tmp_path: Path) -> None:
    old = ["old.csv", "sub/older.csv"]
    _put(tmp_path, *old, "delta_1_1_0000/HIVE_UNION_SUBDIR_1/a.txt", "delta_1_1_0000/k=1/b.txt", "delta_2_2_0000/c")
    _put(tmp_path, "delta_1_1_0000/_SUCCESS", "delta_2_2_0000/delta_2_2_0000/c", "_tmp.base_3/000000_0.manifest")
    (tmp_path / "delta_2_2_0000" / "empty").touch()

    deltas = ["delta_1_1_0000/HIVE_UNION_SUBDIR_1/a.txt", "delta_1_1_0000/k=1/b.txt", "delta_2_2_0000/c"]
    assert _insert_only_names(tmp_path) == [*deltas, *old]
    assert _insert_only_names(tmp_path, ValidIds(2, open=(1,), minimum_open=1)) == ["delta_2_2_0000/c", *old]
    _put(tmp_path, "base_3/d")
    assert _insert_only_names(tmp_path) == ["base_3/d"]


@pytest.mark.parametrize(
    "path", ["delete_delta_1_1/bucket_00000", "delta_1_1/delta_2_2/a", "delta_1_3/bucket_00000_flush_length"]
)
def test_insert_only_folders_have_no_deletes(tmp_path: Path, path: str) -> None:
    _put(tmp_path, path)

    with pytest.raises(NotSupportedError, match=r"insert-only.*which insert-only tables do not have") as caught:
        list_acid_location(FILES, str(tmp_path), EVERYTHING, insert_only=True)

    assert caught.value.code is error_codes.HIVE_ACID_LAYOUT


def test_files_with_row_ids_lie_in_folders_of_transactions(tmp_path: Path) -> None:
    """Read as one from before the transactions, every column of every row would come as NULL."""
    write_flat_file(tmp_path / "bucket_00000", "k:int", [(1,)])
    assert _names(tmp_path) == ["bucket_00000"]
    write_acid_file(tmp_path / "bucket_00001", "k:int", inserts([RowKey(2, 0, 0)], [(1,)]))
    with pytest.raises(NotSupportedError, match=r"bucket_00001 has the ACID columns.*move it to its directory"):
        _names(tmp_path)


def test_insert_only_folders_have_no_files_with_row_ids(tmp_path: Path) -> None:
    """Of a full ACID table that says to be insert-only, every column of every row would come as NULL."""
    write_flat_file(tmp_path / "delta_1_1_0000" / "000000_0", "k:int", [(1,)])
    _put(tmp_path, "delta_1_1_0000/bucket_00000")
    assert len(_insert_only_names(tmp_path)) == 2
    write_acid_file(tmp_path / "delta_2_2_0000" / "bucket_00000_0", "k:int", inserts([RowKey(2, 0, 0)], [(1,)]))
    with pytest.raises(NotSupportedError, match=r"delta_2_2_0000/bucket_00000_0 has the columns of full ACID files"):
        _insert_only_names(tmp_path)


def test_versions_of_insert_only_tables_are_cut_between_folders(tmp_path: Path) -> None:
    _put(tmp_path, "delta_1_1_0000/a", "delta_2_2_0000/b", "delta_3_3_0000/c", "delta_1_3_v9/d", "delta_4_4_0000/e")
    aborted = ValidIds(4, aborted=(2,))

    assert _insert_only_names(tmp_path) == ["delta_1_3_v9/d", "delta_4_4_0000/e"]
    assert _insert_only_names(tmp_path, version=2) == ["delta_1_1_0000/a", "delta_2_2_0000/b"]
    assert _insert_only_names(tmp_path, version=3) == ["delta_1_3_v9/d"]
    # Compaction left the aborted rows out.
    assert _insert_only_names(tmp_path, aborted) == ["delta_1_3_v9/d", "delta_4_4_0000/e"]
    (tmp_path / "delta_2_2_0000" / "b").unlink()
    (tmp_path / "delta_2_2_0000").rmdir()
    assert _insert_only_names(tmp_path, version=1) == ["delta_1_1_0000/a"]
    assert _insert_only_names(tmp_path, aborted, version=2) == ["delta_1_1_0000/a"]
    with pytest.raises(InvalidArgumentError, match=r"delta_1_3_v9 has merged it.*can be read: 3 and later$") as caught:
        _insert_only_names(tmp_path, version=2)
    assert caught.value.code is error_codes.HIVE_ACID_HISTORY


def test_versions_left_of_insert_only_tables_are_those_between_folders(tmp_path: Path) -> None:
    _put(tmp_path, "base_1/a", "delta_2_2_0000/b", "delta_3_4_v9/c", "base_6/d")

    assert _insert_only_names(tmp_path, ValidIds(6), version=4) == ["base_1/a", "delta_2_2_0000/b", "delta_3_4_v9/c"]
    with pytest.raises(InvalidArgumentError, match="versions that can be read: 1 to 2, 6 and later"):
        _insert_only_names(tmp_path, ValidIds(6), version=5)


def test_insert_only_folders_that_are_visible_in_part_are_refused(tmp_path: Path) -> None:
    _put(tmp_path, "delta_1_3/a")

    with pytest.raises(NotSupportedError, match=r"delta_1_3 is of an insert-only table, and only some"):
        _insert_only_names(tmp_path, ValidIds(3, aborted=(2,)))


def test_a_folder_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileMissingError) as caught:
        list_acid_location(FILES, f"{tmp_path}/no", EVERYTHING, insert_only=False)

    assert caught.value.code is not error_codes.HIVE_FILE_CLEANED


@pytest.mark.parametrize("name", ["000000_0", "delta_1_1/000000_0", "delta_2_3/bucket_00000_flush_length"])
def test_files_that_the_cleaner_took_are_told_as_such(tmp_path: Path, name: str) -> None:
    write_flat_file(tmp_path / "000000_0", "k:int", [(1,)])
    write_flat_file(tmp_path / "000000_0_copy_1", "k:int", [(1,)])
    write_flat_file(tmp_path / "delta_1_1" / "000000_0", "k:int", [(1,)])
    _put(tmp_path, "delta_2_3/bucket_00000", "delta_2_3/bucket_00000_flush_length")
    folder = _list(tmp_path)
    (tmp_path / name).unlink()

    with pytest.raises(FileMissingError, match=name) as caught:
        acid_files(FILES, folder, row_ids_needed=True)

    assert caught.value.code is error_codes.HIVE_FILE_CLEANED


def test_every_part_of_a_folder_is_told_with_its_reason(tmp_path: Path) -> None:
    _put(tmp_path, "000000_0", "base_2_v9/bucket_00000", "delta_1_1_0000/bucket_00000", "delta_3_5/bucket_00000")
    _put(tmp_path, "delta_6_6_0001/bucket_00000", "base_6_v12/bucket_00000", "delta_3_5/delta_3_5/bucket_00000")
    snapshot = AcidSnapshot(
        ValidIds(6, open=(6,), aborted=(4,), minimum_open=6), ValidIds(12, open=(12,), minimum_open=12)
    )

    entries = acid_entries(_list(tmp_path, snapshot))

    told = {one.path: (one.kind, one.in_snapshot, one.reason) for one in entries}
    assert told == {
        "000000_0": ("original", False, "obsolete: its rows are in base_2_v9"),
        "base_2_v9": ("base", True, None),
        "base_6_v12": ("base", False, "the compaction that writes it has not committed"),
        "delta_1_1_0000": ("delta", False, "obsolete: its rows are in base_2_v9"),
        "delta_3_5": (
            "delta",
            True,
            "in part: some of its transactions are not visible, so its rows are checked one by one",
        ),
        "delta_3_5/delta_3_5": ("delta", False, "a compaction left it inside of delta_3_5"),
        "delta_6_6_0001": ("delta", False, "its transaction was open"),
    }
    numbers = {one.path.rpartition("/")[2]: (one.first, one.last, one.statement, one.visibility) for one in entries}
    assert numbers["base_2_v9"] == (2, 2, None, 9)
    assert numbers["delta_6_6_0001"] == (6, 6, 1, None)


@pytest.mark.parametrize(("high_watermark", "newest"), [(6, 7), (7, 0), (8, 0)])
def test_what_a_snapshot_has_not_come_to_is_told(tmp_path: Path, high_watermark: int, newest: int) -> None:
    """Also what a version of the past leaves out is known to the snapshot."""
    _put(tmp_path, "delta_7_7_0000/bucket_00000", "base_3_v12/bucket_00000", "delta_2_2_0000/bucket_00000")
    snapshot = AcidSnapshot(ValidIds(high_watermark), ValidIds(11), version=2)
    listed = UnknownIds.of(_list(tmp_path, snapshot))
    assert listed == UnknownIds(str(tmp_path), newest, (12,))


def _put(root: Path, *names: str, size: int = 9) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x" * size)


def _mark(base: Path, data_format: str) -> None:
    base.mkdir()
    (base / "_metadata_acid").write_text(json.dumps({"thisFileVersion": "0", "dataFormat": data_format}))


def _list(root: Path, snapshot: AcidSnapshot = EVERYTHING) -> AcidLocation:
    return list_acid_location(FILES, str(root), snapshot, insert_only=False)


def _files(root: Path, snapshot: AcidSnapshot = EVERYTHING) -> list[AcidFile]:
    return acid_files(FILES, _list(root, snapshot), row_ids_needed=False)


def _names(root: Path, snapshot: AcidSnapshot = EVERYTHING) -> list[str]:
    return [one.path.removeprefix(f"{root}/") for one in _files(root, snapshot)]


def _deletes(root: Path) -> dict[str, list[str]]:
    return {
        file.path.removeprefix(f"{root}/"): [one.path.removeprefix(f"{root}/") for one in file.deletes]
        for file in _files(root)
    }


def _insert_only_names(root: Path, write_ids: ValidIds | None = None, version: int | None = None) -> list[str]:
    snapshot = AcidSnapshot(write_ids or ValidIds(4), ALL_VALID, version)
    folder = list_acid_location(FILES, str(root), snapshot, insert_only=True)
    return [info.path.removeprefix(f"{root}/") for info in insert_only_files(folder)]
