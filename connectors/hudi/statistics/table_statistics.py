"""Statistics of a scan, from the timeline, the metadata table or footers. Driver side. They serve estimates alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from connector_spi.errors import ConnectorError
from connector_spi.statistics import TableStatistics
from connectors.hudi.file_group.slices import DataFile, FileSlice, data_files
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.metadata_table.table import MetadataTable
from connectors.hudi.planning.bootstrap import bootstrap_sources
from connectors.hudi.planning.file_slice_plan import FileSlicePlan
from connectors.hudi.planning.row_counts import recorded_rows
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.transaction import MemoKey
from connectors.toolkit.parquet.reader import open_parquet, parquet_errors

__all__ = ["StatisticsKey", "scan_statistics"]

_FOOTERS = 8
"""So many footers stand for all files whose rows are not recorded."""


@dataclass(frozen=True, slots=True)
class StatisticsKey(MemoKey[TableStatistics]):
    """Of what a handle reads."""

    table: HudiTableHandle


def scan_statistics(snapshot: HudiSnapshot, plan: FileSlicePlan, metadata: MetadataTable | None) -> TableStatistics:
    """Bytes of the files that a scan reads, and how many rows they hold.

    Of a slice with logs, the rows of the base file are counted: most of what is in the logs are updates. What the
    timeline no longer has of a file, the metadata table may; of the files that are left, a few footers stand for all.

    Args:
        snapshot: The table.
        plan: What is read.
        metadata: The metadata table, where it can be used.
    """
    parts = {partition.path: partition.slices for partition in plan.partitions}
    size = sum(file.size for slices in parts.values() for item in slices for file in data_files(item))
    size += _original_bytes(snapshot, plan)
    counted = [(path, file) for path, slices in parts.items() for item in slices for file in _counted(item)]
    rows = recorded_rows(snapshot, metadata, counted)
    total = float(sum(rows.values()))
    left = [file for _, file in counted if file.path not in rows]
    if left:
        density = _density(snapshot, left)
        if density is None:
            return TableStatistics(size_bytes=size)
        total += round(density * sum(file.size for file in left))
    return TableStatistics(total, size)


def _original_bytes(snapshot: HudiSnapshot, plan: FileSlicePlan) -> int:
    """Of the files that hold the rows of skeleton files."""
    try:
        return sum(source.size for source in bootstrap_sources(snapshot, plan).values())
    except ConnectorError:
        # Reading it will say what is wrong.
        return 0


def _counted(file_slice: FileSlice) -> Sequence[DataFile]:
    return (file_slice.base,) if file_slice.base is not None else file_slice.logs


def _density(snapshot: HudiSnapshot, files: Sequence[DataFile]) -> float | None:
    """Rows of a byte, by the footers of some files spread evenly over all."""
    sample = [file for file in files if file.path.endswith(".parquet")]
    sample = sample[:: max(1, len(sample) // _FOOTERS)][:_FOOTERS]
    rows = size = 0
    for file in sample:
        try:
            with open_parquet(snapshot.files, file.path) as opened, parquet_errors(file.path):
                rows += opened.metadata.num_rows
        except ConnectorError:
            # Reading it will say what is wrong.
            return None
        size += file.size
    return rows / size if size else None
