"""``system.metastore_calls``: what the last statements of a catalog called in its metastore."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from catalog.metastore.calls.statistics import CallHistory
from connector_spi.names import SchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable

__all__ = ["MetastoreCallsTable"]

_SCHEMA = pa.schema(
    [
        ("query_id", pa.string()),
        ("user", pa.string()),
        ("start", pa.timestamp("us", "UTC")),
        ("call", pa.string()),
        ("calls", pa.int64()),
        ("total_ms", pa.float64()),
    ]
)


class MetastoreCallsTable(SystemTable):
    """A row for each statement and each call that it made, oldest statement first.

    Args:
        history: The statements.
    """

    def __init__(self, history: CallHistory) -> None:
        self._history = history

    @property
    def metadata(self) -> TableMetadata:
        columns = tuple(ColumnMetadata(field.name, field.type) for field in _SCHEMA)
        return TableMetadata(SchemaTableName("system", "metastore_calls"), columns)

    def read(self, session: ConnectorSession, constraint: TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        rows = [
            {
                "query_id": statement.query_id,
                "user": statement.user,
                "start": statement.start,
                "call": call,
                "calls": count.count,
                "total_ms": count.seconds * 1000,
            }
            for statement in self._history.statements()
            for call, count in statement.calls.by_method().items()
        ]
        yield pa.RecordBatch.from_pylist(rows, _SCHEMA)
