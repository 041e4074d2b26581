"""Which file slices a scan reads: partitions by their paths, then one slice of each file group. Driver side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from connector_spi.errors import NotSupportedError
from connector_spi.predicate import Domain
from connectors.hudi.error_codes import HUDI_BOOTSTRAP, HUDI_MERGE_ON_READ, HUDI_UNSUPPORTED_BASE_FILE
from connectors.hudi.file_group.names import BaseFileName
from connectors.hudi.file_group.slices import (
    DataFile,
    FileSlice,
    latest_base_files,
    latest_file_slices,
    parse_listing,
)
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.listing import PartitionWalk
from connectors.hudi.merge.config import merge_config
from connectors.hudi.missing_files import check_later_writes, check_written_files
from connectors.hudi.snapshot import HudiSnapshot
from connectors.toolkit.filesystem import FileInfo

__all__ = ["PartitionSlices", "ScanPlan", "check_readable", "plan_scan", "slices_of"]

# HoodieTimeline.METADATA_BOOTSTRAP_INSTANT_TS: base files of it hold the meta columns alone.
_METADATA_BOOTSTRAP_INSTANT = "00000000000001"


@dataclass(frozen=True, slots=True)
class PartitionSlices:
    """The file slices that a partition's rows are in.

    Attributes:
        path: Path of the partition, relative to the table.
        slices: By file group id.
    """

    path: str
    slices: tuple[FileSlice, ...]


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """What a scan reads.

    Attributes:
        partitions: By path.
        pruned: Partitions left out by their paths; ``None`` where whole folders were left out whose number of
            partitions is not known.
    """

    partitions: tuple[PartitionSlices, ...]
    pruned: int | None

    @property
    def slices(self) -> Iterator[FileSlice]:
        """All file slices, in order."""
        return (file_slice for partition in self.partitions for file_slice in partition.slices)

    @property
    def base_files(self) -> Iterator[DataFile]:
        """All base files, in order."""
        return (file_slice.base for file_slice in self.slices if file_slice.base is not None)


def plan_scan(
    snapshot: HudiSnapshot, table: HudiTableHandle, domains: Mapping[str, Domain], pool: ThreadPoolExecutor
) -> ScanPlan:
    """Finds the file slices of a scan.

    Args:
        snapshot: The table, at the handle's view.
        table: Says what of the snapshot is read.
        domains: Filter by partition field; only prunes.
        pool: Folders are listed in it, many at once.

    Raises:
        FileMissingError: A write made a base file that is not on storage.
        InvalidArgumentError: With time travel: files of that time were cleaned.
    """
    walk = PartitionWalk(snapshot.files, snapshot.location, table.partition_paths, domains, pool)
    listed = dict(sorted(walk.partitions()))
    check_written_files(snapshot, listed, walk.keeps)
    check_later_writes(snapshot, listed, walk.keeps)
    partitions = tuple(
        PartitionSlices(path, slices_of(snapshot, path, contents, table.read_optimized))
        for path, contents in listed.items()
    )
    return ScanPlan(partitions, walk.pruned)


def slices_of(
    snapshot: HudiSnapshot, path: str, contents: Iterable[FileInfo], read_optimized: bool
) -> tuple[FileSlice, ...]:
    """The slices of a partition that a query reads.

    Raises:
        CorruptFileError: The partition's files do not tell which of them count.
    """
    data = parse_listing((info.path, info.size, info.modified_millis) for info in contents)
    replaced = snapshot.replaced().get(path, frozenset())
    if read_optimized:
        return tuple(
            latest_base_files(data, snapshot.view, replaced, lambda requested: snapshot.written_names(path, requested))
        )
    return tuple(
        latest_file_slices(
            data,
            snapshot.view,
            snapshot.config.layout,
            replaced,
            lambda requested: snapshot.written_names(path, requested),
        )
    )


def check_readable(snapshot: HudiSnapshot, table: HudiTableHandle, plan: ScanPlan) -> None:
    """Refuses what a scan would read wrong.

    Raises:
        NotSupportedError: A slice cannot be read right.
    """
    if any(file_slice.logs for file_slice in plan.slices):
        # Merged by code that is not known here?
        merge_config(table.config.version, dict(table.config.properties), table.location)
    for partition in plan.partitions:
        for file_slice in partition.slices:
            _check(snapshot, partition.path, file_slice, table.config.merge_on_read)


def _check(snapshot: HudiSnapshot, path: str, file_slice: FileSlice, merge_on_read: bool) -> None:
    if not merge_on_read and (file_slice.base is None or file_slice.logs):
        raise NotSupportedError(
            f"file group {file_slice.file_id} in partition '{path}' of {snapshot.location} has log files at instant "
            f"{file_slice.base_instant}, and the table is COPY_ON_WRITE, which has none; set hoodie.table.type to "
            "MERGE_ON_READ if that is what it is, or compact the table",
            HUDI_MERGE_ON_READ,
        )
    if file_slice.base is None:
        return
    name = file_slice.base.name
    if isinstance(name, BaseFileName) and name.format not in ("parquet", "orc"):
        raise NotSupportedError(
            f"{file_slice.base.path} is of the format {name.format}; Parquet and ORC can be read",
            HUDI_UNSUPPORTED_BASE_FILE,
        )
    if name.instant == _METADATA_BOOTSTRAP_INSTANT:
        raise NotSupportedError(
            f"{file_slice.base.path} of a bootstrapped table holds only the meta columns (METADATA_ONLY); its rows are "
            "in the original file, which cannot be read with it yet: rewrite the table, for one by clustering",
            HUDI_BOOTSTRAP,
        )
