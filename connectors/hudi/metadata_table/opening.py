"""The metadata tables of a transaction. Driver side."""

from __future__ import annotations

from dataclasses import dataclass

from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.metadata_table.table import MetadataTable, metadata_errors, open_metadata_table
from connectors.hudi.snapshots.opening import snapshot_of
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.timeline.view import TimelineView
from connectors.hudi.transaction import HudiTransaction, MemoKey

__all__ = ["metadata_table_of", "usable_metadata_table"]


@dataclass(frozen=True, slots=True)
class _MetadataTableKey(MemoKey[MetadataTable]):
    location: str
    view: TimelineView


def metadata_table_of(transaction: HudiTransaction, snapshot: HudiSnapshot) -> MetadataTable:
    """The metadata table of a snapshot; raises any of ``metadata_errors`` where it cannot be used."""
    key = _MetadataTableKey(snapshot.location, snapshot.view)
    return transaction.memo.get(key, lambda: snapshot.memory.get(key, lambda: open_metadata_table(snapshot)))


def usable_metadata_table(transaction: HudiTransaction, table: HudiTableHandle) -> MetadataTable | None:
    """The metadata table of a table; ``None`` where the session does not use it, or it cannot be used."""
    if not table.indexes.files or not table.config.metadata_partitions:
        return None
    try:
        return metadata_table_of(transaction, snapshot_of(transaction, table))
    except metadata_errors:
        return None
