"""What Spark gets to know of how rows lie: ``KeyGroupedPartitioning``, and a key for each partition of a scan."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.optional.partitioning import TablePartitioning
from connector_spi.optional.top_n import SortItem
from connector_spi.predicate import Value
from connector_spi.schema import ColumnMetadata
from lakeport.spark.bridge import answers
from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.compiled.bucket_functions import bucket_function_name
from lakeport.spark.bridge.jvm import READ, Jvm
from lakeport.spark.bridge.types import spark_schema_json
from lakeport.spark.scan.partitioning.keyed_splits import Key

__all__ = [
    "NO_PARTITIONING",
    "SORT_ORDER",
    "keyed_partitions",
    "spark_order",
    "spark_partitioning",
    "unknown_partitioning",
]

_log = logging.getLogger(__name__)
_PARTITIONING = READ + "partitioning."
_EXPRESSIONS = "org.apache.spark.sql.connector.expressions."
_CLASS = "KeyedParts"
_EPOCH_DAY = date(1970, 1, 1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BUCKET = "bucket"
SORT_ORDER = _EXPRESSIONS + "SortOrder"
_UNKNOWN = _PARTITIONING + "UnknownPartitioning"

NO_PARTITIONING = answers.with_number(_UNKNOWN, 0)
"""That of a scan whose rows lie anyhow."""


def unknown_partitioning(jvm: Jvm) -> JavaObject:
    """As ``NO_PARTITIONING``, where Java has no known answers."""
    return jvm.cls(_UNKNOWN)(0)


def spark_partitioning(jvm: Jvm, partitioning: TablePartitioning) -> JavaObject | None:
    """The ``KeyGroupedPartitioning``; ``None`` where Java lacks the classes that it takes.

    Args:
        jvm: The JVM.
        partitioning: How the rows of each task lie.
    """
    expressions = jvm.cls(_EXPRESSIONS + "Expressions")
    keys = [expressions.identity(f"`{name}`") for name in partitioning.partitioned_by]
    if partitioning.bucketed_by is not None:
        name = bucket_function_name(jvm, partitioning.bucketed_by)
        columns = [expressions.column(f"`{column}`") for column in partitioning.bucketed_by.columns]
        if name is None:
            return None
        keys.append(expressions.apply(name, jvm.array(_EXPRESSIONS + "Expression", columns)))
    if _keyed_parts(jvm) is None:
        return None
    # How many tasks there are Spark counts by itself, after runtime filters.
    return jvm.cls(_PARTITIONING + "KeyGroupedPartitioning")(jvm.array(_EXPRESSIONS + "Expression", keys), 0)


def spark_order(jvm: Jvm, order: Sequence[SortItem]) -> JavaObject:
    """Spark's ``SortOrder[]``."""
    expressions, directions = jvm.cls(_EXPRESSIONS + "Expressions"), jvm.cls(_EXPRESSIONS + "SortDirection")
    nulls = jvm.cls(_EXPRESSIONS + "NullOrdering")
    made = [
        expressions.sort(
            expressions.column(f"`{one.column.name}`"),
            directions.ASCENDING if one.ascending else directions.DESCENDING,
            nulls.NULLS_FIRST if one.nulls_first else nulls.NULLS_LAST,
        )
        for one in order
    ]
    return jvm.array(SORT_ORDER, made)


def keyed_partitions(
    jvm: Jvm,
    partitions: JavaObject,
    partitioning: TablePartitioning,
    columns: Mapping[str, ColumnHandle],
    keys: Sequence[Key],
) -> JavaObject:
    """The partitions of a scan with their keys.

    Args:
        jvm: The JVM.
        partitions: An ``InputPartition[]``.
        partitioning: What the keys are of.
        columns: The table's columns by name.
        keys: The key of each partition.
    """
    types = [ColumnMetadata(name, columns[name].type) for name in partitioning.partitioned_by]
    if partitioning.bucketed_by is not None:
        types.append(ColumnMetadata(_BUCKET, pa.int32()))
    words = {"types": spark_schema_json(types), "keys": [[_word(value) for value in key] for key in keys]}
    made = _keyed_parts(jvm)
    assert made is not None  # spark_partitioning has found it
    return made.apply(partitions, json.dumps(words))


def _keyed_parts(jvm: Jvm) -> JavaObject | None:
    key = "partitions with keys"
    if key not in jvm.shared:
        try:
            jvm.shared[key] = java_classes.shared_constructor(jvm, _CLASS).newInstance(
                jvm.array("java.lang.Object", [])
            )
        except (Py4JError, OSError) as error:
            # Spark shuffles as well.
            name, why = java_classes.PACKAGE + _CLASS, java_classes.first_line(error)
            _log.warning("%s cannot be loaded, so that joins by buckets shuffle: %s", name, why)
            jvm.shared[key] = None
    return jvm.shared[key]


def _word(value: Value | None) -> bool | int | str | None:
    """As Catalyst has it."""
    if isinstance(value, datetime):
        utc = value.replace(tzinfo=UTC) if value.tzinfo is None else value
        return (utc - _EPOCH) // timedelta(microseconds=1)
    if isinstance(value, date):
        return (value - _EPOCH_DAY).days
    if isinstance(value, Decimal):
        return str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    raise NotSupportedError(f"a {type(value).__name__} cannot be the key of a partition of a scan")
