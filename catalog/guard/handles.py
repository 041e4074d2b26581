"""Handles and splits of guarded tables: what may be seen travels in them. Both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from catalog.guard.policy import TablePolicy
from connector_spi.handles import ColumnHandle, NativeFile, Split, TableHandle
from connector_spi.names import SchemaTableName

__all__ = ["GuardedSplit", "GuardedTable", "seen_part"]


@dataclass(frozen=True, slots=True)
class GuardedTable(TableHandle):
    """A connector's handle with what an identity may see of the table.

    Attributes:
        name: The table.
        table: The connector's own handle.
        hidden: Names of the columns that are not shown.
        unreadable: Names of the columns that are shown and may not be read; what Spark caches of a table of another
            user must not be taken for this one.
        policy: Row filters and column masks; ``None`` where there are none.
        aggregated: The columns below an aggregation that the connector took over; ``None`` for rows of the table.
        prunes: The row filters were offered to the connector, to skip what they leave out.
    """

    name: SchemaTableName
    table: TableHandle
    hidden: frozenset[str] = frozenset()
    unreadable: frozenset[str] = frozenset()
    policy: TablePolicy | None = None
    aggregated: tuple[str, ...] | None = None
    prunes: bool = False

    @property
    def is_whole(self) -> bool:
        """All rows, columns and values of the table are shown."""
        return self.policy is None and not self.hidden

    @property
    def shows_files(self) -> bool:
        """The names of its files may be known: they have values of partition keys, and hashes of bucketed columns."""
        return self.is_whole and not self.unreadable

    def of(self, table: TableHandle) -> GuardedTable:
        """The same with another handle of the connector."""
        return replace(self, table=table)

    def read_columns(self, asked: tuple[ColumnHandle, ...]) -> tuple[ColumnHandle, ...]:
        """What the connector has to read to show some columns."""
        return asked if self.policy is None else self.policy.read_columns(asked)


@dataclass(frozen=True, slots=True)
class GuardedSplit(Split):
    """A split of a table that is shown in part: no one but the guard may read its file, or know its name."""

    split: Split

    @property
    def size_bytes(self) -> int:
        return self.split.size_bytes

    def cut(self, most_bytes: int) -> Sequence[Split]:
        return tuple(GuardedSplit(part) for part in self.split.cut(most_bytes))

    @property
    def native_file(self) -> NativeFile | None:
        return None


def seen_part(table: TableHandle) -> object:
    """Which part of a table an identity sees, as plain data, whatever the snapshot; ``None`` for all of it."""
    if not isinstance(table, GuardedTable) or table.shows_files:
        return None
    return (tuple(sorted(table.hidden)), tuple(sorted(table.unreadable)), table.policy)
