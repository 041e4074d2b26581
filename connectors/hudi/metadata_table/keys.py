"""Keys of the metadata table's records (HoodieTableMetadataUtil). Pure."""

from __future__ import annotations

import base64
import hashlib
import struct
from functools import lru_cache

__all__ = [
    "ALL_PARTITIONS",
    "column_stats_key",
    "partition_identifier",
    "partition_stats_key",
    "xxh64",
]

ALL_PARTITIONS = "__all_partitions__"
"""The key, in the partition ``files``, of the list of all partitions."""

_NOT_PARTITIONED = "."
# HashID.HASH_SEED is the int 0xdabadaba, which becomes a long with its sign.
_SEED = 0xFFFFFFFFDABADABA
_MASK = 0xFFFFFFFFFFFFFFFF
_PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def partition_identifier(path: str) -> str:
    """What the metadata table calls a partition: its path, and ``.`` where a table has no partitions."""
    return path or _NOT_PARTITIONED


def column_stats_key(column: str, partition: str, file_name: str) -> bytes:
    """Key of a column's statistics of one file.

    Args:
        column: Name of the column.
        partition: Path of the partition; empty for a table without partitions.
        file_name: Bare name of a base or log file.
    """
    return partition_stats_key(column, partition) + base64.b64encode(hashlib.md5(file_name.encode()).digest())


def partition_stats_key(column: str, partition: str) -> bytes:
    """Key of a column's statistics of a whole partition; keys of its files' statistics begin with it."""
    return _short_hash(column) + _short_hash(partition_identifier(partition))


def xxh64(data: bytes, seed: int) -> int:
    """The 64-bit xxHash of some bytes."""
    one, two, three, four, five = _PRIMES
    at, size = 0, len(data)
    if size >= 32:
        lanes = [(seed + one + two) & _MASK, (seed + two) & _MASK, seed, (seed - one) & _MASK]
        while at + 32 <= size:
            words = struct.unpack_from("<4Q", data, at)
            lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
            at += 32
        value = sum(_rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & _MASK
        for lane in lanes:
            value = ((value ^ _round(0, lane)) * one + four) & _MASK
    else:
        value = (seed + five) & _MASK
    value = (value + size) & _MASK
    while at + 8 <= size:
        value ^= _round(0, int.from_bytes(data[at : at + 8], "little"))
        value = (_rotate(value, 27) * one + four) & _MASK
        at += 8
    if at + 4 <= size:
        value ^= (int.from_bytes(data[at : at + 4], "little") * one) & _MASK
        value = (_rotate(value, 23) * two + three) & _MASK
        at += 4
    for byte in data[at:]:
        value = (_rotate(value ^ (byte * five & _MASK), 11) * one) & _MASK
    value = ((value ^ value >> 33) * two) & _MASK
    value = ((value ^ value >> 29) * three) & _MASK
    return value ^ value >> 32


@lru_cache(maxsize=65536)
def _short_hash(text: str) -> bytes:
    return base64.b64encode(xxh64(text.encode(), _SEED).to_bytes(8, "big"))


def _round(lane: int, word: int) -> int:
    return _rotate((lane + word * _PRIMES[1]) & _MASK, 31) * _PRIMES[0] & _MASK


def _rotate(value: int, by: int) -> int:
    return (value << by | value >> (64 - by)) & _MASK
