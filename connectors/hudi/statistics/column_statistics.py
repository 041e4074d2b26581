"""Statistics of columns by the metadata table's ``column_stats``, where they are exact. Driver side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.statistics import ColumnStatistics
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.metadata_table.records import ColumnStats
from connectors.hudi.metadata_table.skipping import COLUMN_STATS, FileColumn, column_stats
from connectors.hudi.metadata_table.stat_values import column_bounds
from connectors.hudi.metadata_table.table import MetadataTable, metadata_errors
from connectors.hudi.planning.file_slice_plan import FileSlicePlan
from connectors.hudi.transaction import MemoKey

__all__ = ["ColumnStatisticsKey", "exact_column_statistics"]

Named = tuple[tuple[str, ColumnStatistics], ...]


@dataclass(frozen=True, slots=True)
class ColumnStatisticsKey(MemoKey[Named]):
    """Of what a handle reads."""

    table: HudiTableHandle


def exact_column_statistics(metadata: MetadataTable, plan: FileSlicePlan, schema: pa.Schema) -> Named:
    """Share of NULLs, smallest and largest value of the columns for which the index has them of all rows, exactly.

    Those are columns with bounds in each file, of a scan of base files alone: what logs do to the rows of a base file,
    the statistics of both do not show. Times are left out: the index does not record their unit.

    Args:
        metadata: The metadata table.
        plan: What is read.
        schema: The table's columns.

    Returns:
        By column name; none where the index cannot be used.
    """
    if not metadata.has_partition(COLUMN_STATS):
        return ()
    if any(item.base is None or item.logs or item.is_skeleton for item in plan.slices):
        return ()
    files = [
        (partition.path, item.base.path.rpartition("/")[2])
        for partition in plan.partitions
        for item in partition.slices
        if item.base is not None
    ]
    columns = [field for field in schema if not pa.types.is_nested(field.type)]
    try:
        known = column_stats(metadata, [FileColumn(field.name, *file) for field in columns for file in files])
    except metadata_errors:
        # They serve to inform; what cannot be read is unknown.
        return ()
    known_columns = []
    for field in columns:
        found = [known[key] for file in files if (key := FileColumn(field.name, *file)) in known]
        merged = _merged(field.type, found) if files and len(found) == len(files) else None
        if merged is not None:
            known_columns.append((field.name, merged))
    return tuple(known_columns)


def _merged(arrow: pa.DataType, parts: Sequence[ColumnStats]) -> ColumnStatistics | None:
    """Of all files of a column; ``None`` where one is in doubt."""
    rows = sum(part.value_count for part in parts)
    meant = [column_bounds(arrow, part) for part in parts]
    bounds = [item for items in meant if len(items) == 1 for item in items]
    lows = [item.low for item in bounds if item.low is not None]
    highs = [item.high for item in bounds if item.high is not None]
    if not rows or len(lows) < len(parts) or len(highs) < len(parts):
        return None
    nulls = sum(part.null_count for part in parts)
    return ColumnStatistics(null_fraction=nulls / rows, low=min(lows), high=max(highs))
