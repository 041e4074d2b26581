"""Leaves out partitions and file slices in which the metadata table's statistics leave no wanted row. Driver side.

Each row that a query sees has its values from files of its slice. So a slice is left out only if each of its files
has statistics for a column, and none of them may hold a wanted value. On doubt it is kept (invariant I3).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from connector_spi.predicate import ConnectorExpression, Domain, Reference, may_be_true, references
from connectors.hudi.file_group.slices import FileSlice, data_files
from connectors.hudi.metadata_table.file_groups import Wanted
from connectors.hudi.metadata_table.keys import column_stats_key, partition_identifier, partition_stats_key
from connectors.hudi.metadata_table.records import ColumnStats, merge_column_stats
from connectors.hudi.metadata_table.stat_values import may_hold
from connectors.hudi.metadata_table.table import MetadataTable
from connectors.hudi.schema.table_schema import RECORD_KEY

__all__ = ["COLUMN_STATS", "PARTITION_STATS", "FileColumn", "Wish", "column_stats", "keep_slices", "skipped_partitions"]

COLUMN_STATS = "column_stats"
PARTITION_STATS = "partition_stats"

Slices: TypeAlias = Mapping[str, Sequence[FileSlice]]


@dataclass(frozen=True, slots=True)
class Wish:
    """What the rows of a query fit.

    Attributes:
        domains: By column.
        conditions: What domains cannot say, such as an OR over columns.
        in_partition: Whether rows of a partition may have a value of a domain, by its path.
    """

    domains: Mapping[str, Domain]
    conditions: Sequence[ConnectorExpression]
    in_partition: Callable[[str, Reference, Domain], bool]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose statistics may tell."""
        looked_at = (reference for condition in self.conditions for reference in references(condition))
        # Statistics of a struct are not those of its fields.
        return tuple(dict.fromkeys((*self.domains, *(one.column.name for one in looked_at if not one.path))))

    def may_hold(self, path: str, excludes: Callable[[str, Domain], bool]) -> bool:
        """Whether some rows of a partition may fit.

        Args:
            path: The partition's.
            excludes: Whether a column has no value of a domain in any of these rows.
        """

        def found(reference: Reference, domain: Domain) -> bool:
            if reference.path or not self.in_partition(path, reference, domain):
                return bool(reference.path)
            return not excludes(reference.column.name, domain)

        if any(excludes(column, domain) for column, domain in self.domains.items()):
            return False
        return all(may_be_true(condition, found) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column in a file.

    Attributes:
        column: Name of the column.
        partition: Path of the partition.
        file_name: Bare name of a base or log file.
    """

    column: str
    partition: str
    file_name: str


def skipped_partitions(metadata: MetadataTable, wish: Wish, paths: Collection[str]) -> frozenset[str]:
    """Partitions that hold no wanted row, by the index ``partition_stats``.

    The statistics are of the newest state of a partition, so the view of the query must be that. Statistics that are
    not of all rows, for one since a column was indexed later than the others, do not count.

    Args:
        metadata: The metadata table.
        wish: What is wanted.
        paths: Paths of the partitions.

    Raises:
        ConnectorError: The index cannot be read.
        ValueError: It is damaged.
    """
    if not metadata.tells_partitions or not wish.columns or not paths:
        return frozenset()
    # Every row has a record key, which has been indexed for as long as there are statistics.
    columns = (RECORD_KEY, *wish.columns)
    keys = {(name, path): partition_stats_key(name, path) for name in columns for path in paths}
    layers = metadata.partition(PARTITION_STATS).look_up(Wanted.of_keys(keys.values()))
    found: dict[tuple[str, str], ColumnStats] = {}
    for (name, path), key in keys.items():
        stats = merge_column_stats(layers.get(key, ()))
        if stats is not None and (stats.column, stats.file_name) == (name, partition_identifier(path)):
            found[name, path] = stats

    def holds_none(path: str) -> bool:
        return not wish.may_hold(path, lambda name, domain: _excludes(found, name, path, domain))

    return frozenset(path for path in paths if holds_none(path))


def keep_slices(metadata: MetadataTable, wish: Wish, slices: Slices) -> dict[str, list[FileSlice]]:
    """The slices that may hold a wanted row, by the index ``column_stats``.

    Args:
        metadata: The metadata table.
        wish: What is wanted.
        slices: By partition path.

    Raises:
        ConnectorError: The index cannot be read.
        ValueError: It is damaged.
    """
    files = {path: {file_slice: _names(file_slice) for file_slice in part} for path, part in slices.items()}
    wanted = [
        FileColumn(column, path, name)
        for column in wish.columns
        for path, part in files.items()
        for names in part.values()
        for name in names
    ]
    known = column_stats(metadata, wanted)

    def may_fit(path: str, names: Sequence[str]) -> bool:
        def excludes(column: str, domain: Domain) -> bool:
            found = [known.get(FileColumn(column, path, name)) for name in names]
            return all(stats is not None and not may_hold(domain, stats) for stats in found)

        return wish.may_hold(path, excludes)

    return {
        path: [
            file_slice
            for file_slice, names in part.items()
            # Statistics of a skeleton file are not those of its rows.
            if file_slice.is_skeleton or may_fit(path, names)
        ]
        for path, part in files.items()
    }


def column_stats(metadata: MetadataTable, wanted: Collection[FileColumn]) -> dict[FileColumn, ColumnStats]:
    """What is known of columns in files; those that were not recorded are missing.

    Raises:
        ConnectorError: The index cannot be read.
        ValueError: It is damaged.
    """
    if not wanted:
        return {}
    keys = {item: column_stats_key(item.column, item.partition, item.file_name) for item in wanted}
    layers = metadata.partition(COLUMN_STATS).look_up(Wanted.of_keys(keys.values()))
    found: dict[FileColumn, ColumnStats] = {}
    for item, key in keys.items():
        stats = merge_column_stats(layers.get(key, ()))
        # Two names may have one hash.
        if stats is not None and (stats.column, stats.file_name) == (item.column, item.file_name):
            found[item] = stats
    return found


def _excludes(found: Mapping[tuple[str, str], ColumnStats], name: str, path: str, domain: Domain) -> bool:
    stats, every = found.get((name, path)), found.get((RECORD_KEY, path))
    if stats is None or every is None or not (stats.tight and every.tight):
        return False
    if stats.value_count == 0 or stats.value_count != every.value_count:
        return False
    # Hudi counts as NULL what is in files whose bounds were not recorded, and leaves it out of the partition's.
    if stats.null_count:
        return False
    return not may_hold(domain, stats)


def _names(file_slice: FileSlice) -> tuple[str, ...]:
    return tuple(file.path.rpartition("/")[2] for file in data_files(file_slice))
