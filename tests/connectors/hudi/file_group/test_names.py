from __future__ import annotations

import pytest

from connectors.hudi.file_group.names import (
    BaseFileName,
    LogFileName,
    looks_like_data,
    parse_base_file_name,
    parse_log_file_name,
)

ID = "f372f6fb-3f85-49df-b58f-132a37930fe4-0"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"{ID}_2-31-29_20261121092715328.parquet", BaseFileName(ID, "2-31-29", "20261121092715328", "parquet")),
        (f"{ID}_0-0-0_20261121104401903.orc", BaseFileName(ID, "0-0-0", "20261121104401903", "orc")),
        ("files-0000-0_0-5-4_00000000000000000.hfile", BaseFileName("files-0000-0", "0-5-4", "0" * 17, "hfile")),
        # Bootstrap names a file group by a bare UUID, and has instants of its own.
        ("4580e4ba_1-1-2_00000000000001.parquet", BaseFileName("4580e4ba", "1-1-2", "00000000000001", "parquet")),
        (f"{ID}_2-31-29_20261121092715.parquet", BaseFileName(ID, "2-31-29", "20261121092715", "parquet")),
    ],
)
def test_base_files(name: str, expected: BaseFileName) -> None:
    assert parse_base_file_name(name) == expected
    assert parse_log_file_name(name) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f".{ID}_20261121092715328.log.1_0-12-34", LogFileName(ID, "20261121092715328", 1, "0-12-34", False)),
        (f".{ID}_20261121092715328.log.10_0-12-34", LogFileName(ID, "20261121092715328", 10, "0-12-34", False)),
        (f".{ID}_20261121092715328.log.2", LogFileName(ID, "20261121092715328", 2, "", False)),
        (f".{ID}_20261121092715328.log.1_0-12-34.cdc", LogFileName(ID, "20261121092715328", 1, "0-12-34", True)),
    ],
)
def test_log_files(name: str, expected: LogFileName) -> None:
    assert parse_log_file_name(name) == expected
    assert parse_base_file_name(name) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("part-00000.parquet", True),
        ("part-0_20240101000000000_hudiext", True),
        (f"{ID}_0-1-2_20240101000000000_1.log.parquet", True),
        (f".{ID}_20240101000000000.log.a", True),
        (".hoodie_partition_metadata", False),
        (f".{ID}_2-31-29_20261121092715328.parquet.crc", False),
        (f"..{ID}_20261121092715328.log.1_0-12-34.crc", False),
        ("_SUCCESS", False),
        ("_temporary.parquet", False),
        ("notes.txt", False),
    ],
)
def test_files_that_may_hold_rows_are_not_passed_over(name: str, expected: bool) -> None:
    assert parse_base_file_name(name) is None
    assert parse_log_file_name(name) is None
    assert looks_like_data(name) is expected
