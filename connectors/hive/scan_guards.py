"""Refuses scans before anything is listed: too many partitions, or no filter where one is required."""

from __future__ import annotations

from connector_spi.errors import ResourceError, UserError
from connector_spi.properties import PropertyValues
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.config import MAX_PARTITIONS, PARTITION_FILTER_REQUIRED, PARTITION_FILTER_SCHEMAS
from connectors.hive.handles import HiveTableHandle

__all__ = ["check_partition_count", "check_partition_filter"]


def check_partition_filter(table: HiveTableHandle, session: ConnectorSession, config: PropertyValues) -> None:
    """Refuses a scan of a partitioned table without a filter on a partition key, where one is required.

    Dynamic filters of joins do not count, nor do filters that only Spark can evaluate.

    Raises:
        UserError: There is no such filter (code ``HIVE_PARTITION_FILTER_REQUIRED``).
    """
    if not table.partition_keys or not session.get(PARTITION_FILTER_REQUIRED):
        return
    schemas = config.get(PARTITION_FILTER_SCHEMAS)
    if schemas and table.name.schema not in schemas:
        return
    filtered = dict(table.constraint.domains or {})
    if not any(key in filtered for key in table.partition_keys):
        names = ", ".join(key.name for key in table.partition_keys)
        raise UserError(
            f"the query has no filter on a partition key of {table.name}, which this catalog requires: filter by at "
            f"least one of {names} with a comparison to a constant, or set the session property "
            f"{PARTITION_FILTER_REQUIRED.name_in_session} to false",
            error_codes.HIVE_PARTITION_FILTER_REQUIRED,
        )


def check_partition_count(table: HiveTableHandle, count: int, config: PropertyValues) -> None:
    """Refuses a scan of more partitions than the catalog allows.

    Raises:
        ResourceError: There are too many (code ``HIVE_EXCEEDED_PARTITION_LIMIT``).
    """
    limit = config.get(MAX_PARTITIONS)
    if count > limit:
        raise ResourceError(
            f"the query would read {count} partitions of {table.name}; {MAX_PARTITIONS.name} allows {limit}: "
            f"filter by {', '.join(key.name for key in table.partition_keys)}, or raise "
            f"{MAX_PARTITIONS.name} in the catalog's properties",
            error_codes.HIVE_EXCEEDED_PARTITION_LIMIT,
        )
