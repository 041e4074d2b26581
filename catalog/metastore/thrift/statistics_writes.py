"""Calls that set and drop column statistics, for Hive 2.3, 3.1 and 4.x."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from catalog.metastore._thrift.lakeport_metastore import ThriftHiveMetastore, ttypes
from catalog.metastore.model import ColumnStatistics
from catalog.metastore.partitions.names import in_batches
from catalog.metastore.thrift.connections.connection import ENGINE, ThriftConnections
from catalog.metastore.thrift.errors import no_table
from catalog.metastore.thrift.statistics import statistics_to_thrift

__all__ = ["drop_partition_statistics", "drop_table_statistics", "set_statistics"]

_AT_ONCE = 500
"""Most partitions of one question: the answer has every column of each."""


def set_statistics(
    connections: ThriftConnections,
    method: str,
    description: ttypes.ColumnStatisticsDesc,
    statistics: Sequence[ColumnStatistics],
) -> None:
    """Sets or replaces statistics of a table's columns, or of a partition's.

    Args:
        connections: The pool.
        method: The call.
        description: Of what they are.
        statistics: One for each column.
    """
    raw = ttypes.ColumnStatistics(description, [statistics_to_thrift(one) for one in statistics], engine=ENGINE)
    connections.call(method, lambda client: getattr(client, method)(raw))


def drop_table_statistics(connections: ThriftConnections, schema: str, table: str, columns: Sequence[str]) -> None:
    """Drops the statistics of all columns of a table, where one of ``columns`` has some.

    Reading is cheaper for the metastore than dropping nothing, which it would tell its listeners.
    """
    asked = ttypes.TableStatsRequest(schema, table, list(columns), engine=ENGINE)
    has_some = bool(columns) and connections.call(
        "get_table_statistics_req",
        lambda client: bool(client.get_table_statistics_req(asked).tableStats),
        lambda _: no_table(schema, table),
    )
    if not has_some:
        return
    request = ttypes.DeleteColumnStatisticsRequest(db_name=schema, tbl_name=table, engine=ENGINE, tableLevel=True)
    connections.call_first_known(
        ("delete_column_statistics_req", lambda client: client.delete_column_statistics_req(request)),
        # Without a name they are of all columns.
        (
            "delete_table_column_statistics",
            lambda client: client.delete_table_column_statistics(schema, table, None, ENGINE),
        ),
        lambda _: no_table(schema, table),
    )


def drop_partition_statistics(
    connections: ThriftConnections, schema: str, table: str, columns: Sequence[str], partitions: Sequence[str]
) -> None:
    """As ``drop_table_statistics``, of partitions: one call for all of them in Hive 4.1, one for each before."""
    found: list[str] = []
    for batch in in_batches(partitions, _AT_ONCE) if columns else ():
        asked = ttypes.PartitionsStatsRequest(schema, table, list(columns), batch, engine=ENGINE)
        found += connections.call(
            "get_partitions_statistics_req",
            partial(_with_statistics, request=asked),
            lambda _: no_table(schema, table),
        )
    for batch in in_batches(found, _AT_ONCE):
        _drop_batch(connections, schema, table, batch)


def _drop_batch(connections: ThriftConnections, schema: str, table: str, names: list[str]) -> None:
    request = ttypes.DeleteColumnStatisticsRequest(
        db_name=schema, tbl_name=table, part_names=names, engine=ENGINE, tableLevel=False
    )

    def drop_all(client: ThriftHiveMetastore.Client) -> bool:
        client.delete_column_statistics_req(request)
        return True

    def drop_one(client: ThriftHiveMetastore.Client, name: str) -> bool:
        client.delete_partition_column_statistics(schema, table, name, None, ENGINE)
        return False

    for name in names:
        done = connections.call_first_known(
            ("delete_column_statistics_req", drop_all),
            ("delete_partition_column_statistics", partial(drop_one, name=name)),
            lambda _: no_table(schema, table),
        )
        if done:
            return


def _with_statistics(client: ThriftHiveMetastore.Client, request: ttypes.PartitionsStatsRequest) -> list[str]:
    return [name for name, some in client.get_partitions_statistics_req(request).partStats.items() if some]
