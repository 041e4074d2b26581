"""Scans that are refused before anything is listed, for want of a filter. Driver side."""

from __future__ import annotations

from connector_spi.errors import UserError
from connector_spi.session import ConnectorSession
from connectors.hudi.config import PARTITION_FILTER_REQUIRED
from connectors.hudi.error_codes import HUDI_PARTITION_FILTER_REQUIRED
from connectors.hudi.handles import HudiTableHandle

__all__ = ["check_partition_filter"]


def check_partition_filter(table: HudiTableHandle, session: ConnectorSession) -> None:
    """Refuses a scan of a partitioned table without a filter on a partition field, where one is required.

    What a join learns while it runs does not count, nor do filters that only Spark can evaluate.

    Raises:
        UserError: There is none (code ``HUDI_PARTITION_FILTER_REQUIRED``).
    """
    fields = table.config.partition_fields
    if not fields or not session.get(PARTITION_FILTER_REQUIRED):
        return
    if not any(column.name in fields for column in dict(table.constraint.domains or {})):
        raise UserError(
            f"the query has no filter on a partition field of {table.name}, which this catalog requires: filter by at "
            f"least one of {', '.join(fields)} with a comparison to a constant, or set the session property "
            f"{PARTITION_FILTER_REQUIRED.name_in_session} to false",
            HUDI_PARTITION_FILTER_REQUIRED,
        )
