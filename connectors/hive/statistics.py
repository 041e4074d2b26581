"""Statistics of tables from the metastore. Driver side. They serve estimates, never answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import ColumnStatistics as MetastoreStatistics
from catalog.metastore.model import Table
from connector_spi.statistics import ColumnStatistics, TableStatistics
from connectors.hive.handles import HiveTableHandle
from connectors.hive.partitions import get_partitions, prune_partitions

__all__ = ["table_statistics"]

_SAMPLE = 100
_ROW_KEYS = ("numRows", "spark.sql.statistics.numRows")
_SIZE_KEYS = ("totalSize", "spark.sql.statistics.totalSize", "rawDataSize")


def table_statistics(client: MetastoreClient, table: HiveTableHandle, entry: Table) -> TableStatistics:
    """What the metastore knows of a table, or of the partitions that the handle's filter leaves.

    Counts of Hive go before those of Spark. Of many partitions a sample of 100 stands for all. Column statistics are
    those of whole tables without partitions: asking for each partition's would cost more than they give.
    """
    if table.constraint.is_none:
        return TableStatistics(0.0, 0)
    if table.partition_keys:
        return _partitioned(client, table, entry)
    rows = _count(entry.parameters, _ROW_KEYS)
    size = _count(entry.parameters, _SIZE_KEYS)
    columns: tuple[tuple[str, ColumnStatistics], ...] = ()
    if rows is not None:
        names = [column.name for column in table.data_columns]
        found = client.get_table_statistics(table.name.schema, table.name.table, names)
        columns = tuple((one.column, _column(one, rows)) for one in found)
    return TableStatistics(None if rows is None else float(rows), size, columns)


def _partitioned(client: MetastoreClient, table: HiveTableHandle, entry: Table) -> TableStatistics:
    keys = set(table.partition_keys)
    kept = prune_partitions(client, table, table.constraint.keep(lambda column: column in keys))
    if not kept.kept:
        return TableStatistics(0.0, 0)
    if table.constraint.is_all and len(kept.kept) > _SAMPLE:
        whole = _count(entry.parameters, _ROW_KEYS), _count(entry.parameters, _SIZE_KEYS)
        if whole[0] and whole[1]:
            return TableStatistics(float(whole[0]), whole[1])
    # Evenly over all names: the first partitions are the oldest and often not like the others.
    step = max(1, len(kept.kept) // _SAMPLE)
    sample = get_partitions(client, table, [name.name for name in kept.kept[::step]][:_SAMPLE])
    rows = _mean([_count(partition.parameters, _ROW_KEYS) for partition in sample])
    size = _mean([_count(partition.parameters, _SIZE_KEYS) for partition in sample])
    return TableStatistics(
        None if rows is None else rows * len(kept.kept), None if size is None else int(size * len(kept.kept))
    )


def _mean(counts: Sequence[int | None]) -> float | None:
    known = [count for count in counts if count is not None]
    return sum(known) / len(known) if known else None


def _count(parameters: Mapping[str, str], keys: Sequence[str]) -> int | None:
    for key in keys:
        text = parameters.get(key, "")
        # -1 means that nobody counted.
        if text.isascii() and text.isdigit():
            return int(text)
    return None


def _column(found: MetastoreStatistics, rows: int) -> ColumnStatistics:
    nulls = None if found.null_count is None or rows <= 0 else min(1.0, found.null_count / rows)
    present = rows - (found.null_count or 0)
    size = None if found.average_length is None else int(found.average_length * max(present, 0))
    return ColumnStatistics(
        nulls,
        None if found.distinct_count is None else float(found.distinct_count),
        size,
        found.low,
        found.high,
    )
