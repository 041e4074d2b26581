"""Statistics that an engine has collected, kept in the metastore as Hive keeps them. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

from catalog.metastore.factory import Metastore
from catalog.metastore.model import ColumnStatistics, Parameters, Table
from connector_spi.errors import NotSupportedError, TableNotFoundError
from connector_spi.optional.statistics_collection import CollectedColumn, CollectedStatistics, StatisticsCollection
from connector_spi.predicate import Value
from connectors.hive.handles import HiveTableHandle
from connectors.hive.partitions.selection import get_partitions, prune_partitions
from connectors.hive.schema.counted_types import has_statistics

__all__ = ["keep_collected", "statistics_collection"]

_ROWS = "numRows"
_EXACT = "COLUMN_STATS_ACCURATE"
_SPARKS = "spark.sql.statistics."


def statistics_collection(table: HiveTableHandle) -> StatisticsCollection:
    """What a metastore can keep of a table: each partition apart, and no nested columns.

    Raises:
        NotSupportedError: These are an older version of the table, or its changes.
    """
    if table.changes is not None:
        raise NotSupportedError(f"statistics of the changes of {table.name} are not kept; name the table itself")
    columns = tuple(column.name for column in table.data_columns if has_statistics(column.type))
    return StatisticsCollection(tuple(key.name for key in table.partition_keys), columns)


def keep_collected(metastore: Metastore, table: HiveTableHandle, collected: Sequence[CollectedStatistics]) -> None:
    """Sets the statistics of columns, and the counts of rows.

    The counts are not said to be exact (``COLUMN_STATS_ACCURATE``): rows may have come since they were counted, and
    Hive would answer ``count(*)`` by them. Hive 4 takes exact ones of transactional tables with a write id only
    (``ObjectStore.verifyStatsChangeCtx``).

    Args:
        metastore: The metastore.
        table: What was read, with its filter.
        collected: What was found; partitions of the filter that are not among them have no rows.

    Raises:
        TableNotFoundError: The table is gone.
    """
    entry = metastore.reads.get_table(table.name.schema, table.name.table)
    if entry is None:
        raise TableNotFoundError(f"table {table.name} is not in the metastore")
    if table.partition_keys:
        _keep_of_partitions(metastore, table, entry, collected)
        return
    [found] = collected
    counted = _counted(entry.parameters, found.rows)
    if counted != entry.parameters:
        metastore.writes.alter_table(entry.database, entry.name, replace(entry, parameters=counted))
    columns = _columns(entry, found.columns, found.rows)
    if columns:
        metastore.writes.set_table_statistics(entry.database, entry.name, columns)


def _keep_of_partitions(
    metastore: Metastore, table: HiveTableHandle, entry: Table, collected: Sequence[CollectedStatistics]
) -> None:
    names: dict[tuple[Value | None, ...], list[str]] = {}
    for kept in prune_partitions(metastore.reads, table, table.constraint).kept:
        names.setdefault(tuple(value for _, value in kept.values), []).append(kept.name)
    # Rows of partitions whose names differ and whose values do not, such as 1 and 01, were counted together.
    alone = {values: some[0] for values, some in names.items() if len(some) == 1}
    found = {alone[one.partition]: one for one in collected if one.partition in alone}
    _count_partitions(metastore, table, {name: found[name].rows if name in found else 0 for name in alone.values()})
    columns = {name: _columns(entry, one.columns, one.rows) for name, one in found.items()}
    known = {name: some for name, some in columns.items() if some}
    metastore.writes.set_partition_statistics(entry.database, entry.name, known)


def _count_partitions(metastore: Metastore, table: HiveTableHandle, rows: Mapping[str, int]) -> None:
    names = list(rows)
    entries = get_partitions(metastore.reads, table, names)
    parameters = {name: _counted(one.parameters, rows[name]) for name, one in zip(names, entries, strict=True)}
    if parameters:
        metastore.writes.set_partition_parameters(table.name.schema, table.name.table, parameters)


def _counted(parameters: Parameters, rows: int) -> Parameters:
    # What Spark has counted would stand beside it, and win where Hive's count is 0.
    kept = {key: value for key, value in parameters.items() if not key.startswith(_SPARKS)}
    if kept.get(_ROWS) != str(rows):
        kept.pop(_EXACT, None)
    return Parameters.of({**kept, _ROWS: str(rows)})


def _columns(entry: Table, found: Sequence[CollectedColumn], rows: int) -> list[ColumnStatistics]:
    types = {column.name.lower(): column.type for column in entry.storage.columns}
    return [_column(one, types[one.name.lower()], rows) for one in found]


def _column(found: CollectedColumn, type_text: str, rows: int) -> ColumnStatistics:
    if found.true_count is not None:
        false_count = rows - found.nulls - found.true_count
        return ColumnStatistics(
            found.name.lower(), type_text, found.nulls, true_count=found.true_count, false_count=false_count
        )
    return ColumnStatistics(
        found.name.lower(),
        type_text,
        found.nulls,
        distinct_count=found.distinct,
        low=_bound(found.low),
        high=_bound(found.high),
        average_length=found.average_length,
        max_length=found.max_length,
    )


def _bound(value: Value | None) -> int | float | Decimal | date | datetime | None:
    # The metastore's times are those of a wall clock.
    if isinstance(value, datetime) and value.tzinfo is not None:
        return None
    return value if isinstance(value, (int, float, Decimal, date)) else None
