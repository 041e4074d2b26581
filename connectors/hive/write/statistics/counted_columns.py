"""Which columns are counted while rows are written. Driver side."""

from __future__ import annotations

from connector_spi.optional.writing import MergeCommand, Overwrite
from connector_spi.properties import boolean_property
from connector_spi.session import ConnectorSession
from connectors.hive.handles import HiveTableHandle
from connectors.hive.write.statistics.written_columns import has_written_statistics

__all__ = ["COLLECT_STATISTICS", "counted_columns"]

COLLECT_STATISTICS = boolean_property(
    "hive.collect-column-statistics-on-write",
    "Whether statistics of the columns of rows that are written are kept in the metastore.",
    True,
    session="collect_column_statistics_on_write",
)


def counted_columns(
    session: ConnectorSession, table: HiveTableHandle, change: MergeCommand | Overwrite | None
) -> tuple[str, ...]:
    """Names of the columns whose statistics are kept with a write; of rows that are deleted none can be.

    Args:
        session: The statement.
        table: The table.
        change: What the write replaces or changes; ``None`` where rows are only added.
    """
    if isinstance(change, MergeCommand) or not session.get(COLLECT_STATISTICS):
        return ()
    return tuple(column.name for column in table.data_columns if has_written_statistics(column.type))
