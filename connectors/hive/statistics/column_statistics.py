"""Statistics of columns: Hive's of tables and of partitions, Spark's where Hive has none. Driver side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import ColumnStatistics as MetastoreStatistics
from catalog.metastore.model import Table
from connector_spi.errors import ExternalError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Value
from connector_spi.statistics import ColumnStatistics
from connectors.hive.handles import HiveTableHandle
from connectors.hive.partitions.selection import PartitionName
from connectors.hive.statistics.accuracy import is_current
from connectors.toolkit.partition_values import partition_value

__all__ = ["partition_columns", "partition_key_columns", "table_columns"]

# CatalogColumnStat.toMap of Spark, after ANALYZE TABLE ... FOR COLUMNS.
_SPARK = "spark.sql.statistics.colStats."

Named = tuple[tuple[str, ColumnStatistics], ...]


def table_columns(client: MetastoreClient, table: HiveTableHandle, entry: Table, rows: int | None) -> Named:
    """Statistics of the columns of a table without partitions."""
    names = [column.name for column in table.data_columns]
    found = client.get_table_statistics(table.name.schema, table.name.table, names)
    hive = {one.column: _column(one, rows) for one in found if is_current(entry.parameters, one.column)}
    return _with_sparks(hive, table, entry, rows)


def partition_columns(
    client: MetastoreClient, table: HiveTableHandle, entry: Table, partitions: Sequence[tuple[str, int | None]]
) -> Named:
    """Statistics of the columns over a sample of partitions.

    NULLs and sizes come from the partitions that have them, weighted by rows. The number of distinct values is that of
    the partition with the most, which is too low where partitions differ.

    Args:
        client: The metastore.
        table: The table.
        entry: The metastore's entry of it.
        partitions: Name and rows of each.
    """
    names = [column.name for column in table.data_columns]
    counted = [name for name, _ in partitions]
    found = client.get_partition_statistics(table.name.schema, table.name.table, counted, names) if counted else {}
    rows = dict(partitions)
    by_column: dict[str, list[tuple[MetastoreStatistics, int | None]]] = {}
    for name, columns in found.items():
        for one in columns:
            by_column.setdefault(one.column, []).append((one, rows[name]))
    hive = {column: _merged(parts, complete=len(parts) == len(counted)) for column, parts in by_column.items()}
    known = [count for _, count in partitions]
    total = None if None in known else sum(cast("list[int]", known))
    return _with_sparks(hive, table, entry, total)


def partition_key_columns(
    table: HiveTableHandle, kept: Sequence[PartitionName], rows: Mapping[str, int | None]
) -> Named:
    """Statistics of partition keys, exact from the partitions' names; the NULL fraction uses row counts where known.

    Args:
        table: The table.
        kept: All partitions.
        rows: Row counts of the sampled partitions.
    """
    named = []
    for position, key in enumerate(table.partition_keys):
        values = {name.values[position][1] for name in kept}
        present = [value for value in values if value is not None]
        has_order = not any(isinstance(value, float) and value != value for value in present)
        bounds = (min(present), max(present)) if present and has_order else (None, None)
        statistics = ColumnStatistics(_null_share(kept, position, rows), float(len(present)), None, *bounds)
        named.append((key.name, statistics))
    return tuple(named)


def _null_share(kept: Sequence[PartitionName], position: int, rows: Mapping[str, int | None]) -> float | None:
    nulls = [name for name in kept if name.values[position][1] is None]
    if not nulls:
        return 0.0
    if len(nulls) == len(kept):
        return 1.0
    counts = {name: rows.get(name.name) for name in kept}
    if None in counts.values():
        return len(nulls) / len(kept)
    total = sum(count or 0 for count in counts.values())
    return sum(counts[name] or 0 for name in nulls) / total if total else None


def _column(found: MetastoreStatistics, rows: int | None) -> ColumnStatistics:
    nulls, present = None, None
    if rows is not None and found.null_count is not None:
        nulls = min(1.0, found.null_count / rows) if rows > 0 else None
        present = max(rows - found.null_count, 0)
    elif rows is not None:
        present = rows
    size = None if found.average_length is None or present is None else int(found.average_length * present)
    distinct = found.distinct_count
    if distinct is None and found.true_count is not None and found.false_count is not None:
        distinct = (found.true_count > 0) + (found.false_count > 0)
    known = None if distinct is None else float(distinct)
    return ColumnStatistics(nulls, known, size, found.low, found.high, found.quantiles)


def _merged(parts: Sequence[tuple[MetastoreStatistics, int | None]], complete: bool) -> ColumnStatistics:
    each = [_column(one, rows) for one, rows in parts]
    weighed = [(one.null_fraction, rows) for one, (_, rows) in zip(each, parts, strict=True) if rows]
    shares = [(share, rows) for share, rows in weighed if share is not None]
    total = sum(rows for _, rows in shares)
    nulls = sum(share * rows for share, rows in shares) / total if total else None
    distinct = [one.distinct_values for one in each if one.distinct_values is not None]
    sizes = [one.size_bytes for one in each if one.size_bytes is not None]
    # A partition without bounds holds NULLs only if its NULL fraction is 1.
    bounded = [one for one in each if one.low is not None and one.high is not None]
    without = [one for one in each if one.low is None or one.high is None]
    has_bounds = complete and bounded and all(one.null_fraction == 1.0 for one in without)
    return ColumnStatistics(
        nulls,
        max(distinct, default=None),
        sum(sizes) if complete and len(sizes) == len(each) else None,
        _least([one.low for one in bounded], min) if has_bounds else None,
        _least([one.high for one in bounded], max) if has_bounds else None,
    )


def _least(values: Iterable[Value | None], choose: object) -> Value | None:
    known = [value for value in values if value is not None]
    try:
        return cast("Value | None", choose(known))  # type: ignore[operator]
    except TypeError:
        # The type of the column was changed between the partitions.
        return None


def _with_sparks(hive: Mapping[str, ColumnStatistics], table: HiveTableHandle, entry: Table, rows: int | None) -> Named:
    sparks = {key.lower(): text for key, text in entry.parameters.items() if key.startswith(_SPARK)}
    named = []
    for column in table.data_columns:
        found = hive.get(column.name) or (_sparks(column, sparks, entry, rows) if sparks else None)
        if found is not None:
            named.append((column.name, found))
    return tuple(named)


def _sparks(column: ColumnHandle, texts: Mapping[str, str], entry: Table, rows: int | None) -> ColumnStatistics | None:
    prefix = f"{_SPARK}{column.name}.".lower()
    if f"{prefix}version" not in texts:
        return None

    def number(name: str) -> int | None:
        text = texts.get(prefix + name.lower(), "")
        return int(text) if text.isascii() and text.isdigit() else None

    def bound(name: str) -> Value | None:
        try:
            return partition_value(texts.get(prefix + name), column.type, name)
        except ExternalError:
            # Times of version 1 are in a zone that is not recorded.
            return None

    # Spark counts the rows of all columns together.
    spark_rows = entry.parameters.get("spark.sql.statistics.numRows", "")
    counted = int(spark_rows) if spark_rows.isascii() and spark_rows.isdigit() else rows
    length = number("avgLen")
    nulls = number("nullCount")
    recorded = MetastoreStatistics(column.name, "", nulls, number("distinctCount"), average_length=length)
    found = _column(recorded, counted)
    low, high = bound("min"), bound("max")
    return ColumnStatistics(found.null_fraction, found.distinct_values, found.size_bytes, low, high)
