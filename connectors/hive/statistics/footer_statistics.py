"""What footers of files say of the rows of a scan, for plans by cost. Driver side."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pyarrow as pa

from connector_spi.errors import ConnectorError
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.properties import integer_property
from connector_spi.session import ConnectorSession
from connector_spi.statistics import ColumnStatistics, TableStatistics
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.toolkit.caching.cache_state import registered
from connectors.toolkit.caching.process_cache import ProcessCache
from connectors.toolkit.caching.settled import is_settled, now_millis
from connectors.toolkit.read.page_source import FilePageSource
from connectors.toolkit.read.pruning import ColumnBounds, enclosing
from connectors.toolkit.read.summary import RangeSummary
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["FOOTER_STATISTICS", "FooterStatistics"]

FOOTER_STATISTICS = integer_property(
    "hive.footer-statistics-max-files",
    "Plans by cost take statistics that the metastore has not from footers of so many files at most; 0 opens none.",
    128,
    minimum=0,
    session="footer_statistics_max_files",
)

_ENTRY_BYTES = 300
_THREADS = 16
_FORMATS = ("parquet", "orc")


@dataclass(frozen=True, slots=True)
class _Key:
    """Storage with what it is reached by, how a part of a file is read, and the columns that are asked for."""

    files: FileSystem
    table: HiveTableHandle
    split: HiveSplit
    columns: tuple[ColumnHandle, ...]


_FOUND: ProcessCache[_Key, RangeSummary | None] = registered(
    ProcessCache("hive-footer-statistics", lambda found: _ENTRY_BYTES * (1 + len(found.columns if found else ())))
)
"""What this process has read."""


@dataclass(frozen=True, slots=True)
class FooterStatistics:
    """Reads footers, and keeps what they say by path, size and modification time. Thread-safe.

    Attributes:
        files: Storage.
        pages: Reads the footers.
        session: The statement.
        memory: Most bytes of what the process keeps; 0 keeps nothing.
    """

    files: FileSystem
    pages: PageSourceProvider
    session: ConnectorSession
    memory: int

    def of(
        self, table: HiveTableHandle, splits: Sequence[HiveSplit], columns: Sequence[ColumnHandle]
    ) -> TableStatistics | None:
        """Rows of all splits, and the NULLs and bounds of columns.

        Args:
            table: The table.
            splits: All splits of the scan.
            columns: The columns that are asked for; others than plain ones of the files are left out.

        Returns:
            ``None`` where a file does not say it, cannot be read, or there are too many.
        """
        files = {split.path for split in splits}
        if table.format not in _FORMATS or not 0 < len(files) <= self.session.get(FOOTER_STATISTICS):
            return None
        rules = dict(table.text_rules)
        plain = (one for one in columns if one in table.data_columns and one.name not in rules)
        known = tuple(one for one in plain if not pa.types.is_nested(one.type))
        every = replace(table, constraint=TupleDomain.all(), columns=None, alternatives=(), conditions=(), top_n=None)
        with ThreadPoolExecutor(min(_THREADS, len(splits)), thread_name_prefix="hive-footers") as pool:
            asked = (_Key(self.files, every, split, known) for split in splits)
            found = [one for one in pool.map(self._kept, asked) if one is not None]
        if len(found) < len(splits):
            return None
        rows = sum(one.rows for one in found)
        bounds = ((one.name, enclosing([part.columns[one.name] for part in found])) for one in known)
        return TableStatistics(float(rows), None, tuple((name, _statistics(one, rows)) for name, one in bounds))

    def _kept(self, asked: _Key) -> RangeSummary | None:
        if self.memory <= 0 or not is_settled(asked.split.modified_millis, now_millis()):
            return self._read(asked)
        return _FOUND.get(asked, lambda: self._read(asked), self.memory)

    def _read(self, asked: _Key) -> RangeSummary | None:
        whole = TupleDomain[ColumnHandle].all()
        try:
            with self.pages.create_page_source(self.session, asked.split, asked.table, asked.columns, whole) as source:
                return source.enclosure() if isinstance(source, FilePageSource) else None
        except ConnectorError:
            # Whoever reads the file says what is wrong.
            return None


def _statistics(bounds: ColumnBounds, rows: int) -> ColumnStatistics:
    nulls = None if bounds.null_count is None or not rows else bounds.null_count / rows
    return ColumnStatistics(null_fraction=nulls, low=bounds.low, high=bounds.high)
