"""Whether the rows of files are in the order that their table declares. Driver side."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import ConnectorError
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connectors.hive.buckets.layout import BucketCheck
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.toolkit.caching.cache_state import registered
from connectors.toolkit.caching.process_cache import ProcessCache
from connectors.toolkit.caching.settled import is_settled, now_millis
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["OrderProof", "has_order"]

_LOG = logging.getLogger(__name__)
_ENTRY_BYTES = 400
_ORDERED = (pa.types.is_integer, pa.types.is_string, pa.types.is_date32, pa.types.is_decimal)
"""Types whose order Arrow and Spark have alike."""


@dataclass(frozen=True, slots=True)
class _Key:
    """Storage with what it is reached by, a file as it was listed, and the column that its rows are in order of."""

    files: FileSystem
    file: tuple[str, int, int]
    column: ColumnHandle


_PROVEN: ProcessCache[_Key, bool] = registered(ProcessCache("hive-sort-order", lambda _: _ENTRY_BYTES))
"""What this process has found out."""


def has_order(column: ColumnHandle) -> bool:
    """Whether the order of a column's values is one that all agree on."""
    return any(kind(column.type) for kind in _ORDERED)


@dataclass(frozen=True, slots=True)
class OrderProof:
    """Reads one column of files, and looks whether it ascends, NULLs first. Thread-safe.

    Attributes:
        files: Storage.
        pages: Reads the files.
        session: The statement.
        table: The table with no filter.
        column: The column.
        memory: Most bytes of what the process keeps of it; 0 keeps nothing.
    """

    files: FileSystem
    pages: PageSourceProvider
    session: ConnectorSession
    table: HiveTableHandle
    column: ColumnHandle
    memory: int

    def holds(self, split: HiveSplit) -> bool:
        """Whether all rows of a split's file are in order."""
        if self.memory <= 0 or not is_settled(split.modified_millis, now_millis()):
            return self._found(split)
        key = _Key(self.files, (split.path, split.file_size, split.modified_millis), self.column)
        return _PROVEN.get(key, lambda: self._found(split), self.memory)

    def _found(self, split: HiveSplit) -> bool:
        whole = replace(split, start=0, length=split.file_size, bucket_check=BucketCheck.NONE)
        columns, everything = (self.column,), TupleDomain[ColumnHandle].all()
        try:
            with self.pages.create_page_source(self.session, whole, self.table, columns, everything) as source:
                return _ascends(batch.column(0) for batch in source if batch.num_rows)
        except ConnectorError as error:
            # Whoever reads the file gets the error again.
            _LOG.debug("not sure of the order of %s: %s", split.path, error.message)
            return False


def _ascends(parts: Iterable[pa.Array]) -> bool:
    last: pa.Scalar | None = None
    for part in parts:
        values = part.slice(part.null_count)
        if values.null_count or (last is not None and part.null_count):
            return False
        if not len(values):
            continue
        if last is not None and not pc.less_equal(last, values[0]).as_py():
            return False
        if not pc.all(pc.less_equal(values.slice(0, len(values) - 1), values.slice(1)), min_count=0).as_py():
            return False
        last = values[len(values) - 1]
    return True
