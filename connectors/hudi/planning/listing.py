"""Finding a table's partitions and their files by listing folders. Driver side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from connector_spi.predicate import Domain
from connectors.hudi.file_group.names import parse_base_file_name, parse_log_file_name
from connectors.hudi.partition_path import PartitionPaths
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem, join_path

__all__ = ["PartitionWalk", "count_partitions"]

_MARKER = ".hoodie_partition_metadata"


class PartitionWalk:
    """Goes down the folders of a table, level by level, to the partitions.

    Args:
        snapshot: The table.
        paths: How partition paths are to be read.
        domains: Filter by partition field; only prunes.
        pool: Directories are listed in it, many at once.

    Attributes:
        pruned: Partitions left out so far by their paths.
        unlisted: Folders left out so far whose partitions were not counted.
    """

    def __init__(
        self,
        snapshot: HudiSnapshot,
        paths: PartitionPaths,
        domains: Mapping[str, Domain],
        pool: ThreadPoolExecutor,
    ) -> None:
        self._snapshot = snapshot
        self._paths = paths
        self._domains = domains
        self._pool = pool
        self.pruned = 0
        self.unlisted: list[str] = []

    def keeps(self, path: str, complete: bool) -> bool:
        """Whether a partition, or what is below a folder, is wanted."""
        return not path or self._paths.may_hold(path, self._domains, complete)

    def partitions(self) -> Iterator[tuple[str, list[FileInfo]]]:
        """Path and files of each partition that is wanted.

        A folder is a partition when it holds the marker (HoodiePartitionMetadata), or lies in no marked one and
        holds data files: its marker was lost, its rows were not.
        """
        level: list[tuple[str, bool]] = [("", False)]
        while level:
            listings = self._pool.map(lambda item: self._list(item[0]), level)
            following: list[tuple[str, bool]] = []
            for (path, inside), listing in zip(level, listings, strict=True):
                contents = [info for info in listing if not info.is_directory]
                marked = any(info.name == _MARKER or info.name.startswith(f"{_MARKER}.") for info in contents)
                if marked or (not inside and any(_is_data(info.name) for info in contents)):
                    if self.keeps(path, complete=True):
                        yield path, contents
                    else:
                        self._count(path)
                following += [(child, inside or marked) for child in self._children(path, listing)]
            level = following

    def only(self, paths: Iterable[str]) -> dict[str, list[FileInfo]]:
        """Files of partitions that are known by their paths, as far as they are wanted."""
        wanted = [path for path in sorted(paths) if self.keeps(path, complete=True)]
        listings = self._pool.map(self._list, wanted)
        return {
            path: [info for info in listing if not info.is_directory]
            for path, listing in zip(wanted, listings, strict=True)
        }

    def _list(self, path: str) -> list[FileInfo]:
        # A folder that went away since its parent was listed is an error too: it may have held rows of the snapshot.
        return self._snapshot.list_folder(path)

    def _children(self, path: str, listing: Iterable[FileInfo]) -> Iterator[str]:
        for info in listing:
            if info.is_directory and info.name != ".hoodie":
                child = f"{path}/{info.name}" if path else info.name
                if self.keeps(child, complete=False):
                    yield child
                else:
                    self._count(child)

    def _count(self, path: str) -> None:
        if _depth(path) == len(self._paths.fields):
            self.pruned += 1
        else:
            self.unlisted.append(path)


def count_partitions(
    files: FileSystem, location: str, folders: Iterable[str], fields: int, pool: ThreadPoolExecutor
) -> int:
    """The partitions below folders, by the depth of their paths alone.

    Args:
        files: Storage.
        location: The table's directory.
        folders: Relative to it.
        fields: Number of the table's partition fields.
        pool: Directories are listed in it, many at once.
    """
    count, level = 0, list(folders)
    while level:
        listings = pool.map(lambda path: files.list(join_path(location, path)), level)
        below = [f"{path}/{info.name}" for path, found in zip(level, listings, strict=True) for info in found
                 if info.is_directory]  # fmt: skip
        count += sum(1 for path in below if _depth(path) == fields)
        level = [path for path in below if _depth(path) < fields]
    return count


def _depth(path: str) -> int:
    return path.count("/") + 1


def _is_data(name: str) -> bool:
    return parse_base_file_name(name) is not None or parse_log_file_name(name) is not None
