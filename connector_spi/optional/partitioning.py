"""How the rows of a table lie in its splits, for joins that move no rows. Driver side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from connector_spi.handles import Split, TableHandle
from connector_spi.optional.top_n import SortItem
from connector_spi.optional.writing import BucketFunction
from connector_spi.predicate import Value
from connector_spi.session import ConnectorSession

__all__ = ["SupportsSortOrder", "SupportsTablePartitioning", "TablePartitioning"]


@dataclass(frozen=True, slots=True)
class TablePartitioning:
    """What all rows of a split have in common (``ConnectorTablePartitioning``).

    Attributes:
        partitioned_by: Columns that have one value in all rows of a split.
        bucketed_by: All rows of a split are of one bucket of this function, which gives equal buckets for equal values;
            ``None`` where there is no such function.
    """

    partitioned_by: tuple[str, ...] = ()
    bucketed_by: BucketFunction | None = None

    def __str__(self) -> str:
        bucket = self.bucketed_by
        buckets = [] if bucket is None else [f"bucket({bucket.count}, {', '.join(bucket.columns)})"]
        return ", ".join([*self.partitioned_by, *buckets])


@runtime_checkable
class SupportsTablePartitioning(Protocol):
    """Metadata that knows what the rows of a split have in common."""

    def get_table_partitioning(self, session: ConnectorSession, table: TableHandle) -> TablePartitioning | None:
        """What splits of a table may have in common, as it is declared; nothing is read.

        Args:
            session: The statement.
            table: A handle of ``get_table_handle``.

        Returns:
            All that may be asked of ``get_partition_keys``; ``None`` where there is nothing.
        """

    def get_partition_keys(
        self, session: ConnectorSession, table: TableHandle, splits: Sequence[Split], asked: TablePartitioning
    ) -> Sequence[tuple[Value | None, ...]] | None:
        """What the rows of each split have in common.

        The engine goes by it: it joins rows of equal keys only. So ``None`` where a row may be elsewhere.

        Args:
            session: The statement.
            table: The handle that the splits were made for.
            splits: All splits of a scan.
            asked: A part of what ``get_table_partitioning`` gave.

        Returns:
            For each split the values of ``partitioned_by``, and then the bucket, counted from 0, if that is asked;
            ``None`` where a split has no key, or it is not sure.
        """


@runtime_checkable
class SupportsSortOrder(Protocol):
    """Metadata that knows in which order the rows of splits come (``ConnectorTableProperties.getLocalProperties``)."""

    def get_sort_order(
        self, session: ConnectorSession, table: TableHandle, groups: Sequence[Sequence[Split]]
    ) -> Sequence[SortItem]:
        """The order that the rows of each group have, if its splits are read one after another.

        The engine goes by it, and does not sort. So nothing where it is not sure.

        Args:
            session: The statement.
            table: The handle that the splits were made for.
            groups: All splits of a scan, in groups.

        Returns:
            The columns; none where some group has no order.
        """
