"""Keys of the metadata table's records (HoodieTableMetadataUtil). Pure."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache

from connectors.toolkit.codecs.xxhash import xxh64

__all__ = [
    "ALL_PARTITIONS",
    "column_stats_key",
    "partition_identifier",
    "partition_stats_key",
]

ALL_PARTITIONS = "__all_partitions__"
"""The key, in the partition ``files``, of the list of all partitions."""

_NOT_PARTITIONED = "."
# HashID.HASH_SEED is the int 0xdabadaba, which becomes a long with its sign.
_SEED = 0xFFFFFFFFDABADABA


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


@lru_cache(maxsize=65536)
def _short_hash(text: str) -> bytes:
    return base64.b64encode(xxh64(text.encode(), _SEED).to_bytes(8, "big"))
