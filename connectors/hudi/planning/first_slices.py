"""The file slices that can hold the first rows in an order, by the metadata table's column statistics. Driver side."""

from __future__ import annotations

from dataclasses import replace

from connector_spi.optional.top_n import SortItem
from connectors.hudi.file_group.slices import FileSlice
from connectors.hudi.handles import HudiTableHandle, TopN
from connectors.hudi.metadata_table.records import ColumnStats
from connectors.hudi.metadata_table.skipping import COLUMN_STATS, FileColumn, column_stats
from connectors.hudi.metadata_table.stat_values import column_bounds
from connectors.hudi.metadata_table.table import MetadataTable, metadata_errors
from connectors.hudi.planning.file_slice_plan import FileSlicePlan
from connectors.hudi.schema.table_schema import RECORD_KEY
from connectors.toolkit.read.first_rows import has_exact_order, holds_first_rows
from connectors.toolkit.read.pruning import ColumnBounds

__all__ = ["first_slices", "is_ordered_by_statistics"]


def is_ordered_by_statistics(table: HudiTableHandle, item: SortItem) -> bool:
    """Whether column statistics may say which slices come first; no filter, as none is guaranteed."""
    if table.written_in is not None or table.history is not None or table.aggregation is not None:
        return False
    if not table.constraint.is_all or table.conditions or not table.indexes.column_stats:
        return False
    is_known = item.column.name in table.schema.names and table.schema.field(item.column.name).type == item.column.type
    return is_known and has_exact_order(item.column.type)


def first_slices(metadata: MetadataTable, plan: FileSlicePlan, asked: TopN) -> FileSlicePlan:
    """The plan without slices that hold none of the first rows. Of slices with logs nothing is known.

    Args:
        metadata: The metadata table.
        plan: What is read.
        asked: The order, and how many rows are wanted.
    """
    if not metadata.has_partition(COLUMN_STATS):
        return plan
    name, arrow = asked.item.column.name, asked.item.column.type
    files = [(part.path, _file_name(one)) for part in plan.partitions for one in part.slices]
    known = [(path, file) for path, file in files if file]
    try:
        found = column_stats(metadata, [FileColumn(one, *file) for one in (name, RECORD_KEY) for file in known])
    except metadata_errors:
        # They spare reading only.
        return plan
    bounds: list[ColumnBounds | None] = []
    for path, file in files:
        stats = found.get(FileColumn(name, path, file))
        every = found.get(FileColumn(RECORD_KEY, path, file))
        sure = stats is not None and every is not None and _is_sure(stats, every)
        meant = column_bounds(arrow, stats) if stats is not None and sure else []
        bounds.append(replace(meant[0], row_count=stats.value_count) if stats is not None and len(meant) == 1 else None)
    kept = iter(holds_first_rows(bounds, asked.count, asked.item))
    partitions = [replace(part, slices=tuple(one for one in part.slices if next(kept))) for part in plan.partitions]
    left_out = sum(len(part.slices) for part in plan.partitions) - sum(len(part.slices) for part in partitions)
    notes = (*plan.notes, f"{left_out} files hold none of the first rows") if left_out else plan.notes
    return replace(plan, partitions=tuple(partitions), skipped=plan.skipped + left_out, notes=notes)


def _file_name(file_slice: FileSlice) -> str:
    """Of the base file; empty where the slice has more than that."""
    if file_slice.base is None or file_slice.logs or file_slice.is_skeleton:
        return ""
    return file_slice.base.path.rpartition("/")[2]


def _is_sure(stats: ColumnStats, every: ColumnStats) -> bool:
    """Whether all rows are counted: Hudi counts as NULL what is in files whose bounds were not recorded."""
    return not stats.null_count and not every.null_count and 0 < stats.value_count == every.value_count
