"""Delete blocks of the first two versions, as HoodieDeleteBlock of Hudi 0.10.1 and 0.11.1 serialized them."""

from __future__ import annotations

import base64
import struct
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.log.block import BlockType, HeaderKey, LogBlock
from connectors.hudi.log.delete_block import read_delete_block

BLOCK = LogBlock(BlockType.DELETE, "log", 0, 100, headers={HeaderKey.INSTANT_TIME: "1"})
KEYS = [("k1", "p1"), ("key-é", "p1"), ("k3", "")]

VERSION_1 = {
    "three": (
        "AAAAAQAAAHABAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZXm7AQQBAW9yZy5hcGFjaGUuaHVkaS5j"
        "b21tb24ubW9kZWwuSG9vZGllS2X5AQFwsQFrsQEBAQQBhmtleS3DqQEBAQGBAWuz"
    ),
    "empty": ("AAAAAQAAAC0BAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZXm7AQE="),
    "shared": (
        "AAAAAQAAANoBAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZXm7AQUBAW9yZy5hcGFjaGUuaHVkaS5j"
        "b21tb24ubW9kZWwuSG9vZGllS2X5AQFzYW1lcGFy9AGCYQEBAQQBgmIBAQEEAeUBeHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4"
        "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4"
        "eHh4eAEBAQABgQ=="
    ),
}
VERSION_2 = {
    "default": (
        "AAAAAgAAAKsBAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAXCx"
        "AWuxAgABAQEBAgEFAYZrZXktw6kCAAEBAQECAQGBAWuzAgA="
    ),
    "int": (
        "AAAAAgAAAK8BAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAXCx"
        "AWuxAgoBAQEBAgEFAYZrZXktw6kCDQEBAQECAQGBAWuzAoCAgIAI"
    ),
    "long": (
        "AAAAAgAAALMBAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAXCx"
        "AWuxCQoBAQEBAgEFAYZrZXktw6kJDQEBAQECAQGBAWuzCYCAgICAgICAIA=="
    ),
    "null": (
        "AAAAAgAAAKkBAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAXCx"
        "AWuxAAEBAQECAQUBhmtleS3DqQABAQEBAgEBgQFrswIA"
    ),
    "double": (
        "AAAAAgAAAMABAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAXCx"
        "AWuxCj/4AAAAAAAAAQEBAQIBBQGGa2V5LcOpCr/QAAAAAAAAAQEBAQIBAYEBa7MKfjfkPIgAdZw="
    ),
    "float": (
        "AAAAAgAAALQBAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAXCx"
        "AWuxBD/AAAABAQEBAgEFAYZrZXktw6kEvoAAAAEBAQECAQGBAWuzBAAAAAA="
    ),
    "string": (
        "AAAAAgAAALIBAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAXCx"
        "AWuxAwGCYQEBAQECAQUBhmtleS3DqQMBgsOpAQEBAQIBAYEBa7MDAXr6"
    ),
    "bool": (
        "AAAAAgAAAKsBAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAXCx"
        "AWuxBQEBAQEBAgEFAYZrZXktw6kFAAEBAQECAQGBAWuzBQE="
    ),
    "bigdecimal": (
        "AAAAAgAAAMwBAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAXCx"
        "AWuxAQNqYXZhLm1hdGguQmlnRGVjaW1h7AEDBNIEAQEBAQIBBQGGa2V5LcOpAQMBAskCAQEBAQIBAYEBa7MBAwECAAA="
    ),
    "mixed": (
        "AAAAAgAAAKoBAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAXCx"
        "AWuxAgABAQEBAgEFAYZrZXktw6kJCgEBAQECAQGBAWuzAA=="
    ),
    "empty": ("AAAAAgAAADABAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQE="),
    "shared": (
        "AAAAAgAAAQsBAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAYJw"
        "AYJhCaK/CQEBAQECBAmivwkBAQEBAgEB5QF4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4"
        "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4Cgmivwk="
    ),
    "timestamp": (
        "AAAAAgAAANABAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAXCx"
        "AWuxAQNqYXZhLnNxbC5UaW1lc3RhbfAB++jHkswxAQEBAQIBBQGGa2V5LcOpAQMBgOiEnej2////AQEBAQIBAYEBa7MBAwEA"
    ),
    "utf8": (
        "AAAAAgAAAOIBAFtMb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5EZWxldGVSZWNvcmS7AQQBAW9yZy5hcGFjaGUuaHVk"
        "aS5jb21tb24ubW9kZWwuRGVsZXRlUmVjb3LkAQECb3JnLmFwYWNoZS5odWRpLmNvbW1vbi5tb2RlbC5Ib29kaWVLZfkBAXCx"
        "AWuxAQNvcmcuYXBhY2hlLmF2cm8udXRpbC5VdGa4AQECYQACAYJhAQEBAQIBBQGGa2V5LcOpAQMBAQPDqQAEAYLDqQEBAQEC"
        "AQGBAWuzAQMBAQN6egAEAXr6"
    ),
}


