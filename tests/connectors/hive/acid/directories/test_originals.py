"""Row ids of files without any, as Hive's own tests have them (TestTxnNoBuckets, TestTxnLoadData)."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import NotSupportedError
from connectors.hive.acid.directories.originals import OriginalFiles, keyed_files, path_order
from connectors.hive.acid.file import AcidFile, DeleteFile
from connectors.toolkit.storage.filesystem import FileInfo

ROOT = "hdfs://n/warehouse/t"
EVENTS = DeleteFile(f"{ROOT}/delete_delta_7_7_0000/bucket_00000_0", 9, 0, 7, 7, 0)


def test_union_all_of_an_unbucketed_table() -> None:
    rows = {
        "000000_0": 2,
        "000000_0_copy_1": 1,
        "000001_0": 1,
        "000002_0": 2,
        "HIVE_UNION_SUBDIR_15/000000_0": 2,
        "HIVE_UNION_SUBDIR_16/000000_0": 1,
        "HIVE_UNION_SUBDIR_16/000001_0": 1,
    }

    assert _first_rows(rows) == {
        "000000_0": (0, 536870912, 0),
        "000000_0_copy_1": (0, 536870912, 2),
        "HIVE_UNION_SUBDIR_15/000000_0": (0, 536870912, 3),
        "HIVE_UNION_SUBDIR_16/000000_0": (0, 536870912, 5),
        "000001_0": (0, 536936448, 0),
        "HIVE_UNION_SUBDIR_16/000001_0": (0, 536936448, 1),
        "000002_0": (0, 537001984, 0),
    }


def test_copies_of_one_bucket() -> None:
    rows = {"000000_0": 2, "000000_0_copy_1": 4, "000000_0_copy_2": 1}

    assert [key[2] for key in _first_rows(rows).values()] == [0, 2, 6]


def test_copies_are_in_the_order_of_text() -> None:
    rows = {"000000_0": 1, "000000_0_copy_2": 10, "000000_0_copy_10": 100, "000000_1": 5}

    assert {name: key[2] for name, key in _first_rows(rows).items()} == {
        "000000_0": 0,
        "000000_0_copy_10": 1,
        "000000_0_copy_2": 101,
        "000000_1": 111,
    }


def test_loaded_files_have_the_write_id_of_their_folder() -> None:
    rows = {"000000_0": 2, "000001_0": 3, "000002_0": 1}

    found = _first_rows(rows, "delta_10000001_10000001_0000", write_id=10000001, statement=0)

    assert list(found.values()) == [
        (10000001, 536870912, 0),
        (10000001, 536936448, 0),
        (10000001, 537001984, 0),
    ]


def test_paths_are_compared_as_quoted_uris() -> None:
    # java.net.URI quotes the blank to %20, which sorts behind "!".
    assert path_order("/t/a b/0") == "/t/a%20b/0".encode("utf-16-be")
    assert sorted(["/t/a é", "/t/a!", "/t/a~", "/t/a|"], key=path_order) == ["/t/a!", "/t/a é", "/t/a|", "/t/a~"]
    # A character beyond the first plane has a smaller first unit than a late one of the plane.
    assert sorted(["/\uffee", "/\U0001f600"], key=path_order) == ["/\U0001f600", "/\uffee"]


@pytest.mark.parametrize("count", [2, 40])
def test_each_file_of_a_chain_is_opened_once(count: int) -> None:
    opened: list[str] = []
    lock = threading.Lock()

    def count_rows(path: str) -> int:
        with lock:
            opened.append(path)
        return 3

    names = ["000000_0", *(f"000000_0_copy_{one}" for one in range(1, count)), "000001_0"]
    files = keyed_files([_folder(names)], row_ids_needed=True, count_rows=count_rows)

    # 000001_0 is alone in its bucket: nothing behind it needs its rows.
    assert sorted(opened) == sorted(f"{ROOT}/{name}" for name in names[:-1])
    assert sorted(_keys(one)[2] for one in files if one.bucket == 0) == [3 * one for one in range(count)]


def test_no_file_is_opened_where_nothing_was_deleted() -> None:
    files = keyed_files([_folder(["000000_0", "000000_0_copy_1"])], row_ids_needed=False, count_rows=_never)

    assert [(one.original, one.keys, one.deletes) for one in files] == [(True, None, ())] * 2


def test_only_chains_with_deletes_are_counted() -> None:
    names = ["000000_0", "000000_0_copy_1", "000001_0", "000001_0_copy_1"]
    rows = {f"{ROOT}/000000_0": 5, f"{ROOT}/000000_0_copy_1": 6}

    files = keyed_files([_folder(names, {0: (EVENTS,)})], row_ids_needed=False, count_rows=rows.__getitem__)

    keys = {one.path.removeprefix(ROOT + "/"): one.keys and one.keys.first_row_id for one in files}
    assert keys == {"000000_0": 0, "000000_0_copy_1": 5, "000001_0": None, "000001_0_copy_1": None}
    assert {one.bucket: one.deletes for one in files} == {0: (EVENTS,), 1: ()}


@pytest.mark.parametrize("name", ["part-00000-8ec2-c000", "000001_0.gz", "random"])
def test_a_file_without_a_bucket_has_no_row_ids(name: str) -> None:
    folder = _folder(["000000_0", name])

    files = keyed_files([folder], row_ids_needed=False, count_rows=_never)
    assert {one.bucket: one.keys for one in files} == {0: None, -1: None}

    with pytest.raises(NotSupportedError, match=f"{name} cannot be given row ids.*selected"):
        keyed_files([folder], row_ids_needed=True, count_rows=_never)
    with pytest.raises(NotSupportedError, match=f"{name} cannot be given row ids.*deleted"):
        keyed_files([_folder([name], {0: (EVENTS,)})], row_ids_needed=False, count_rows=_never)


NAMES = st.builds(
    "{}{:06}_{}{}".format,
    st.sampled_from(["", "HIVE_UNION_SUBDIR_1/", "HIVE_UNION_SUBDIR_10/", "a=1/", "b c/"]),
    st.integers(0, 2),
    st.integers(0, 1),
    st.sampled_from(["", "_copy_1", "_copy_2", "_copy_10"]),
)


@given(st.dictionaries(NAMES, st.integers(1, 50), max_size=25))
def test_offsets_are_the_rows_of_smaller_paths(rows: Mapping[str, int]) -> None:
    found = _first_rows(rows)

    for name, (_, _, first_row) in found.items():
        bucket = name.rpartition("/")[2][:6]
        smaller = [one for one in rows if one < name and one.rpartition("/")[2].startswith(bucket)]
        assert first_row == sum(rows[one] for one in smaller)


def _first_rows(
    rows: Mapping[str, int], directory: str = "", write_id: int = 0, statement: int = -1
) -> dict[str, tuple[int, int, int]]:
    root = f"{ROOT}/{directory}".rstrip("/")
    infos = tuple(FileInfo(f"{root}/{name}", 9, 0, False) for name in reversed(list(rows)))
    folder = OriginalFiles(infos, directory, write_id, statement, {})
    files = keyed_files([folder], row_ids_needed=True, count_rows=lambda path: rows[path.removeprefix(root + "/")])
    return {one.path.removeprefix(root + "/"): _keys(one) for one in files}


def _folder(names: list[str], deletes: dict[int, tuple[DeleteFile, ...]] | None = None) -> OriginalFiles:
    infos = tuple(FileInfo(f"{ROOT}/{name}", 9, 0, False) for name in names)
    return OriginalFiles(infos, "", 0, -1, deletes or {})


def _keys(file: AcidFile) -> tuple[int, int, int]:
    assert file.keys is not None
    return file.keys.write_id, file.keys.bucket_property, file.keys.first_row_id


def _never(path: str) -> int:
    raise AssertionError(f"{path} was opened")
