"""By what a join of two tables may go without moving rows. No call into Java here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.optional.partitioning import SupportsTablePartitioning, TablePartitioning
from connector_spi.optional.writing import BucketFunction
from lakeport.planning.scan_plan import ScanPlan
from lakeport.plugin_errors import table_words
from lakeport.spark.scan.environment import SparkEnvironment

__all__ = ["TableLayout", "table_layout"]


@dataclass(frozen=True, slots=True)
class TableLayout:
    """How the rows of a table may lie, as far as Spark can join by it.

    Attributes:
        keys: Partition keys by which rows lie; empty for none.
        key_types: Their types.
        bucket: By which function rows lie in buckets; ``None`` for none.
        bucket_type: The type of its column.
        tells_always: It is reported to Spark even if no other table of the query lies alike.
        other_counts: Spark may join tables of different numbers of buckets.
    """

    keys: tuple[str, ...]
    key_types: tuple[pa.DataType, ...]
    bucket: BucketFunction | None
    bucket_type: pa.DataType | None
    tells_always: bool
    other_counts: bool

    def told(self, others: Sequence[TableLayout]) -> TablePartitioning | None:
        """What is reported to Spark, and what tasks are made by; ``None`` for nothing.

        It is the buckets where another table of the query has such, and else the partition keys where another has keys
        of the same types. Rows that lie by buckets lie by buckets and partition keys as well, so joins by both go by
        buckets, in fewer tasks.

        Args:
            others: How the rows of the query's other tables lie.
        """
        if self.bucket is not None and (self.tells_always or any(map(self._has_buckets_of, others))):
            return TablePartitioning(bucketed_by=self.bucket)
        if self.keys and (self.tells_always or any(one.key_types == self.key_types for one in others)):
            return TablePartitioning(partitioned_by=self.keys)
        return None

    def _has_buckets_of(self, other: TableLayout) -> bool:
        mine, its = self.bucket, other.bucket
        if mine is None or its is None or self.bucket_type != other.bucket_type:
            return False
        if replace(mine, columns=(), count=0) != replace(its, columns=(), count=0):
            return False
        return mine.count == its.count or (self.other_counts and math.gcd(mine.count, its.count) > 1)


def table_layout(
    plan: ScanPlan, columns: Mapping[str, ColumnHandle], environment: SparkEnvironment
) -> TableLayout | None:
    """How the rows of a table may lie; ``None`` where Spark is not to be told.

    Args:
        plan: The scan with nothing pushed yet.
        columns: The table's columns by name.
        environment: Spark.
    """
    access = plan.access
    wanted, metadata = access.engine.storage_partitioning, access.metadata
    if wanted == "NONE" or not isinstance(metadata, SupportsTablePartitioning):
        return None
    if not environment.joins_by_partitioning():
        return None
    with access.lock.asking(f"say how rows of table {table_words(plan.table)} lie"):
        found = metadata.get_table_partitioning(access.session, plan.table)
    if found is None:
        return None
    bucket = found.bucketed_by
    if bucket is not None and len(bucket.columns) > 1:
        # Spark joins by functions of one column only (KeyGroupedPartitioning.supportsExpressions).
        bucket = None
    keys = found.partitioned_by
    if not all(_has_key_type(columns[name].type) for name in keys):
        keys = ()
    return TableLayout(
        keys=keys,
        key_types=tuple(columns[name].type for name in keys),
        bucket=bucket,
        bucket_type=None if bucket is None else columns[bucket.columns[0]].type,
        tells_always=wanted == "ALL",
        other_counts=environment.joins_other_bucket_counts(),
    )


def _has_key_type(data_type: pa.DataType) -> bool:
    """Whether equal values of a type are equal keys: not -0.0 and 0.0, which Spark takes for one value."""
    types = pa.types
    numbers = types.is_boolean(data_type) or types.is_signed_integer(data_type) or types.is_decimal128(data_type)
    return bool(numbers or types.is_date32(data_type) or types.is_timestamp(data_type) or types.is_string(data_type))
