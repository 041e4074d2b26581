"""The splits of a scan, kept for the next one of the same kind. Driver side."""

from __future__ import annotations

from dataclasses import dataclass

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain
from connector_spi.splits import ScanSummary
from connectors.hudi.handles import HudiSplit, HudiTableHandle
from connectors.hudi.transaction import MemoKey

__all__ = ["KeptSplits", "KeptSplitsKey"]

_SPLIT_BYTES = 900


@dataclass(frozen=True, slots=True)
class KeptSplits:
    """All splits of a scan.

    Attributes:
        splits: In order.
        summary: What was skipped.
    """

    splits: tuple[HudiSplit, ...]
    summary: ScanSummary

    @property
    def nbytes(self) -> int:
        """About the memory that it takes."""
        return _SPLIT_BYTES * len(self.splits)


@dataclass(frozen=True, slots=True)
class KeptSplitsKey(MemoKey[KeptSplits]):
    """What splits depend on, at one state of the timeline.

    Attributes:
        table: The table, with what was pushed into it.
        columns: Of the scan.
        constraint: What rows fit, run-time filters included.
        max_size: Bytes of a base file that a split has at most.
        is_reached: The engine can read base files on this storage itself.
    """

    table: HudiTableHandle
    columns: tuple[ColumnHandle, ...]
    constraint: TupleDomain[ColumnHandle]
    max_size: int
    is_reached: bool
