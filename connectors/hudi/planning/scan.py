"""Which file slices a scan reads: partitions by their paths, then one slice of each file group. Driver side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from connector_spi.errors import ConnectorError, FileMissingError, NotSupportedError
from connector_spi.predicate import Domain
from connectors.hudi.error_codes import (
    HUDI_MERGE_ON_READ,
    HUDI_MISSING_BASE_FILE,
    HUDI_UNSUPPORTED_BASE_FILE,
)
from connectors.hudi.file_group.names import BaseFileName
from connectors.hudi.file_group.slices import (
    DataFile,
    FileSlice,
    data_files,
    latest_base_files,
    latest_file_slices,
    parse_listing,
)
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.merge.config import merge_config
from connectors.hudi.metadata_table.listing import MetadataListing
from connectors.hudi.metadata_table.table import MetadataTable, metadata_errors, open_metadata_table
from connectors.hudi.planning.file_slice_plan import FileSlicePlan, PartitionSlices
from connectors.hudi.planning.listing import PartitionWalk
from connectors.hudi.planning.missing_files import check_later_writes, check_written_files, check_written_logs
from connectors.hudi.planning.row_counts import recorded_rows
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.toolkit.storage.filesystem import FileInfo

__all__ = ["check_readable", "plan_scan", "slices_of", "with_modified_times"]


def plan_scan(
    snapshot: HudiSnapshot,
    table: HudiTableHandle,
    domains: Mapping[str, Domain],
    pool: ThreadPoolExecutor,
    metadata: Callable[[], MetadataTable] | None = None,
) -> FileSlicePlan:
    """Finds the file slices of a scan: by the metadata table where that is on and valid, else on storage.

    Args:
        snapshot: The table, at the handle's view.
        table: Says what of the snapshot is read.
        domains: Filter by column; only prunes.
        pool: Directories are listed in it, many at once.
        metadata: Opens the metadata table; may raise any of ``metadata_errors``.

    Raises:
        FileMissingError: A write made a base file that is not on storage.
        InvalidArgumentError: With time travel: files of that time were cleaned.
    """
    notes: tuple[str, ...] = ()
    is_lasting = True
    if table.indexes.files and table.config.metadata_partitions:
        try:
            opened = metadata() if metadata is not None else open_metadata_table(snapshot)
            return _plan_by_metadata_table(snapshot, table, domains, opened)
        except metadata_errors as error:
            # Whatever is wrong with it, storage has the truth.
            notes = (f"metadata table not used: {error}",)
            is_lasting = not isinstance(error, ConnectorError)
    fields = {name: domain for name, domain in domains.items() if name in table.config.partition_fields}
    walk = PartitionWalk(snapshot, table.partition_paths, fields, pool)
    slices = _slices(snapshot, table, dict(sorted(walk.partitions())), walk.keeps)
    partitions = tuple(PartitionSlices(*item) for item in slices.items())
    unlisted = tuple(walk.unlisted)
    return FileSlicePlan(partitions, walk.pruned, notes=notes, unlisted=unlisted, is_lasting=is_lasting)


def _plan_by_metadata_table(
    snapshot: HudiSnapshot, table: HudiTableHandle, domains: Mapping[str, Domain], metadata: MetadataTable
) -> FileSlicePlan:
    listing = MetadataListing(metadata, table, domains)
    slices = _slices(snapshot, table, listing.files(snapshot.location), listing.keeps)
    kept = listing.keep_slices(slices)
    kept = listing.keep_located(kept, lambda every: _row_count(snapshot, table, metadata, every))
    emptied = sum(1 for path, part in slices.items() if part and not kept[path])
    return FileSlicePlan(
        tuple(PartitionSlices(path, kept.get(path, ())) for path in sorted({*kept, *listing.skipped})),
        listing.pruned + emptied,
        sum(map(len, slices.values())) - sum(map(len, kept.values())),
        listing.notes,
        is_lasting=listing.is_lasting,
    )


def _slices(
    snapshot: HudiSnapshot,
    table: HudiTableHandle,
    listed: Mapping[str, list[FileInfo]],
    keeps: Callable[[str, bool], bool],
) -> dict[str, tuple[FileSlice, ...]]:
    """The slices of the listed partitions, once it is sure that no file is missing among them."""
    check_written_files(snapshot, listed, keeps)
    if not table.read_optimized:
        check_written_logs(snapshot, listed, keeps)
    check_later_writes(snapshot, listed, keeps)
    return {path: _known_slices(snapshot, path, contents, table.read_optimized) for path, contents in listed.items()}


def _known_slices(
    snapshot: HudiSnapshot, path: str, contents: Sequence[FileInfo], read_optimized: bool
) -> tuple[FileSlice, ...]:
    """Those of ``slices_of``, made once for a snapshot of a listing and one of the metadata table, which has no times.

    Both are fixed for as long as the timeline is.
    """
    has_times = any(info.modified_millis for info in contents)
    key = path, read_optimized, has_times
    found = snapshot.slices.get(key)
    if found is None:
        found = slices_of(snapshot, path, contents, read_optimized)
        snapshot.slices[key] = found
    return found


def _row_count(
    snapshot: HudiSnapshot, table: HudiTableHandle, metadata: MetadataTable, listed: Mapping[str, list[FileInfo]]
) -> int | None:
    """The rows of a table; ``None`` where that is unknown without reading."""
    if table.config.merge_on_read and table.read_optimized:
        return None
    slices = {path: _known_slices(snapshot, path, contents, False) for path, contents in listed.items()}
    if any(item.base is None or item.logs for part in slices.values() for item in part):
        return None
    files = [(path, item.base) for path, part in slices.items() for item in part if item.base is not None]
    rows = recorded_rows(snapshot, metadata, files)
    return sum(rows.values()) if len(rows) == len(files) else None


def slices_of(
    snapshot: HudiSnapshot, path: str, contents: Iterable[FileInfo], read_optimized: bool
) -> tuple[FileSlice, ...]:
    """The slices of a partition that a query reads.

    Raises:
        CorruptFileError: It is in doubt which of the partition's files count.
    """
    data = parse_listing((info.path, info.size, info.modified_millis) for info in contents)
    replaced = snapshot.replaced().get(path, frozenset())
    if read_optimized:
        return tuple(
            latest_base_files(data, snapshot.view, replaced, lambda requested: snapshot.written_names(path, requested))
        )
    return tuple(
        latest_file_slices(
            files=data,
            view=snapshot.view,
            layout=snapshot.config.layout,
            replaced=replaced,
            written_names=lambda requested: snapshot.written_names(path, requested),
            archived_completion=snapshot.archived_completion,
        )
    )


def with_modified_times(snapshot: HudiSnapshot, plan: FileSlicePlan, pool: ThreadPoolExecutor) -> FileSlicePlan:
    """The plan with the modification times of the files that were not met on storage: the metadata table has none.

    Raises:
        FileMissingError: Such a file is not on storage.
    """
    unknown = [file for item in plan.slices for file in data_files(item) if not file.modified_millis]
    infos = dict(zip(unknown, pool.map(lambda file: snapshot.files.info(file.path), unknown), strict=True))

    def timed(file: DataFile) -> DataFile:
        info = infos.get(file)
        if file in infos and info is None:
            raise FileMissingError(
                f"{file.path} is in the metadata table, and not on storage; it was deleted by hand, or by Hudi's "
                "cleaner while the query was planned: run the query again, or restore the file",
                HUDI_MISSING_BASE_FILE,
            )
        return file if info is None else replace(file, modified_millis=info.modified_millis)

    return replace(
        plan,
        partitions=tuple(
            PartitionSlices(
                partition.path,
                tuple(
                    replace(item, base=timed(item.base) if item.base else None, logs=tuple(map(timed, item.logs)))
                    for item in partition.slices
                ),
            )
            for partition in plan.partitions
        ),
    )


def check_readable(snapshot: HudiSnapshot, table: HudiTableHandle, plan: FileSlicePlan) -> None:
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
