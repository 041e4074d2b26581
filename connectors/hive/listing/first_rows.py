"""The splits that can hold the first rows in an order, by footers and partition keys. Driver side."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice

from connector_spi.errors import ConnectorError
from connector_spi.handles import ColumnHandle
from connector_spi.optional.top_n import SortItem
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import TupleDomain, Value
from connector_spi.properties import data_size_property
from connector_spi.session import ConnectorSession
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.toolkit.read.first_rows import has_exact_order, holds_first_rows
from connectors.toolkit.read.page_source import FilePageSource
from connectors.toolkit.read.pruning import ColumnBounds

__all__ = ["TOP_N_THRESHOLD", "FirstRows", "is_ordered_by_statistics"]

TOP_N_THRESHOLD = data_size_property(
    "hive.top-n-statistics-threshold",
    "ORDER BY ... LIMIT over so much reads footers first, to leave out files with none of the first rows.",
    32 << 20,
    minimum=0,
    session="top_n_statistics_threshold",
)

_MOST_FOOTERS = 512
"""More are not read while a query is planned."""
_THREADS = 16
_FORMATS = ("parquet", "orc")


def is_ordered_by_statistics(table: HiveTableHandle, item: SortItem) -> bool:
    """Whether partition keys, or footers of files, say which splits come first; filters must be on keys alone."""
    keys = frozenset(table.partition_keys)
    rules = dict(table.text_rules)
    if table.changes is not None or table.aggregation is not None or table.conditions:
        return False
    if not keys.issuperset(table.constraint.domains or ()) or item.column.name in rules:
        return False
    if item.column in keys:
        return table.format in _FORMATS
    return item.column in table.data_columns and has_exact_order(item.column.type) and table.format in _FORMATS


@dataclass(frozen=True, slots=True)
class FirstRows:
    """Leaves out splits of one scan.

    Attributes:
        pages: Reads footers.
        session: The statement.
        table: The table.
        count: How many rows are wanted.
        item: The first column of the order.
    """

    pages: PageSourceProvider
    session: ConnectorSession
    table: HiveTableHandle
    count: int
    item: SortItem

    def chosen(self, splits: Sequence[HiveSplit]) -> list[HiveSplit]:
        """The splits that can hold one of the first rows; all of them on doubt.

        Args:
            splits: All splits of the scan.
        """
        if len(splits) < 2 or sum(split.size_bytes for split in splits) < self.session.get(TOP_N_THRESHOLD):
            return list(splits)
        if self.item.column in self.table.partition_keys:
            return self._by_keys(splits)
        if len(splits) > _MOST_FOOTERS:
            return list(splits)
        with ThreadPoolExecutor(min(_THREADS, len(splits)), thread_name_prefix="hive-footers") as pool:
            known = list(pool.map(self._bounds, splits))
        kept = holds_first_rows(known, self.count, self.item)
        return [split for split, is_kept in zip(splits, kept, strict=True) if is_kept]

    def _by_keys(self, splits: Sequence[HiveSplit]) -> list[HiveSplit]:
        """Footers are read of the first partitions only, until these have rows enough."""
        name = self.item.column.name
        groups: dict[Value | None, list[HiveSplit]] = {}
        for split in splits:
            groups.setdefault(dict(split.partition_values)[name], []).append(split)
        kept: list[HiveSplit] = []
        rows = read = 0
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="hive-footers") as pool:
            for value in self._in_order(groups):
                if rows >= self.count:
                    return kept
                kept += groups[value]
                waiting = iter(groups[value])
                while rows < self.count and (part := list(islice(waiting, _THREADS))):
                    read += len(part)
                    if read > _MOST_FOOTERS:
                        return list(splits)
                    rows += sum(known.row_count or 0 for known in pool.map(self._rows, part) if known is not None)
        return kept

    def _in_order(self, values: Collection[Value | None]) -> Iterator[Value | None]:
        present = sorted((value for value in values if value is not None), reverse=not self.item.ascending)
        nulls: list[Value | None] = [None] if None in values else []
        yield from [*nulls, *present] if self.item.nulls_first else [*present, *nulls]

    def _bounds(self, split: HiveSplit) -> ColumnBounds | None:
        return self._summed(split, (self.item.column,))

    def _rows(self, split: HiveSplit) -> ColumnBounds | None:
        return self._summed(split, ())

    def _summed(self, split: HiveSplit, columns: tuple[ColumnHandle, ...]) -> ColumnBounds | None:
        table = replace(self.table, constraint=TupleDomain.all(), alternatives=(), top_n=None)
        try:
            with self.pages.create_page_source(self.session, split, table, columns, TupleDomain.all()) as source:
                found = source.summary(frozenset()) if isinstance(source, FilePageSource) else None
        except ConnectorError:
            # Whoever reads the file says what is wrong.
            return None
        if found is None:
            return None
        return found.columns[columns[0].name] if columns else ColumnBounds(None, None, 0, found.rows)
