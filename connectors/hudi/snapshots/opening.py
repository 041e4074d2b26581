"""The snapshots of a transaction: of each table and view one. Driver side."""

from __future__ import annotations

from dataclasses import dataclass

from connector_spi.metadata import TableVersion
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.snapshots.kept_snapshots import KeptSnapshots
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.snapshots.time_travel import instant_of, snapshot_at
from connectors.hudi.timeline.view import TimelineView
from connectors.hudi.transaction import HudiTransaction, MemoKey

__all__ = ["newest_snapshot", "snapshot_as_of", "snapshot_of"]


@dataclass(frozen=True, slots=True)
class _NewestKey(MemoKey[HudiSnapshot]):
    location: str


@dataclass(frozen=True, slots=True)
class _ViewKey(MemoKey[HudiSnapshot]):
    location: str
    view: TimelineView


def newest_snapshot(transaction: HudiTransaction, location: str) -> HudiSnapshot:
    """The table at its newest completed write when the transaction first met it."""
    return transaction.memo.get(_NewestKey(location), lambda: _newest(transaction, location))


def snapshot_as_of(
    transaction: HudiTransaction, location: str, version: TableVersion, session_zone: str
) -> HudiSnapshot:
    """The table as ``VERSION AS OF`` or ``TIMESTAMP AS OF`` says.

    Raises:
        InvalidArgumentError: It names no instant of the table that can still be read; says what is left.
    """
    newest = newest_snapshot(transaction, location)
    found = snapshot_at(newest, instant_of(newest, version, session_zone))
    return transaction.memo.get(_ViewKey(location, found.view), lambda: found)


def snapshot_of(transaction: HudiTransaction, table: HudiTableHandle) -> HudiSnapshot:
    """The snapshot of a handle, which may be of another transaction: its view is taken, never asked again."""

    def make() -> HudiSnapshot:
        newest = transaction.memo.find(_NewestKey(table.location))
        if newest is None:
            return HudiSnapshot(transaction.files, table.location, table.config, table.view)
        # What was read of timeline and archive is not read again.
        return newest if newest.view == table.view else newest.with_view(table.view)

    return transaction.memo.get(_ViewKey(table.location, table.view), make)


def _newest(transaction: HudiTransaction, location: str) -> HudiSnapshot:
    return KeptSnapshots(transaction.files, transaction.pool, transaction.kept_memory).newest(location)
