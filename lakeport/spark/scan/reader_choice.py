"""Who will read a scan, asked while Spark still pushes.

Tasks check filters and aggregate only where they read anyway, and Spark wants to know what they take over before it
says which columns it reads. So splits are planned early; what was planned is used by the scan where it still fits.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from lakeport.planning.scan_plan import PlannedSplits, ScanPlan, needs_connector, plan_native_splits, plan_splits
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.scan.native import constant_names, has_zone_of_times, readable_by_spark

__all__ = ["EarlyPlanning", "PushdownRound", "in_reading_order"]


@dataclass(frozen=True, slots=True)
class _Kept:
    asked: ScanPlan
    made: ScanPlan
    splits: PlannedSplits


class PushdownRound:
    """The scans that one run of Spark's optimizer builds: it makes all builders before it pushes anything into one.

    Where a query has several scans, one may be read by what a filter leaves of another (dynamic partition pruning,
    Bloom filters). Spark tries that only where it sees the filter in its own plan (``PartitionPruning``).
    """

    _of_thread = threading.local()

    def __init__(self) -> None:
        self._scans = 0
        self._pushes = False

    @classmethod
    def join(cls) -> PushdownRound:
        """The round that a new builder belongs to: a run of the optimizer stays in one thread."""
        found: PushdownRound | None = getattr(cls._of_thread, "round", None)
        if found is None or found._pushes:
            found = cls._of_thread.round = cls()
        found._scans += 1
        return found

    def begin_pushing(self) -> None:
        """No builder belongs to it from now on."""
        self._pushes = True

    @property
    def is_alone(self) -> bool:
        """There is one scan of ours in the query."""
        return self._scans == 1


class EarlyPlanning:
    """The early plans of one scan.

    Args:
        jvm: The door to the JVM.
        partition_keys: Names of the partition keys.
    """

    def __init__(self, jvm: Jvm, partition_keys: Sequence[str]) -> None:
        self._jvm = jvm
        self._partition_keys = partition_keys
        self._kept: _Kept | None = None
        self._is_python: bool | None = None

    @property
    def is_python(self) -> bool | None:
        """Who reads, where it was found out: ``True`` is sure, ``False`` is what will be taken for granted."""
        return self._is_python

    def filter_in_tasks(self, plan: ScanPlan, checked: Sequence[ColumnHandle]) -> bool:
        """Whether tasks will read, whatever columns Spark is going to ask for.

        Args:
            plan: With all filters, and with all visible columns.
            checked: The columns of the filters.
        """
        if self._is_python is None:
            self._is_python = not plan.access.native_reader or self._must_be_python(plan, checked)
        return self._is_python

    def aggregate_in_tasks(self, plan: ScanPlan, columns: Sequence[ColumnHandle]) -> bool:
        """Whether tasks will read, with the columns known."""
        if self._is_python is None and not plan.access.native_reader:
            self._is_python = True
        if self._is_python is None:
            made = plan.with_columns(in_reading_order(columns, self._partition_keys))
            self._kept = _Kept(plan, made, plan_splits(made))
            self._is_python = not self._is_native(made, self._kept.splits)
        return self._is_python

    def planned(self, plan: ScanPlan, columns: Sequence[ColumnHandle]) -> tuple[ScanPlan, PlannedSplits | None]:
        """The plan with these columns, and its splits if they are known."""
        kept = self._kept
        if kept is not None and kept.asked == plan:
            if set(columns) == set(kept.made.columns):
                return kept.made.in_order(tuple(columns)), kept.splits
            if not self._is_python and {c.name for c in columns} <= {c.name for c in kept.made.columns}:
                # Files that are native for more columns are so for these.
                return plan.with_columns(tuple(columns)), kept.splits
        return plan.with_columns(tuple(columns)), None

    def _must_be_python(self, plan: ScanPlan, checked: Sequence[ColumnHandle]) -> bool:
        everything = in_reading_order(dict.fromkeys((*plan.columns, *checked)), self._partition_keys)
        whole = plan.in_order(everything)
        splits = plan_native_splits(whole)
        if splits is not None and self._is_native(whole, splits):
            self._kept = _Kept(plan, whole, splits)
            return False
        if splits is not None and not readable_by_spark(self._jvm, splits.splits):
            return True
        # Columns that are not read may be why; those of the filters are read for sure.
        return needs_connector(plan.in_order(in_reading_order(checked, self._partition_keys)))

    def _is_native(self, plan: ScanPlan, splits: PlannedSplits) -> bool:
        names = pa.schema([(column.name, column.type) for column in plan.columns])
        named = bool(splits.splits) and constant_names(splits.splits, names) is not None
        opened = named and readable_by_spark(self._jvm, splits.splits)
        return opened and has_zone_of_times(self._jvm, splits.splits, names)


def in_reading_order(
    columns: Sequence[ColumnHandle] | dict[ColumnHandle, None], keys: Sequence[str]
) -> tuple[ColumnHandle, ...]:
    """Spark's own reader gives partition keys and hidden columns after those of the file; Spark matches by name."""
    return tuple(sorted(columns, key=lambda column: (column.name.startswith("$"), column.name in keys)))
