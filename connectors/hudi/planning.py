"""Which base files a scan reads: partitions by their paths, then the newest slice of each file group. Driver side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from connector_spi.errors import FileMissingError, NotSupportedError
from connector_spi.predicate import Domain
from connectors.hudi.error_codes import (
    HUDI_BOOTSTRAP,
    HUDI_MERGE_ON_READ,
    HUDI_MISSING_BASE_FILE,
    HUDI_UNSUPPORTED_BASE_FILE,
)
from connectors.hudi.file_group.names import BaseFileName, parse_base_file_name
from connectors.hudi.file_group.slices import DataFile, FileSlice, latest_file_slices, parse_listing
from connectors.hudi.partition_path import PartitionPaths
from connectors.hudi.snapshot import HudiSnapshot
from connectors.toolkit.filesystem import FileInfo, FileSystem, join_path

__all__ = ["PartitionFiles", "ScanPlan", "plan_scan"]

_MARKER = ".hoodie_partition_metadata"
# HoodieTimeline.METADATA_BOOTSTRAP_INSTANT_TS: base files of it hold the meta columns alone.
_METADATA_BOOTSTRAP_INSTANT = "00000000000001"


@dataclass(frozen=True, slots=True)
class PartitionFiles:
    """The base files that a partition's rows are in.

    Attributes:
        path: Path of the partition, relative to the table.
        files: By file group id.
    """

    path: str
    files: tuple[DataFile, ...]


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """What a scan reads.

    Attributes:
        partitions: By path.
        pruned: Partitions left out by their paths; ``None`` where whole folders were left out whose number of
            partitions is not known.
    """

    partitions: tuple[PartitionFiles, ...]
    pruned: int | None

    @property
    def files(self) -> Iterator[DataFile]:
        """All base files, in order."""
        return (file for partition in self.partitions for file in partition.files)


def plan_scan(
    snapshot: HudiSnapshot, paths: PartitionPaths, domains: Mapping[str, Domain], pool: ThreadPoolExecutor
) -> ScanPlan:
    """Finds the base files of a scan.

    Args:
        snapshot: The table.
        paths: How partition paths are to be read.
        domains: Filter by partition field; only prunes.
        pool: Folders are listed in it, many at once.

    Raises:
        FileMissingError: The latest write made a base file that is not on storage.
        NotSupportedError: A slice cannot be read right.
    """
    walk = _Walk(snapshot.files, snapshot.location, paths, domains, pool)
    listed = dict(sorted(walk.partitions()))
    _check_latest_write(snapshot, listed, walk.keeps)
    slices = tuple(_partition_files(snapshot, path, contents) for path, contents in listed.items())
    return ScanPlan(slices, walk.pruned)


class _Walk:
    """Goes down the folders of a table, level by level, to the partitions."""

    def __init__(
        self,
        files: FileSystem,
        location: str,
        paths: PartitionPaths,
        domains: Mapping[str, Domain],
        pool: ThreadPoolExecutor,
    ) -> None:
        self._files = files
        self._location = location
        self._paths = paths
        self._domains = domains
        self._pool = pool
        self.pruned: int | None = 0

    def keeps(self, path: str, complete: bool) -> bool:
        """Whether a partition, or what is below a folder, is wanted."""
        return not path or self._paths.may_hold(path, self._domains, complete)

    def partitions(self) -> Iterator[tuple[str, list[FileInfo]]]:
        """Path and files of each partition that is wanted.

        A folder is a partition when it holds the marker (HoodiePartitionMetadata), or lies in no marked one and
        holds base files: its marker was lost, its rows were not.
        """
        level: list[tuple[str, bool]] = [("", False)]
        while level:
            listings = self._pool.map(lambda item: self._list(item[0]), level)
            following: list[tuple[str, bool]] = []
            for (path, inside), listing in zip(level, listings, strict=True):
                contents = [info for info in listing if not info.is_directory]
                marked = any(info.name == _MARKER or info.name.startswith(f"{_MARKER}.") for info in contents)
                if marked or (not inside and any(parse_base_file_name(info.name) for info in contents)):
                    if self.keeps(path, complete=True):
                        yield path, contents
                    else:
                        self._count(path)
                following += [(child, inside or marked) for child in self._children(path, listing)]
            level = following

    def _list(self, path: str) -> list[FileInfo]:
        # A folder that went away since its parent was listed is an error too: it may have held rows of the snapshot.
        return self._files.list(join_path(self._location, path) if path else self._location)

    def _children(self, path: str, listing: Iterable[FileInfo]) -> Iterator[str]:
        for info in listing:
            if info.is_directory and info.name != ".hoodie":
                child = f"{path}/{info.name}" if path else info.name
                if self.keeps(child, complete=False):
                    yield child
                else:
                    self._count(child)

    def _count(self, path: str) -> None:
        whole = path.count("/") + 1 == len(self._paths.fields)
        self.pruned = self.pruned + 1 if whole and self.pruned is not None else None


def _check_latest_write(
    snapshot: HudiSnapshot, listed: Mapping[str, list[FileInfo]], keeps: Callable[[str, bool], bool]
) -> None:
    """Finds base files that the latest write made and storage lacks."""
    latest = snapshot.view.latest
    if latest is None:
        return
    names = {path: {info.name for info in contents} for path, contents in listed.items()}
    replaced = snapshot.replaced()
    for stat in snapshot.commit(latest).stats:
        name = stat.path.rpartition("/")[2] if stat.path else ""
        if parse_base_file_name(name) is None or stat.file_id in replaced.get(stat.partition, ()):
            continue
        if name not in names.get(stat.partition, ()) and keeps(stat.partition, True):
            raise FileMissingError(
                f"base file {join_path(snapshot.location, stat.path or '')}, written at instant {latest.requested}, is "
                "not on storage; it was deleted by hand, or by Hudi's cleaner while the query was planned: run the "
                "query again, or restore the file",
                HUDI_MISSING_BASE_FILE,
            )


def _partition_files(snapshot: HudiSnapshot, path: str, contents: Iterable[FileInfo]) -> PartitionFiles:
    data = parse_listing((info.path, info.size, info.modified_millis) for info in contents)
    slices = latest_file_slices(
        data,
        snapshot.view,
        snapshot.config.layout,
        snapshot.replaced().get(path, frozenset()),
        lambda requested: snapshot.written_names(path, requested),
    )
    return PartitionFiles(path, tuple(_base_file(snapshot, path, item) for item in slices))


def _base_file(snapshot: HudiSnapshot, path: str, file_slice: FileSlice) -> DataFile:
    if file_slice.base is None or file_slice.logs:
        raise NotSupportedError(
            f"file group {file_slice.file_id} in partition '{path}' of {snapshot.location} has log files at instant "
            f"{file_slice.base_instant}, though the table is copy-on-write; logs cannot be read yet: compact the table",
            HUDI_MERGE_ON_READ,
        )
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
    return file_slice.base
