"""Names of folders and files, and the bucket property, as Hive's own tests and files have them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.layout import (
    BASE_BEFORE_TRANSACTIONS,
    DirectoryKind,
    bucket_ids,
    bucket_of_file,
    bucket_property,
    is_acid_file_name,
    is_flush_length_file,
    is_original_name,
    parse_directory,
)

BASE, DELTA, DELETE_DELTA = DirectoryKind.BASE, DirectoryKind.DELTA, DirectoryKind.DELETE_DELTA


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("base_5", (BASE, 5, 5, -1, 0)),
        ("base_0000010_v0000258", (BASE, 10, 10, -1, 258)),
        ("base_-9223372036854775808", (BASE, BASE_BEFORE_TRANSACTIONS, BASE_BEFORE_TRANSACTIONS, -1, 0)),
        ("delta_025_030", (DELTA, 25, 30, -1, 0)),
        ("delta_0000004_0000004_0001", (DELTA, 4, 4, 1, 0)),
        ("delta_6_6_00003", (DELTA, 6, 6, 3, 0)),
        ("delta_0000002_0000002_0000_v0000021", (DELTA, 2, 2, 0, 21)),
        ("delete_delta_0000001_0000004_v0000245", (DELETE_DELTA, 1, 4, -1, 245)),
        ("delete_delta_10000001_10000001_0000", (DELETE_DELTA, 10000001, 10000001, 0, 0)),
    ],
)
def test_names_of_folders(name: str, expected: tuple[object, ...]) -> None:
    found = parse_directory(name)

    assert found is not None
    assert (found.kind, found.first, found.last, found.statement, found.visibility) == expected
    assert found.name == name


@pytest.mark.parametrize("name", ["subdir", "HIVE_UNION_SUBDIR_1", "ds=2020-01-01", "Base_5", "deltas"])
def test_other_folders_are_none_of_transactions(name: str) -> None:
    assert parse_directory(name) is None


@pytest.mark.parametrize(
    "name", ["base_", "base_x", "base_-5", "delta_5", "delta_5_4", "delta_1_2_3_4", "delete_delta_a_b", f"base_{2**63}"]
)
def test_unknown_forms_are_refused(name: str) -> None:
    with pytest.raises(NotSupportedError, match="unknown rest") as caught:
        parse_directory(name)

    assert caught.value.code is error_codes.HIVE_ACID_LAYOUT


# AcidUtils.parseBucketId, and names that other engines give.
@pytest.mark.parametrize(
    ("name", "bucket"),
    [
        ("bucket_00000", 0),
        ("bucket_00012_3", 12),
        ("bucket_00000_flush_length", -1),
        ("bucket_00000_0_flush_length", -1),
        ("000000_0", 0),
        ("000003_1", 3),
        ("000001_0_copy_12", 1),
        ("000001_0.gz", -1),
        ("000001_0_abc", -1),
        ("random", -1),
        ("part-00000-0a1b-c000", -1),
        ("20180102_030405_00001_abcde_bucket-00003", -1),
    ],
)
def test_buckets_of_names(name: str, bucket: int) -> None:
    assert bucket_of_file(name) == bucket
    assert (is_acid_file_name(name) or is_original_name(name)) == (bucket >= 0)
    assert is_flush_length_file(name) == name.endswith("_flush_length")


@pytest.mark.parametrize(
    ("bucket", "statement", "value"),
    [(0, 0, 536870912), (0, 1, 536870913), (1, 0, 536936448), (2, 0, 537001984), (1, 2, 536936450), (0, -1, 536870912)],
)
def test_bucket_properties_of_hive(bucket: int, statement: int, value: int) -> None:
    assert bucket_property(bucket, statement, "f") == value
    assert bucket_ids(np.array([value]), "f").tolist() == [bucket]


@pytest.mark.parametrize(("bucket", "statement"), [(4096, 0), (-1, 0), (0, 4096), (0, -2)])
def test_numbers_that_fit_in_no_property_are_refused(bucket: int, statement: int) -> None:
    with pytest.raises(NotSupportedError, match=r"/t/5000_0 cannot be given row ids"):
        bucket_property(bucket, statement, "/t/5000_0")


def test_properties_of_hive_2_are_the_bucket() -> None:
    assert bucket_ids(np.array([0, 7, 4096]), "f").tolist() == [0, 7, 4096]


@pytest.mark.parametrize("value", [2 << 29, -1])
def test_unknown_versions_are_refused(value: int) -> None:
    with pytest.raises(CorruptFileError, match=r"/t/bucket_00000 holds .* expected 0 or 1"):
        bucket_ids(np.array([0, value]), "/t/bucket_00000")


@given(st.lists(st.tuples(st.integers(0, 4095), st.integers(0, 4095), st.booleans())))
def test_arrays_are_decoded_as_numbers(parts: list[tuple[int, int, bool]]) -> None:
    values = [bucket if old else bucket_property(bucket, statement, "f") for bucket, statement, old in parts]

    assert bucket_ids(np.array(values, dtype=np.int64), "f").tolist() == [bucket for bucket, _, _ in parts]
