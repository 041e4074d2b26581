"""``system.caches``: what is kept between queries, and how often it was of use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import pyarrow as pa

from connector_spi.names import SchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable

__all__ = ["CacheRow", "CachesTable"]

CacheRow = Mapping[str, str | int | None]
"""Values by column; those that are missing are NULL."""

_SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("entries", pa.int64()),
        ("bytes", pa.int64()),
        ("hits", pa.int64()),
        ("misses", pa.int64()),
        ("evictions", pa.int64()),
    ]
)


class CachesTable(SystemTable):
    """A row for each cache that a catalog uses.

    Args:
        rows: The rows, as they are now.
    """

    def __init__(self, rows: Callable[[], Iterable[CacheRow]]) -> None:
        self._rows = rows

    @property
    def metadata(self) -> TableMetadata:
        columns = tuple(ColumnMetadata(field.name, field.type) for field in _SCHEMA)
        return TableMetadata(SchemaTableName("system", "caches"), columns)

    @property
    def is_local(self) -> bool:
        return True

    def read(self, session: ConnectorSession, constraint: TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pylist([dict(row) for row in self._rows()], _SCHEMA)
