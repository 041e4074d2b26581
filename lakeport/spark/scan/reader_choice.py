"""Who reads a scan: Spark's own reader, or Python tasks. Decided once, from the splits; nothing here calls Java itself.

Spark asks what tasks take over (filters, aggregates) before it says which columns it reads, and tasks may only take
what no native reader would have to do. So splits may be planned while Spark still pushes; what was planned and chosen
then is handed to the scan where it still fits. See docs/adr/0003 and 0004.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from connector_spi.handles import ColumnHandle, Split
from lakeport.planning.scan_plan import PlannedSplits, ScanPlan, needs_connector, plan_native_splits, plan_splits
from lakeport.spark.scan.environment import SparkEnvironment
from lakeport.spark.tasks.task import TaskWork

__all__ = [
    "EarlyPlanning",
    "NativeRead",
    "PlannedScan",
    "TaskRead",
    "choose_reader",
    "in_reading_order",
    "may_be_native",
]

_FORMATS = ("parquet", "orc")
_NO_WORK = TaskWork()


@dataclass(frozen=True, slots=True)
class NativeRead:
    """Spark's own reader reads every split.

    Attributes:
        format: ``parquet`` or ``orc``.
        constants: Names of the last columns, which the files do not have.
    """

    format: str
    constants: tuple[str, ...]

    def with_columns(self, columns: Iterable[ColumnHandle]) -> NativeRead | None:
        """The same for fewer columns, as files that are native for more columns are so for these.

        ``None`` where constants are not the last of the columns.
        """
        return _native_read_of(self.format, [column.name for column in columns], self.constants)


@dataclass(frozen=True, slots=True)
class TaskRead:
    """Python tasks open the splits by the connector's page sources.

    Attributes:
        work: What they do with the rows.
    """

    work: TaskWork = _NO_WORK


@dataclass(frozen=True, slots=True)
class PlannedScan:
    """The splits of a scan and who reads them, for one state of what Spark has pushed.

    Attributes:
        splits: All splits.
        reader: Who reads them.
    """

    splits: PlannedSplits
    reader: NativeRead | TaskRead


def choose_reader(
    plan: ScanPlan, splits: PlannedSplits, work: TaskWork, environment: SparkEnvironment
) -> NativeRead | TaskRead:
    """Decides who reads: Spark's own reader where it can read every split and gives the same rows, else tasks.

    Args:
        plan: With the columns in reading order.
        splits: All splits of the scan.
        work: What tasks took over; where it is something, only they can read.
        environment: Spark.
    """
    if not may_be_native(plan, work):
        return TaskRead(work)
    found = _native_read([column.name for column in plan.columns], splits.splits)
    if found is None or not _is_readable(splits.splits, environment):
        return TaskRead(work)
    has_times = found.format == "orc" and any("timestamp" in str(column.type) for column in plan.columns)
    # Spark's reader of ORC makes java.sql.Timestamp of times, in the zone of each task's JVM.
    return TaskRead(work) if has_times and not environment.tasks_are_in_utc() else found


def may_be_native(plan: ScanPlan, work: TaskWork) -> bool:
    """Whether Spark's own reader may read at all: not where it is switched off, nor where tasks have work."""
    return work.is_nothing and plan.access.engine.native_reader


