"""Row counts and sizes of tables from the metastore, for estimates only. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import Partition, Table
from connector_spi.statistics import TableStatistics
from connectors.hive.handles import HiveTableHandle
from connectors.hive.partitions.selection import PartitionName, get_partitions, prune_partitions
from connectors.hive.statistics.column_statistics import partition_columns, partition_key_columns, table_columns

__all__ = ["column_statistics", "table_statistics"]

_SAMPLE = 100
_ROW_KEYS = ("numRows", "spark.sql.statistics.numRows")
_SIZE_KEYS = ("totalSize", "spark.sql.statistics.totalSize", "rawDataSize")


def table_statistics(
    client: MetastoreClient, table: HiveTableHandle, entry: Table, *, count_all: bool = False
) -> TableStatistics:
    """Rows and bytes of a table, or of the partitions that the handle's filter selects.

    Hive's counts have priority over Spark's. Many partitions are estimated from a sample of 100. For a table without
    partitions, the result includes its columns.

    Args:
        client: The metastore.
        table: The table, with the filter.
        entry: The metastore's entry of it.
        count_all: As of ``prune_partitions``, whose call the scan then shares.
    """
    if table.constraint.is_none:
        return TableStatistics(0.0, 0)
    if table.partition_keys:
        found = _sampled(client, table, entry, count_all)
        return TableStatistics(found.rows, found.size)
    return _whole(client, table, entry)


def column_statistics(
    client: MetastoreClient, table: HiveTableHandle, entry: Table, *, count_all: bool = False
) -> TableStatistics:
    """As ``table_statistics``, with the columns of partitioned tables: one more call, over the same sample."""
    if table.constraint.is_none or not table.partition_keys:
        return table_statistics(client, table, entry, count_all=count_all)
    found = _sampled(client, table, entry, count_all)
    columns = partition_columns(client, table, entry, [(name.name, count_rows(one)) for name, one in found.sample])
    keys = partition_key_columns(table, found.kept, {name.name: count_rows(one) for name, one in found.sample})
    return TableStatistics(found.rows, found.size, (*columns, *keys))


def count_rows(entry: Table | Partition) -> int | None:
    """Rows of a table or partition; ``None`` where the metastore has no count."""
    rows = _count(entry.parameters, _ROW_KEYS[:1])
    # Hive leaves 0 where files came from elsewhere.
    if not rows and _count(entry.parameters, _SIZE_KEYS[:1]) != 0:
        rows = _count(entry.parameters, _ROW_KEYS[1:])
    return rows


@dataclass(frozen=True, slots=True)
class _Sampled:
    """The partitions that a filter selects, a sample of their entries, and the estimate from it."""

    kept: tuple[PartitionName, ...]
    sample: tuple[tuple[PartitionName, Partition], ...]
    rows: float | None
    size: int | None


def _whole(client: MetastoreClient, table: HiveTableHandle, entry: Table) -> TableStatistics:
    rows, size = count_rows(entry), _count(entry.parameters, _SIZE_KEYS)
    columns = table_columns(client, table, entry, rows)
    return TableStatistics(None if rows is None else float(rows), size, columns)


def _sampled(client: MetastoreClient, table: HiveTableHandle, entry: Table, count_all: bool) -> _Sampled:
    keys = set(table.partition_keys)
    of_keys = table.constraint.keep(lambda column: column in keys)
    kept = prune_partitions(client, table, of_keys, count_all=count_all).kept
    if not kept:
        return _Sampled((), (), 0.0, 0)
    # Evenly over all names: the first partitions are the oldest and often unlike the others.
    chosen = kept[:: max(1, len(kept) // _SAMPLE)][:_SAMPLE]
    sample = get_partitions(client, table, [name.name for name in chosen])
    rows = _mean([count_rows(partition) for partition in sample])
    size = _mean([_count(partition.parameters, _SIZE_KEYS) for partition in sample])
    all_rows = None if rows is None else rows * len(kept)
    all_bytes = None if size is None else int(size * len(kept))
    if table.constraint.is_all and len(kept) > _SAMPLE:
        all_rows = count_rows(entry) or all_rows
        all_bytes = _count(entry.parameters, _SIZE_KEYS) or all_bytes
    return _Sampled(kept, tuple(zip(chosen, sample, strict=True)), all_rows, all_bytes)


def _mean(counts: Sequence[int | None]) -> float | None:
    known = [count for count in counts if count is not None]
    return sum(known) / len(known) if known else None


def _count(parameters: Mapping[str, str], keys: Sequence[str]) -> int | None:
    for key in keys:
        text = parameters.get(key, "")
        # -1 means that the count is unknown.
        if text.isascii() and text.isdigit():
            return int(text)
    return None
