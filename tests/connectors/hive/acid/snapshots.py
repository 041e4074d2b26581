"""Snapshots of the model as the connector's own."""

from __future__ import annotations

from connectors.hive.acid.valid_ids import MAX_ID, AcidSnapshot, ValidIds
from tests.connectors.hive.acid.model import Snapshot

__all__ = ["acid_snapshot"]


def acid_snapshot(snapshot: Snapshot) -> AcidSnapshot:
    """The lists that a metastore would have given to a reader."""
    running = snapshot.open_transactions
    return AcidSnapshot(
        ValidIds(snapshot.high_watermark, snapshot.open, snapshot.aborted, snapshot.minimum_open),
        ValidIds(
            snapshot.transaction_high_watermark,
            running,
            snapshot.aborted_transactions,
            min(running, default=MAX_ID),
        ),
        snapshot.version,
    )
