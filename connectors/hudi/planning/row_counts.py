"""How many rows data files hold, without opening them. Driver side."""

from __future__ import annotations

from collections.abc import Sequence

from connectors.hudi.file_group.slices import DataFile
from connectors.hudi.metadata_table.skipping import COLUMN_STATS, FileColumn, column_stats
from connectors.hudi.metadata_table.table import MetadataTable, metadata_errors
from connectors.hudi.schema.table_schema import RECORD_KEY
from connectors.hudi.snapshots.snapshot import HudiSnapshot

__all__ = ["recorded_rows"]


def recorded_rows(
    snapshot: HudiSnapshot, metadata: MetadataTable | None, files: Sequence[tuple[str, DataFile]]
) -> dict[str, int]:
    """Rows by path of the files whose rows the timeline records, else the metadata table.

    Args:
        snapshot: The table.
        metadata: Its metadata table, where it can be used.
        files: Partition path and file.
    """
    written: dict[str, int] = {}
    for instant in {file.name.instant for _, file in files}:
        written.update(snapshot.written_rows(instant))
    root = len(snapshot.location.rstrip("/")) + 1
    rows = {file.path: written[file.path[root:]] for _, file in files if file.path[root:] in written}
    unknown = [(path, file) for path, file in files if file.path not in rows]
    if unknown and metadata is not None and metadata.has_partition(COLUMN_STATS):
        rows |= _by_statistics(metadata, unknown)
    return rows


def _by_statistics(metadata: MetadataTable, files: Sequence[tuple[str, DataFile]]) -> dict[str, int]:
    """Every row has a key, so the number of keys is that of rows."""
    wanted = {FileColumn(RECORD_KEY, path, file.path.rpartition("/")[2]): file.path for path, file in files}
    try:
        found = column_stats(metadata, list(wanted))
    except metadata_errors:
        return {}
    return {wanted[item]: stats.value_count for item, stats in found.items() if stats.value_count > 0}
