"""Statistics that an engine collects by reading a table, and a connector keeps. Driver side.

As ``getStatisticsCollectionMetadata`` and ``finishStatisticsCollection`` of Trino's ``ConnectorMetadata``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from connector_spi.handles import TableHandle
from connector_spi.predicate import Value
from connector_spi.session import ConnectorSession

__all__ = [
    "CollectedColumn",
    "CollectedStatistics",
    "StatisticsCollection",
    "SupportsFileStatistics",
    "SupportsStatisticsCollection",
]


@dataclass(frozen=True, slots=True)
class StatisticsCollection:
    """What of a table can be collected.

    Attributes:
        partition_keys: Names of the columns whose combinations have statistics of their own; none: all rows together.
        columns: Names of the columns whose statistics are kept.
    """

    partition_keys: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CollectedColumn:
    """What was found of one column; ``None`` was not asked, or has no meaning for its type.

    Attributes:
        name: Of the column.
        nulls: NULLs.
        distinct: Different values that are not NULL, about.
        low: Smallest value.
        high: Largest value.
        average_length: Mean bytes of a text or of binary.
        max_length: Most bytes of one.
        true_count: True values of a boolean.
    """

    name: str
    nulls: int
    distinct: int | None = None
    low: Value | None = None
    high: Value | None = None
    average_length: float | None = None
    max_length: int | None = None
    true_count: int | None = None


@dataclass(frozen=True, slots=True)
class CollectedStatistics:
    """What was found in a partition, or in a table that has none.

    Attributes:
        partition: Values of the partition keys.
        rows: Rows.
        columns: Of the columns that were asked for.
    """

    partition: tuple[Value | None, ...]
    rows: int
    columns: tuple[CollectedColumn, ...]


@runtime_checkable
class SupportsStatisticsCollection(Protocol):
    """Metadata that keeps statistics which were collected."""

    def get_statistics_collection(self, session: ConnectorSession, table: TableHandle) -> StatisticsCollection:
        """What can be collected.

        Raises:
            NotSupportedError: Nothing of this table is kept.
        """
        ...

    def finish_statistics_collection(
        self, session: ConnectorSession, table: TableHandle, collected: Sequence[CollectedStatistics]
    ) -> None:
        """Keeps what was found in the snapshot of the handle, in place of what was kept of the same columns.

        Args:
            session: Of the statement.
            table: What was read: with the filter on partition keys that selects what was asked for.
            collected: One for each partition that has rows; one for a table without partitions.
        """
        ...


@runtime_checkable
class SupportsFileStatistics(SupportsStatisticsCollection, Protocol):
    """Metadata that counts files, and keeps how many there are."""

    def collect_file_statistics(self, session: ConnectorSession, table: TableHandle) -> None:
        """Counts the files and bytes of a table, or of the partitions that its handle's filter selects; reads no rows.

        Args:
            session: Of the statement.
            table: With nothing but a filter on partition keys pushed into it.

        Raises:
            ConnectorError: The catalog or its storage failed.
        """
        ...
