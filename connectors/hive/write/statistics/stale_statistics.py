"""Column statistics of rows that are no longer all: dropped with the write, so that none plans by them. Driver side.

Hive keeps them and says that they are not exact (``COLUMN_STATS_ACCURATE``); Trino and Spark do not look at that.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Table
from connector_spi.errors import ConnectorError
from connectors.hive.definitions.table_formats import is_transactional

__all__ = ["drop_stale_statistics"]

_LOG = logging.getLogger(__name__)


def drop_stale_statistics(metastore: Metastore, table: Table, partitions: Sequence[str]) -> None:
    """Drops the column statistics of a table and of partitions of it, where there are some.

    Call it before the new rows are visible: who is killed in between leaves no statistics, not old ones. No write fails
    by it, since they are for estimates.

    Args:
        metastore: The metastore.
        table: The table. One with partitions may have statistics of its own (Impala's).
        partitions: Names of the partitions that were there before and are written to.
    """
    columns = [column.name for column in table.storage.columns]
    try:
        metastore.writes.drop_table_statistics(table.database, table.name, columns)
        if partitions:
            metastore.writes.drop_partition_statistics(table.database, table.name, columns, partitions)
    except ConnectorError as error:
        # Hive 4 knows the write id that they are of, and drops none: "Cannot delete stats via this API for a
        # transactional table" (HMSHandler.delete_table_column_statistics).
        refused = error.code == metastore_codes.REFUSED_REQUEST and "transactional table" in error.message
        kept = refused and is_transactional(table.parameters)
        _LOG.log(
            logging.INFO if kept else logging.WARNING,
            "the column statistics of %s.%s are of rows from before a write, and could not be dropped: %s",
            table.database,
            table.name,
            error.message,
        )