def read(text: str) -> pa.Table:
    return read_delete_block(BLOCK, pa.py_buffer(base64.b64decode(text)))


def keys_of(table: pa.Table) -> list[tuple[str | None, str | None]]:
    return list(zip(table.column("record_key").to_pylist(), table.column("partition_path").to_pylist(), strict=True))


def test_version_1_holds_keys() -> None:
    met = read(VERSION_1["three"])
    assert keys_of(met) == KEYS
    assert met.column("commit_time_delete").to_pylist() == [True] * 3
    assert read(VERSION_1["empty"]).num_rows == 0
    # One text used several times is written once; texts of 64 letters and more have another form.
    assert keys_of(read(VERSION_1["shared"])) == [
        ("a", "samepart"),
        ("b", "samepart"),
        ("x" * 100, "samepart"),
        ("", None),
    ]


@pytest.mark.parametrize(
    ("case", "values", "defaults"),
    [
        ("default", [None] * 3, [True] * 3),
        ("null", [None] * 3, [True] * 3),
        ("int", [5, -7, 1 << 30], [False] * 3),
        ("long", [5, -7, 1 << 60], [False] * 3),
        ("double", [1.5, -0.25, 1e300], [False] * 3),
        ("float", [1.5, -0.25, 0.0], [False] * 3),
        ("string", ["a", "é", "zz"], [False] * 3),
        ("bool", [True, False, True], [False] * 3),
        ("bigdecimal", [Decimal("12.34"), Decimal("-5.5"), Decimal(0)], [False] * 3),
        ("mixed", [None, 5, None], [True, False, True]),
    ],
)
def test_version_2_holds_ordering_values(case: str, values: list[object], defaults: list[bool]) -> None:
    met = read(VERSION_2[case])
    assert keys_of(met) == KEYS
    assert met.column("ordering").to_pylist() == values
    assert met.column("commit_time_delete").to_pylist() == defaults


def test_version_2_writes_an_object_once() -> None:
    met = read(VERSION_2["shared"])
    assert keys_of(met) == [("a", "p"), ("a", "p"), ("x" * 100, "x" * 100)]
    assert met.column("ordering").to_pylist() == [77777] * 3
    assert read(VERSION_2["empty"]).num_rows == 0


@pytest.mark.parametrize(("case", "name"), [("timestamp", "java.sql.Timestamp"), ("utf8", "Utf8")])
def test_other_classes_are_refused_by_name(case: str, name: str) -> None:
    with pytest.raises(NotSupportedError, match=name):
        read(VERSION_2[case])


@pytest.mark.parametrize(
    "text", [VERSION_1["three"], VERSION_1["shared"], VERSION_2["string"], VERSION_2["bigdecimal"]]
)
def test_every_cut_is_noticed(text: str) -> None:
    data = base64.b64decode(text)
    for cut in range(8, len(data)):
        content = data[:4] + struct.pack(">i", cut - 8) + data[8:cut]
        with pytest.raises(CorruptFileError):
            read_delete_block(BLOCK, pa.py_buffer(content))


@given(st.sampled_from([*VERSION_1.values(), *VERSION_2.values()]), st.integers(8, 400), st.integers(0, 255))
def test_any_changed_byte_gives_as_many_deletes_or_an_error(text: str, position: int, byte: int) -> None:
    data = bytearray(base64.b64decode(text))
    expected = data[8 + data[8:].index(b";"[0] | 0x80) + 2] - 1
    position = 8 + position % (len(data) - 8)
    data[position] = byte
    try:
        met = read_delete_block(BLOCK, pa.py_buffer(bytes(data)))
    except (CorruptFileError, NotSupportedError):
        return
    assert met.num_rows == expected
