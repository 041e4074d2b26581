"""Partitions and their files as the metadata table tells them, in place of listing folders. Driver side."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from connectors.hudi.metadata_table.file_groups import MetadataFileGroups, Wanted
from connectors.hudi.metadata_table.keys import ALL_PARTITIONS, partition_identifier
from connectors.hudi.metadata_table.records import merge_files
from connectors.hudi.metadata_table.table import MetadataTable, UnusableMetadataTableError
from connectors.toolkit.filesystem import FileInfo, join_path

__all__ = ["list_files", "list_partitions"]


def list_partitions(metadata: MetadataTable) -> list[str]:
    """Paths of all partitions, sorted; that of a table without partitions is empty.

    Raises:
        UnusableMetadataTableError: The list is not there.
        ConnectorError: The metadata table cannot be read.
        ValueError: A record is damaged.
    """
    key = ALL_PARTITIONS.encode()
    layers = metadata.partition("files").look_up(Wanted.of_keys([key])).get(key)
    if layers is None:
        raise UnusableMetadataTableError("it has no list of partitions")
    return sorted("" if name == partition_identifier("") else name for name in merge_files(layers))


def list_files(metadata: MetadataTable, location: str, paths: Collection[str]) -> dict[str, list[FileInfo]]:
    """The files of some partitions, found by key.

    Args:
        metadata: The metadata table.
        location: Folder of the data table.
        paths: Paths of the partitions.

    Returns:
        Files by partition path, sorted by name; their modification times are 0, since nobody noted them.

    Raises:
        UnusableMetadataTableError: A partition is not there.
        ConnectorError: The metadata table cannot be read.
        ValueError: A record is damaged.
    """
    groups = metadata.partition("files")
    return {path: _infos(location, path, names) for path, names in _files(groups, paths)}


def _files(groups: MetadataFileGroups, paths: Collection[str]) -> Iterable[tuple[str, dict[str, int]]]:
    keys = {path: partition_identifier(path).encode() for path in paths}
    found = groups.look_up(Wanted.of_keys(keys.values())) if keys else {}
    for path, key in keys.items():
        if key not in found:
            raise UnusableMetadataTableError(f"it does not know the files of partition '{path}'")
        yield path, merge_files(found[key])


def _infos(location: str, path: str, names: dict[str, int]) -> list[FileInfo]:
    folder = join_path(location, path) if path else location
    return [FileInfo(join_path(folder, name), size, 0, False) for name, size in sorted(names.items())]
