"""The first rows in an order, chosen by a connector. Driver side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.serializable import Serializable
from connector_spi.session import ConnectorSession

__all__ = ["SortItem", "SupportsTopN", "TopNApplication"]


@dataclass(frozen=True, slots=True)
class SortItem(Serializable):
    """A column that rows are ordered by.

    Attributes:
        column: A whole column.
        ascending: In the order of domains: NaN is above all numbers, -0.0 equals 0.0, texts are in the order of their
            UTF-8 bytes.
        nulls_first: NULLs come before all values, whatever the direction.
    """

    column: ColumnHandle
    ascending: bool
    nulls_first: bool

    def __str__(self) -> str:
        direction = "ASC" if self.ascending else "DESC"
        return f"{self.column.name} {direction} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


@dataclass(frozen=True, slots=True)
class TopNApplication:
    """A top-N that a table took over; ``guaranteed`` says that never more rows come."""

    table: TableHandle
    guaranteed: bool


@runtime_checkable
class SupportsTopN(Protocol):
    """Metadata whose tables know which rows come first."""

    def apply_top_n(
        self, session: ConnectorSession, table: TableHandle, count: int, order: tuple[SortItem, ...]
    ) -> TopNApplication | None:
        """Offers ``ORDER BY order LIMIT count``; ``None`` when nothing changes.

        Offered only if nothing is left of the filters. Among the rows that come have to be the ``count`` first ones,
        or all if there are fewer; of equal rows any may come. They may come in any order, and from several splits:
        the engine sorts and cuts them again.
        """
