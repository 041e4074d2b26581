"""The table that read options ask for: as of an instant, an incremental query or a change feed. Driver side."""

from __future__ import annotations

from dataclasses import replace

from connector_spi.errors import InvalidArgumentError
from connector_spi.metadata import TableVersion, VersionKind
from connectors.hudi.changes.change_ranges import feed_handle
from connectors.hudi.changes.handles import HudiChangesHandle
from connectors.hudi.changes.incremental import incremental_handle
from connectors.hudi.error_codes import HUDI_BAD_OPTION
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.planning.incremental import plan_writes
from connectors.hudi.read_options import HudiReadOptions, QueryType
from connectors.hudi.snapshots.opening import snapshot_as_of, snapshot_of
from connectors.hudi.transaction import HudiTransaction

__all__ = ["with_read_options"]


def with_read_options(
    transaction: HudiTransaction, table: HudiTableHandle, options: HudiReadOptions, session_zone: str
) -> HudiTableHandle | HudiChangesHandle:
    """The table as read options ask for it; some choose other columns.

    Raises:
        InvalidArgumentError: The options name no instants of the table that can still be read.
        NotSupportedError: The table cannot be read so.
    """
    if options.query_type is not None and table.config.merge_on_read:
        table = replace(table, read_optimized=options.query_type is QueryType.READ_OPTIMIZED)
    wants_time = options.as_of is not None or options.query_type is QueryType.INCREMENTAL
    if wants_time and table.view.until is not None:
        raise InvalidArgumentError(
            f"{table.name} is read AS OF an instant and with options that name another; remove one",
            HUDI_BAD_OPTION,
        )
    if options.feed:
        whole = replace(table, read_optimized=False)
        return feed_handle(snapshot_of(transaction, whole), whole, options, session_zone)
    if options.query_type is QueryType.INCREMENTAL:
        made = incremental_handle(snapshot_of(transaction, table), table, options, session_zone)
        return _with_fallback(transaction, made) if options.full_scan else made
    if options.as_of is None:
        return table
    version = TableVersion(VersionKind.VERSION, options.as_of)
    snapshot = snapshot_as_of(transaction, table.location, version, session_zone)
    return replace(table, view=snapshot.view, metastore_partitions=False)


def _with_fallback(transaction: HudiTransaction, table: HudiTableHandle) -> HudiTableHandle:
    """The handle of an incremental query; of a full scan, where files of the range are gone."""
    if table.writes is None or table.written_in is None:
        return table
    try:
        plan_writes(snapshot_of(transaction, table), table, {}, transaction.pool)
    except InvalidArgumentError:
        return replace(table, writes=replace(table.writes, full_scan=True))
    return table
