"""Hashes of bucketed tables, against those that Hive's own classes gave (``bucket_hashes/BucketHashes.java``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from connectors.hive.buckets.hashes import bucket_numbers, has_bucket_hash, hash_column, join_hashes

_TYPES: dict[str, pa.DataType] = {
    "bigint": pa.int64(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "char(6)": pa.string(),
    "date": pa.date32(),
    "decimal(38,10)": pa.decimal128(38, 10),
    "double": pa.float64(),
    "float": pa.float32(),
    "int": pa.int32(),
    "smallint": pa.int16(),
    "string": pa.string(),
    "tinyint": pa.int8(),
    "varchar(6)": pa.string(),
}


def _lines() -> Iterator[tuple[str, str, int, int]]:
    text = (Path(__file__).parent / "bucket_hashes/hashes.tsv").read_text(encoding="utf-8")
    for line in text.rstrip("\n").split("\n"):
        kind, value, first, second = line.split("\t")
        yield kind, value, int(first), int(second)


def _value(kind: str, text: str) -> object:
    if text == "NULL":
        return None
    if kind == "boolean":
        return text == "true"
    if kind.endswith("int"):
        return int(text)
    if kind in ("float", "double"):
        return float(text)
    if kind == "date":
        return date.fromisoformat(text)
    if kind.startswith("decimal"):
        return Decimal(text)
    return text.encode() if kind == "binary" else text


def _hashes(kind: str, values: Sequence[object], version: int) -> list[int]:
    text = kind.partition("(")[0]
    array = pa.array(values, _TYPES[kind])
    found: list[int] = hash_column(array, version, text if text in ("char", "varchar") else "").view(np.int32).tolist()
    return found


@pytest.mark.parametrize("version", [1, 2])
def test_each_type_is_hashed_as_by_hive(version: int) -> None:
    expected: dict[str, dict[str, int]] = defaultdict(dict)
    for kind, text, *hashes in _lines():
        if kind in _TYPES:
            expected[kind][text] = hashes[version - 1]
    assert set(expected) == set(_TYPES)
    for kind, known in expected.items():
        # All at once, in slices, and one by one: values next to each other have no part in a hash.
        values = [_value(kind, text) for text in known]
        assert dict(zip(known, _hashes(kind, values, version), strict=True)) == known, kind
        array = pa.array([values[0], *values], _TYPES[kind]).slice(1)
        text = kind.partition("(")[0] if "char" in kind else ""
        assert hash_column(array, version, text).view(np.int32).tolist() == list(known.values())
        assert [_hashes(kind, [value], version)[0] for value in values] == list(known.values())
    assert not len(hash_column(pa.array([], pa.string()), version))
    assert hash_column(pa.array([None, None], pa.decimal128(5, 1)), version).tolist() == [0, 0]


@pytest.mark.parametrize("version", [1, 2])
def test_several_columns_are_hashed_as_by_hive(version: int) -> None:
    for kind, text, *hashes in _lines():
        if kind == "int,string":
            number, _, word = text.partition(",")
            columns = [
                hash_column(pa.array([_value("int", number)], pa.int32()), version),
                hash_column(pa.array([word]), version),
            ]
            assert join_hashes(columns).view(np.int32).tolist() == [hashes[version - 1]]


def test_buckets_of_negative_hashes_are_counted_as_java_does() -> None:
    # ObjectInspectorUtils.getBucketNumber: (hash & Integer.MAX_VALUE) % buckets.
    hashes = np.array([-1, -(2**31), 7], np.int32).view(np.uint32)
    assert bucket_numbers(hashes, 10).tolist() == [7, 0, 7]


def test_types_whose_hashes_cannot_be_told_are_known() -> None:
    assert not has_bucket_hash(pa.timestamp("us"), 1)
    assert not has_bucket_hash(pa.binary(), 2)
    assert not has_bucket_hash(pa.list_(pa.int32()), 2)
    assert not has_bucket_hash(pa.int32(), 3)
