"""Names of directories and files of transactional tables, and keys of rows (Hive's ``AcidUtils``, ``BucketCodec``)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = [
    "FIRST_WRITE_ID_OF_CONVERTED",
    "PRE_ACID_BASE",
    "RowKey",
    "base_name",
    "bucket_file",
    "bucket_of_property",
    "bucket_property",
    "delete_delta_name",
    "delta_name",
    "original_keys",
]

FIRST_WRITE_ID_OF_CONVERTED = 10_000_001
"""The first write id of a table that was not born transactional."""

PRE_ACID_BASE = -(2**63)
"""Write id of the base that a major compaction of nothing but original files makes."""

_ORIGINAL = re.compile(r"([0-9]+)_[0-9]+(_copy_[0-9]+)?")


class RowKey(NamedTuple):
    """The key of a row, in the order in which files are sorted.

    Attributes:
        write_id: Of the transaction that inserted it; 0 for rows of original files.
        bucket: The bucket property: version, bucket and statement in one int.
        row_id: Counted from 0 in each file that a writer made.
    """

    write_id: int
    bucket: int
    row_id: int


def bucket_property(bucket: int, statement: int = 0) -> int:
    """Version 1 of the codec: 3 bits of version, 12 of bucket from bit 16, 12 of statement from bit 0."""
    assert 0 <= bucket < 4096
    assert 0 <= statement < 4096
    return (1 << 29) | (bucket << 16) | statement


def bucket_of_property(value: int) -> int:
    """The bucket in a property of version 1."""
    assert value >> 29 == 1
    return (value >> 16) & 0xFFF


def base_name(write_id: int, visibility: int = 0) -> str:
    """``base_W``, or ``base_W_vT`` of a compaction by transaction T."""
    number = str(write_id) if write_id < 0 else f"{write_id:07}"
    return f"base_{number}{_suffix(visibility)}"


def delta_name(first: int, last: int, statement: int | None = None, visibility: int = 0) -> str:
    """``delta_A_B``, with the statement where one statement wrote it."""
    told = "" if statement is None else f"_{statement:04}"
    return f"delta_{first:07}_{last:07}{told}{_suffix(visibility)}"


def delete_delta_name(first: int, last: int, statement: int | None = None, visibility: int = 0) -> str:
    """``delete_delta_A_B``."""
    return f"delete_{delta_name(first, last, statement, visibility)}"


def bucket_file(bucket: int, attempt: int | None = None) -> str:
    """``bucket_NNNNN``, with the attempt of the task where Hive 4 wrote it in place."""
    return f"bucket_{bucket:05}" + ("" if attempt is None else f"_{attempt}")


def original_keys(files: Mapping[str, int], write_id: int = 0, statement: int = 0) -> dict[str, Sequence[RowKey]]:
    """Keys of the rows of files that have none in them.

    Args:
        files: Number of rows by path below the folder: the table's, or that of a delta or base with raw files.
        write_id: Of the folder.
        statement: Of the folder.

    Returns:
        The keys of each file, in the order of its rows: row ids go on from file to file of one bucket, by path.
    """
    passed: dict[int, int] = {}
    keys: dict[str, Sequence[RowKey]] = {}
    for path in sorted(files):
        match = _ORIGINAL.fullmatch(path.rpartition("/")[2])
        assert match is not None, f"{path} has no bucket"
        bucket = int(match[1])
        first = passed.get(bucket, 0)
        passed[bucket] = first + files[path]
        own = bucket_property(bucket, statement)
        keys[path] = [RowKey(write_id, own, row) for row in range(first, passed[bucket])]
    return keys


def _suffix(visibility: int) -> str:
    return f"_v{visibility:07}" if visibility else ""
