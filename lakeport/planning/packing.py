"""From splits to tasks of about equal size, as Spark makes partitions of files (``FilePartition``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from connector_spi.handles import Split

__all__ = ["Packing", "cut_splits", "pack_splits"]


@dataclass(frozen=True, slots=True)
class Packing:
    """How splits become tasks.

    Attributes:
        parallelism: Tasks that run at once.
        max_bytes: A task is not filled beyond it.
        open_cost: Bytes that opening a split counts for.
    """

    parallelism: int
    max_bytes: int
    open_cost: int

    def task_bytes(self, splits: Sequence[Split]) -> int:
        """Bytes of a task, such that all cores have work (``FilePartition.maxSplitBytes``)."""
        total = sum(split.size_bytes + self.open_cost for split in splits)
        return min(self.max_bytes, max(self.open_cost, -(-total // max(self.parallelism, 1))))


def cut_splits(splits: Sequence[Split], how: Packing) -> list[Split]:
    """The same rows in splits that are not larger than a task, where splits can be cut.

    Args:
        splits: All splits of the scan.
        how: How they become tasks.
    """
    most = how.task_bytes(splits)
    return [part for split in splits for part in (split.cut(most) if split.size_bytes > most else (split,))]


def pack_splits(splits: Sequence[Split], how: Packing) -> list[tuple[Split, ...]]:
    """Groups splits into tasks of about equal size, large ones first.

    Args:
        splits: All splits of the scan; a larger one than a task is a task of its own.
        how: How they become tasks.

    Returns:
        The tasks; none is empty.
    """
    target = how.task_bytes(splits)
    tasks: list[tuple[Split, ...]] = []
    current: list[Split] = []
    filled = 0
    for split in sorted(splits, key=lambda s: -s.size_bytes):
        if current and filled + split.size_bytes > target:
            tasks.append(tuple(current))
            current, filled = [], 0
        current.append(split)
        filled += split.size_bytes + how.open_cost
    if current:
        tasks.append(tuple(current))
    return tasks
