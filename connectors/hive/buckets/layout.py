"""Buckets of Hive's tables: which one a file is, by its name, and which ones a filter leaves. Both sides."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain, Value
from connector_spi.properties import boolean_property
from connector_spi.serializable import Serializable
from connectors.hive.buckets.hashes import bucket_numbers, has_bucket_hash, hash_column, join_hashes

__all__ = [
    "BUCKET_EXECUTION",
    "EMPTY_BUCKET_FILES",
    "PREFERRED_PARTITIONING",
    "VALIDATE_BUCKETING",
    "BucketCheck",
    "Bucketing",
    "file_buckets",
    "wanted_buckets",
]

BUCKET_EXECUTION = boolean_property(
    "hive.bucket-execution",
    "Whether filters on the bucketing columns of tables choose files.",
    True,
    session="bucket_execution",
)
EMPTY_BUCKET_FILES = boolean_property(
    "hive.create-empty-bucket-files",
    "Whether an insert into a plain bucketed table also makes files for buckets without rows.",
    False,
    session="create_empty_bucket_files",
)
PREFERRED_PARTITIONING = boolean_property(
    "hive.preferred-write-partitioning",
    "Whether rows of one partition go to one task, or few, of an insert, which makes fewer files; buckets always do.",
    True,
    session="preferred_write_partitioning",
)
VALIDATE_BUCKETING = boolean_property(
    "hive.validate-bucketing",
    "Whether rows of bucketed tables are checked to be in their file's bucket.",
    False,
    session="validate_bucketing",
)

# Hive: 000001_0, also with _copy_1 and an extension; Trino and Presto write the same with an id of the query;
# transactional tables of Hive bucket_00001 and bucket_00001_0; Presto before 312.
_NAMES = (
    re.compile(r"bucket_([0-9]{5,})(?:_[0-9]+)?"),
    re.compile(r"(0[0-9]{4,})_[0-9]+(?:[_.].*)?"),
    re.compile(r"[0-9]{8}_[0-9]{6}_[0-9]{5}_[a-z0-9]{5}_bucket-([0-9]+)(?:[-_.].*)?"),
)
# Spark, into Hive's tables: by the hash of version 1 whatever the table says (V1WritesUtils.getWriterBucketSpec).
_SPARK_NAME = re.compile(r"0[0-9]{4,}_0_part-.*")
_MOST_COMBINATIONS = 1 << 16
_GREGORIAN_START = date(1582, 10, 15)


class BucketCheck(Enum):
    """Which rows of a file are checked to be of its bucket."""

    NONE = "none"
    FIRST_ROWS = "first rows"
    ALL_ROWS = "all rows"


@dataclass(frozen=True, slots=True)
class Bucketing(Serializable):
    """How rows were dealt out to files.

    Attributes:
        columns: Bucketing columns, in order.
        texts: For each ``char`` or ``varchar`` where Hive's type is one, else empty.
        count: Number of buckets.
        version: 1 or 2, ``bucketing_version``.
    """

    columns: tuple[ColumnHandle, ...]
    texts: tuple[str, ...]
    count: int
    version: int

    @property
    def has_hashes(self) -> bool:
        """Whether the bucket of a row can be computed from its values."""
        return all(has_bucket_hash(column.type, self.version) for column in self.columns)

    def buckets(self, arrays: Sequence[pa.Array]) -> pa.Array:
        """The bucket of each row, of arrays of the bucketing columns; NULL where a date is of another calendar."""
        hashes = [hash_column(array, self.version, text) for array, text in zip(arrays, self.texts, strict=True)]
        buckets = pa.array(bucket_numbers(join_hashes(hashes), self.count))
        for array in arrays:
            if pa.types.is_date32(array.type):
                other = pc.fill_null(pc.less(array, pa.scalar(_GREGORIAN_START)), False)
                buckets = pc.if_else(other, pa.scalar(None, buckets.type), buckets)
        return buckets


def file_buckets(paths: Sequence[str], count: int, version: int) -> list[int | None]:
    """The bucket of each file, by its name; ``None`` where the name tells none of the table's buckets.

    Any number of files may be of one bucket.

    Args:
        paths: The files.
        count: Number of the table's buckets.
        version: Its bucketing version.
    """
    names = [path.rpartition("/")[2] for path in paths]
    return [None if version != 1 and _SPARK_NAME.fullmatch(name) else _file_bucket(name, count) for name in names]


def wanted_buckets(bucketing: Bucketing, constraint: TupleDomain[ColumnHandle]) -> frozenset[int] | None:
    """The buckets in which rows of a filter may be; ``None`` where they can be in any, or are in all.

    That takes an equality, IS NULL or a list on every bucketing column, and not too many combinations of them.
    """
    domains = dict(constraint.domains or {})
    if not bucketing.has_hashes or not all(column in domains for column in bucketing.columns):
        return None
    chosen = [_values(domains[column]) for column in bucketing.columns]
    known = [values for values in chosen if values]
    if len(known) < len(chosen) or math.prod(map(len, known)) > _MOST_COMBINATIONS:
        return None
    try:
        arrays = [pa.array(values, column.type) for values, column in zip(known, bucketing.columns, strict=True)]
    except (pa.ArrowInvalid, OverflowError):
        # A value is none of the column's type: no row has it, and no hash is known.
        return None
    hashes = [hash_column(array, bucketing.version, text) for array, text in zip(arrays, bucketing.texts, strict=True)]
    joined = hashes[0]
    for more in hashes[1:]:
        joined = join_hashes([np.repeat(joined, len(more)), np.tile(more, len(joined))])
    wanted = frozenset(bucket_numbers(joined, bucketing.count).tolist())
    return None if len(wanted) == bucketing.count else wanted


def _values(domain: Domain) -> list[Value | None] | None:
    """All values of a domain, as those that have hashes of their own; ``None`` where they cannot be listed."""
    if domain.is_only_null:
        return [None]
    discrete = domain.values.discrete_values()
    if discrete is None:
        return None
    values: list[Value | None] = [None] if domain.null_allowed else []
    for value in discrete:
        if isinstance(value, float) and value != value:
            return None
        if type(value) is date and value < _GREGORIAN_START:
            # Hive 2 hashed the days of another calendar.
            return None
        # Both zeros are equal, and hashed each for itself.
        values += [0.0, -0.0] if isinstance(value, float) and value == 0 else [value]
    return values


def _file_bucket(name: str, count: int) -> int | None:
    for pattern in _NAMES:
        match = pattern.fullmatch(name)
        if match is not None:
            bucket = int(match.group(1))
            return bucket if bucket < count else None
    return None
