"""Reads a table of the ``hive`` catalog through the SPI, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pyarrow as pa

from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connectors.hive.connector import HiveConnector

__all__ = ["PlannedScan", "planned_scan"]


@dataclass(frozen=True, slots=True)
class PlannedScan:
    """A scan whose transaction is open.

    Attributes:
        splits: All of it.
    """

    connector: HiveConnector
    session: ConnectorSession
    table: TableHandle
    columns: tuple[ColumnHandle, ...]
    splits: tuple[Split, ...]

    def rows(self) -> int:
        """Reads all splits, one after the other, and counts the rows."""
        return sum(batch.num_rows for batch in self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        provider = self.connector.page_source_provider
        for split in self.splits:
            with provider.create_page_source(self.session, split, self.table, self.columns, TupleDomain.all()) as pages:
                yield from pages


@contextmanager
def planned_scan(
    connector: HiveConnector, table: str, columns: Sequence[str], **properties: object
) -> Iterator[PlannedScan]:
    """Plans ``SELECT columns FROM bench.<table>``.

    Args:
        connector: Of the catalog.
        table: In the schema ``bench``.
        columns: What to read.
        properties: Of the session, beside the connector's defaults.
    """
    session = ConnectorSession("bench", "bench", "UTC", datetime.now(UTC))
    known = {prop.name: prop.default for prop in connector.session_properties} | properties
    session = replace(session, properties=tuple(known.items()))
    transaction = connector.begin_transaction(session)
    try:
        metadata = connector.get_metadata(transaction)
        handle = metadata.get_table_handle(session, SchemaTableName("bench", table))
        assert handle is not None
        by_name = metadata.get_column_handles(session, handle)
        asked = tuple(by_name[name] for name in columns)
        every: TupleDomain[ColumnHandle] = TupleDomain.all()
        with connector.split_manager.get_splits(transaction, session, handle, asked, every) as source:
            splits = tuple(split for batch in source for split in batch)
        yield PlannedScan(connector, session, handle, asked, splits)
    finally:
        transaction.commit()
