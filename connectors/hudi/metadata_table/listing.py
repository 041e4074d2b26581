"""Partitions and their files as the metadata table lists them, instead of storage. Driver side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from connector_spi.errors import ConnectorError, NotSupportedError
from connector_spi.predicate import Domain
from connectors.hudi.file_group.slices import FileSlice
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.merge.config import merge_config
from connectors.hudi.merge.merger_plugins import plugin_mergers
from connectors.hudi.metadata_table.file_groups import MetadataFileGroups, Wanted
from connectors.hudi.metadata_table.keys import ALL_PARTITIONS, partition_identifier
from connectors.hudi.metadata_table.record_index import RECORD_INDEX, asked_keys, find_file_groups, indexed_keys
from connectors.hudi.metadata_table.records import merge_files
from connectors.hudi.metadata_table.skipping import COLUMN_STATS, PARTITION_STATS, Wish, keep_slices, skipped_partitions
from connectors.hudi.metadata_table.table import MetadataTable, UnusableMetadataTableError, metadata_errors
from connectors.toolkit.storage.filesystem import FileInfo, join_path

__all__ = ["MetadataListing", "list_files", "list_partitions"]


_WORTH_LOCATING = 2
"""With fewer slices there is nothing to gain."""


class MetadataListing:
    """The partitions and file slices that a scan wants, as far as the metadata table has them.

    Args:
        metadata: The metadata table.
        table: The table, which says what may be used.
        domains: Filter by column; only prunes.

    Attributes:
        skipped: Partitions left out by their statistics.
        pruned: Partitions left out by their paths or statistics.
        notes: What was used, and what could not be, for ``EXPLAIN``.
        is_lasting: Nothing failed that may work later.
    """

    def __init__(self, metadata: MetadataTable, table: HudiTableHandle, domains: Mapping[str, Domain]) -> None:
        self._metadata = metadata
        self._table = table
        fields = frozenset(table.config.partition_fields)
        self._path_domains = {name: domain for name, domain in domains.items() if name in fields}
        self._paths = table.partition_paths
        known = frozenset(table.schema.names)
        self._domains = {name: domain for name, domain in domains.items() if name in known}
        self._wish = Wish(self._domains, table.conditions, table.partition_paths.may_hold_in)
        self.skipped: frozenset[str] = frozenset()
        self.pruned = 0
        self.notes: tuple[str, ...] = ("files by the metadata table",)
        self.is_lasting = True

    def keeps(self, path: str, complete: bool) -> bool:
        """Whether a partition is wanted."""
        wanted = not path or self._paths.may_hold(path, self._path_domains, complete)
        return wanted and path not in self.skipped

    def files(self, location: str) -> dict[str, list[FileInfo]]:
        """Files of the wanted partitions, by path; errors as of ``list_files``."""
        paths = list_partitions(self._metadata)
        kept = [path for path in paths if self.keeps(path, complete=True)]
        # Of a bootstrapped table they are not of all rows: skeleton files lack them.
        use = self._table.indexes.partition_stats and not self._table.config.bootstrapped
        use = use and not _may_make_values(self._table)
        if self._wish.columns and use and self._metadata.has_partition(PARTITION_STATS):
            try:
                self.skipped = skipped_partitions(self._metadata, self._wish, kept)
            except metadata_errors as error:
                self._note(PARTITION_STATS, error)
        self.pruned = len(paths) - len(kept) + len(self.skipped)
        return list_files(self._metadata, location, [path for path in kept if path not in self.skipped])

    def keep_slices(self, slices: Mapping[str, Sequence[FileSlice]]) -> dict[str, tuple[FileSlice, ...]]:
        """The slices that may hold a wanted row."""
        kept: Mapping[str, Sequence[FileSlice]] = slices
        if self._wish.columns and self._table.indexes.column_stats and self._metadata.has_partition(COLUMN_STATS):
            try:
                kept = keep_slices(self._metadata, self._wish, slices)
            except metadata_errors as error:
                self._note(COLUMN_STATS, error)
        if _may_make_values(self._table):
            found = {path: frozenset(part) for path, part in kept.items()}
            return {path: tuple(one for one in part if one.logs or one in found[path]) for path, part in slices.items()}
        return {path: tuple(part) for path, part in kept.items()}

    def keep_located(
        self,
        kept: dict[str, tuple[FileSlice, ...]],
        count_rows: Callable[[dict[str, list[FileInfo]]], int | None],
    ) -> dict[str, tuple[FileSlice, ...]]:
        """The slices that hold the record keys that the filter names, where the record index is sure to know.

        The index has one location for a key, and a table may hold a key twice, if only by mistake. So it is used where
        it has as many keys as the table has rows.

        Args:
            kept: The slices left so far, by partition path.
            count_rows: Says of the files of all partitions how many rows they hold; ``None`` where that is unknown.
        """
        use, metadata = self._table.indexes.record_index, self._metadata
        if not use or not metadata.has_partition(RECORD_INDEX) or sum(map(len, kept.values())) < _WORTH_LOCATING:
            return kept
        keys = asked_keys(self._table.config, self._domains)
        if keys is None or not metadata.is_newest:
            return kept
        try:
            located = find_file_groups(metadata, keys)
            if located is None:
                return kept
            indexed = indexed_keys(metadata)
            every = list_files(metadata, self._table.location, list_partitions(metadata))
            if indexed is None or indexed != count_rows(every):
                return kept
        except metadata_errors as error:
            self._note(RECORD_INDEX, error)
            return kept
        return {
            path: tuple(item for item in part if (partition_identifier(path), item.file_id) in located)
            for path, part in kept.items()
        }

    def _note(self, index: str, error: Exception) -> None:
        self.notes += (f"{index} not used: {error}",)
        self.is_lasting = self.is_lasting and not isinstance(error, ConnectorError)


def _may_make_values(table: HudiTableHandle) -> bool:
    """Whether merged rows may have values that are in no file, such as sums: a merger of a plugin decides that."""
    if not table.config.merge_on_read or table.read_optimized:
        return False
    try:
        config = merge_config(table.config.version, dict(table.config.properties), table.location)
    except NotSupportedError:
        # Of slices with logs, whoever reads them refuses it.
        return True
    return config.merger in plugin_mergers()


def list_partitions(metadata: MetadataTable) -> list[str]:
    """Paths of all partitions, sorted; that of a table without partitions is empty.

    Raises:
        UnusableMetadataTableError: The list is not there.
        ConnectorError: The metadata table cannot be read.
        ValueError: A record is damaged.
    """
    if metadata.partition_paths is None:
        metadata.partition_paths = _partition_paths(metadata)
    return metadata.partition_paths


def _partition_paths(metadata: MetadataTable) -> list[str]:
    key = ALL_PARTITIONS.encode()
    layers = metadata.partition("files").look_up(Wanted.of_keys([key])).get(key)
    if layers is None:
        raise UnusableMetadataTableError("it has no list of partitions")
    return sorted("" if name == partition_identifier("") else name for name in merge_files(layers))


def list_files(metadata: MetadataTable, location: str, paths: Collection[str]) -> dict[str, list[FileInfo]]:
    """The files of some partitions, found by key.

    Args:
        metadata: The metadata table.
        location: Directory of the data table.
        paths: Paths of the partitions.

    Returns:
        Files by partition path, sorted by name; their modification times are 0, since they are not recorded.

    Raises:
        UnusableMetadataTableError: A partition is not there.
        ConnectorError: The metadata table cannot be read.
        ValueError: A record is damaged.
    """
    known = metadata.listed
    groups = metadata.partition("files")
    new = _files(groups, [path for path in paths if path not in known])
    known.update((path, _infos(location, path, names)) for path, names in new)
    return {path: known[path] for path in paths}


def _files(groups: MetadataFileGroups, paths: Collection[str]) -> Iterable[tuple[str, dict[str, int]]]:
    keys = {path: partition_identifier(path).encode() for path in paths}
    found = groups.look_up(Wanted.of_keys(keys.values())) if keys else {}
    for path, key in keys.items():
        if key not in found:
            raise UnusableMetadataTableError(f"it does not know the files of partition '{path}'")
        yield path, merge_files(found[key])


def _infos(location: str, path: str, names: dict[str, int]) -> list[FileInfo]:
    directory = join_path(location, path) if path else location
    return [FileInfo(join_path(directory, name), size, 0, False) for name, size in sorted(names.items())]
