"""Splits whose rows have a key in common, and tasks that keep the keys apart. No call into Java here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from connector_spi.errors import ExternalError, InternalError
from connector_spi.handles import Split
from connector_spi.optional.partitioning import SupportsSortOrder, SupportsTablePartitioning, TablePartitioning
from connector_spi.optional.top_n import SortItem
from connector_spi.predicate import Value
from lakeport.error_codes import STALE_PARTITIONING
from lakeport.planning.packing import Packing, cut_splits, pack_splits
from lakeport.planning.scan_plan import PlannedSplits, ScanPlan
from lakeport.plugin_errors import table_words

__all__ = ["Key", "KeyedSplits", "keyed_splits"]

Key = tuple[Value | None, ...]
"""Of partition keys, and of the bucket at the end."""

_LEAST_BYTES = 1 << 20
"""Each key is a task at least, and starting one takes about as long as reading so much."""
_LEAST_BUCKETS_PER_TASK = 0.5
"""Trino goes by buckets from so many for each worker on (``optimizer.table-scan-node-partitioning-min-bucket-to-task-
ratio``): with fewer, some have nothing to do."""


@dataclass(frozen=True, slots=True)
class KeyedSplits:
    """The splits of a scan by their keys.

    Attributes:
        partitioning: What the keys are of.
        keys: The key of each split.
        told: All keys that Spark was told of.
        order: In which the rows of each key come, if its splits are read one after another; none where they do not.
    """

    partitioning: TablePartitioning
    keys: Mapping[Split, Key]
    told: frozenset[Key]
    order: tuple[SortItem, ...] = ()

    def again(self, plan: ScanPlan, splits: Sequence[Split]) -> KeyedSplits:
        """The same for splits that were planned once more, after a runtime filter.

        Splits of keys that Spark was not told of are left out: their files came since, and Spark refuses such keys.

        Raises:
            ExternalError: The splits have no keys any more.
        """
        found = _keys(plan, splits, self.partitioning) if splits else []
        if found is None:
            raise ExternalError(
                f"files of {table_words(plan.table)} were replaced while the query ran, and no longer lie by "
                f"{self.partitioning}: run it again, or set the session property storage_partitioning to NONE",
                STALE_PARTITIONING,
            )
        kept = {split: key for split, key in zip(splits, found, strict=True) if key in self.told}
        return replace(self, keys=kept)

    def tasks(self, splits: Sequence[Split], how: Packing) -> list[tuple[Key, tuple[Split, ...]]]:
        """Groups splits into tasks, each of one key.

        Args:
            splits: Those that are left of the scan. Where none is left, one task without splits keeps a key, since
                Spark asks for one (``BatchScanExec``).
            how: How splits become tasks.
        """
        groups = self.groups(splits)
        if not groups:
            return [(next(iter(self.told)), ())]
        found = sorted(groups.items(), key=lambda item: repr(item[0]))
        if self.order:
            return [(key, tuple(group)) for key, group in found]
        # One task runs all that Spark groups by a key, so that smaller parts would be read one after the other.
        each = replace(how, parallelism=1, max_bytes=how.task_bytes(splits))
        return [(key, task) for key, group in found for task in pack_splits(cut_splits(group, each), each)]

    def words(self) -> list[tuple[str, str]]:
        """What EXPLAIN shows."""
        order = [("ordered by", ", ".join(map(str, self.order)))] if self.order else []
        return [("partitioned by", str(self.partitioning)), *order]

    def groups(self, splits: Sequence[Split]) -> Mapping[Key, Sequence[Split]]:
        """Splits by their keys, in their order."""
        groups: dict[Key, list[Split]] = {}
        for split in splits:
            groups.setdefault(self.keys[split], []).append(split)
        return groups

    def in_order(self, plan: ScanPlan, splits: Sequence[Split]) -> KeyedSplits:
        """The same with the order of rows, where the connector knows one."""
        metadata = plan.access.metadata
        if not isinstance(metadata, SupportsSortOrder):
            return self
        with plan.access.lock.asking(f"give the order of rows of table {table_words(plan.table)}"):
            order = metadata.get_sort_order(plan.access.session, plan.table, list(self.groups(splits).values()))
        return replace(self, order=tuple(order))


def keyed_splits(
    plan: ScanPlan, planned: PlannedSplits, asked: TablePartitioning, how: Packing, *, pays: bool
) -> KeyedSplits | None:
    """The splits of a scan by their keys; ``None`` where they have none, or where tasks by keys would cost more.

    Args:
        plan: The scan.
        planned: Its splits.
        asked: What the keys are of.
        how: How splits become tasks.
        pays: Only where that spares more than small tasks, or few of them, cost.
    """
    splits = planned.splits
    if not splits:
        return None
    if pays and asked.bucketed_by is not None and not _buckets_pay(asked.bucketed_by.count, planned, how):
        # Before anything is read to find out whether the buckets are right.
        return None
    keys = _keys(plan, splits, asked)
    if keys is None or (pays and planned.size_bytes < _LEAST_BYTES * len(set(keys))):
        return None
    return KeyedSplits(asked, dict(zip(splits, keys, strict=True)), frozenset(keys))


def _keys(plan: ScanPlan, splits: Sequence[Split], asked: TablePartitioning) -> Sequence[Key] | None:
    metadata = plan.access.metadata
    if not isinstance(metadata, SupportsTablePartitioning):
        return None
    with plan.access.lock.asking(f"give the keys of splits of table {table_words(plan.table)}"):
        keys = metadata.get_partition_keys(plan.access.session, plan.table, splits, asked)
    if keys is not None and len(keys) != len(splits):
        raise InternalError(
            f"the connector's get_partition_keys gave {len(keys)} keys for {len(splits)} splits of table "
            f"{table_words(plan.table)}: expected one for each (a defect of the connector)"
        )
    return keys


def _buckets_pay(count: int, planned: PlannedSplits, how: Packing) -> bool:
    is_shared_out = count >= _LEAST_BUCKETS_PER_TASK * how.parallelism
    return is_shared_out and planned.size_bytes >= _LEAST_BYTES * min(count, len(planned.splits))