class EarlyPlanning:
    """Finds out who will read a scan while Spark still pushes, and keeps what was planned for it.

    Args:
        environment: Spark.
        partition_keys: Names of the partition keys.
    """

    def __init__(self, environment: SparkEnvironment, partition_keys: Sequence[str]) -> None:
        self._environment = environment
        self._partition_keys = partition_keys
        self._kept: _Kept | None = None
        self._tasks_read: bool | None = None

    @property
    def tasks_read(self) -> bool | None:
        """Who reads, where it was asked: ``True`` is sure, ``False`` is what is taken for granted from then on."""
        return self._tasks_read

    def filter_in_tasks(self, plan: ScanPlan, checked: Sequence[ColumnHandle]) -> bool:
        """Whether tasks will read, whatever columns Spark is going to ask for.

        Args:
            plan: With all filters, and with all visible columns.
            checked: The columns of the filters.
        """
        if self._tasks_read is None:
            self._tasks_read = not plan.access.engine.native_reader or self._must_be_tasks(plan, checked)
        return self._tasks_read

    def aggregate_in_tasks(self, plan: ScanPlan, columns: Sequence[ColumnHandle]) -> bool:
        """Whether tasks will read, with the columns known."""
        if self._tasks_read is None and not plan.access.engine.native_reader:
            self._tasks_read = True
        if self._tasks_read is None:
            made = plan.with_columns(in_reading_order(columns, self._partition_keys))
            found = self._keep(plan, made, plan_splits(made))
            self._tasks_read = isinstance(found, TaskRead)
        return self._tasks_read

    def planned(
        self, plan: ScanPlan, columns: tuple[ColumnHandle, ...], work: TaskWork
    ) -> tuple[ScanPlan, PlannedScan | None]:
        """The plan with these columns; its splits and reader where they are known for them."""
        kept = self._kept
        if kept is None or kept.asked != plan:
            return plan.with_columns(columns), None
        splits, reader = kept.planned.splits, kept.planned.reader
        is_whole = set(columns) == set(kept.made.columns)
        made = kept.made.in_order(columns) if is_whole else plan.with_columns(columns)
        if isinstance(reader, NativeRead) and work.is_nothing:
            is_part = {column.name for column in columns} <= {column.name for column in kept.made.columns}
            found = reader.with_columns(columns) if is_part else None
            return made, None if found is None else PlannedScan(splits, found)
        # Splits for tasks are made for the very columns, unless there are none.
        return made, PlannedScan(splits, TaskRead(work)) if is_whole or not splits.splits else None

    def _must_be_tasks(self, plan: ScanPlan, checked: Sequence[ColumnHandle]) -> bool:
        everything = in_reading_order(dict.fromkeys((*plan.columns, *checked)), self._partition_keys)
        whole = plan.in_order(everything)
        splits = plan_native_splits(whole)
        if splits is None:
            # Columns that are not read may be why; those of the filters are read for sure.
            return needs_connector(plan.in_order(in_reading_order(checked, self._partition_keys)))
        if isinstance(self._keep(plan, whole, splits), NativeRead):
            return False
        if not splits.splits:
            return True
        # For fewer columns the splits may be native still; tasks want splits that are made for their columns.
        self._kept = None
        return not _is_readable(splits.splits, self._environment)

    def _keep(self, asked: ScanPlan, made: ScanPlan, splits: PlannedSplits) -> NativeRead | TaskRead:
        reader = choose_reader(made, splits, _NO_WORK, self._environment)
        self._kept = _Kept(asked, made, PlannedScan(splits, reader))
        return reader


@dataclass(frozen=True, slots=True)
class _Kept:
    asked: ScanPlan
    made: ScanPlan
    planned: PlannedScan


def in_reading_order(columns: Iterable[ColumnHandle], keys: Sequence[str]) -> tuple[ColumnHandle, ...]:
    """Spark's own reader gives partition keys and hidden columns after those of the file; Spark matches by name."""
    return tuple(sorted(columns, key=lambda column: (column.name.startswith("$"), column.name in keys)))


def _native_read(names: Sequence[str], splits: Sequence[Split]) -> NativeRead | None:
    """How Spark's reader would read every split.

    ``None`` where a split is not natively readable, formats differ, or constants are not the last columns of all.
    """
    found: set[tuple[str, frozenset[str]]] = set()
    asked = frozenset(names)
    for split in splits:
        native = split.native_file
        if native is None or native.format not in _FORMATS:
            return None
        found.add((native.format, asked.intersection(name for name, _ in native.constants)))
    if len(found) != 1:
        return None
    [(file_format, constants)] = found
    return _native_read_of(file_format, names, constants)


def _native_read_of(file_format: str, names: Sequence[str], given: Collection[str]) -> NativeRead | None:
    constants = tuple(name for name in names if name in given)
    are_last = tuple(names[len(names) - len(constants) :]) == constants
    return NativeRead(file_format, constants) if are_last else None


def _is_readable(splits: Sequence[Split], environment: SparkEnvironment) -> bool:
    """Whether Spark's readers find the files of all splits, and their columns."""
    if environment.is_case_sensitive():
        return False
    paths = (split.native_file.path for split in splits if split.native_file is not None)
    schemes = {path.partition(":")[0].lower() for path in paths if not path.startswith("/")}
    return all(environment.has_file_system(scheme) for scheme in schemes)
