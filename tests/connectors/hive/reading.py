"""Reads tables through the hive connector, with no engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pyarrow as pa

from connector_spi.connector import SPI_VERSION, ConnectorContext
from connector_spi.handles import ColumnHandle, Split
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Constraint, TupleDomain
from connector_spi.properties import parse_properties
from connector_spi.session import ConnectorSession
from connector_spi.splits import ScanSummary
from connectors.hive.connector import HiveConnector, HiveFactory
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.hive.metadata import HiveMetadata

__all__ = ["Scan", "make_connector", "make_session", "open_metadata", "read_table", "scan_table"]


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scan gave.

    Attributes:
        rows: All rows, before the engine checks the filter again.
        splits: The splits.
        summary: What was skipped.
        remaining: What the connector gave back of the filter.
    """

    rows: pa.Table
    splits: tuple[HiveSplit, ...]
    summary: ScanSummary
    remaining: TupleDomain[ColumnHandle]


def make_connector(folder: Path, **properties: str) -> HiveConnector:
    """A connector over an embedded metastore in a folder; ``_`` in a keyword stands for ``.`` and ``__`` for ``-``."""
    given = {name.replace("__", "-").replace("_", "."): value for name, value in properties.items()}
    given |= {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "metastore.db")}
    factory = HiveFactory()
    typed = parse_properties(factory.config_properties, given, lambda name: name)
    return factory.create("hive", typed, ConnectorContext(SPI_VERSION, "test"))


def make_session(connector: HiveConnector, time_zone: str = "UTC", **properties: object) -> ConnectorSession:
    """A session with the connector's defaults."""
    known = {prop.name: prop.default for prop in connector.session_properties} | properties
    return ConnectorSession("q1", "test", time_zone, datetime(2024, 1, 1, tzinfo=UTC), tuple(known.items()))


@contextmanager
def open_metadata(connector: HiveConnector, session: ConnectorSession) -> Iterator[HiveMetadata]:
    """The metadata of a transaction that ends with the block."""
    transaction = connector.begin_transaction(session)
    try:
        yield cast(HiveMetadata, connector.get_metadata(transaction))
    finally:
        transaction.rollback()


def scan_table(
    connector: HiveConnector,
    schema: str,
    table: str,
    columns: Sequence[str] | None = None,
    *,
    constraint: TupleDomain[str] | None = None,
    session: ConnectorSession | None = None,
    dynamic_filter: TupleDomain[ColumnHandle] | None = None,
    handles: Sequence[ColumnHandle] | None = None,
    changed: Callable[[HiveTableHandle], HiveTableHandle] | None = None,
) -> Scan:
    """Scans a table as an engine does, up to checking the filter again; ``changed`` makes another of its handle."""
    session = session or make_session(connector)
    transaction = connector.begin_transaction(session)
    try:
        metadata = connector.get_metadata(transaction)
        handle = metadata.get_table_handle(session, SchemaTableName(schema, table))
        assert isinstance(handle, HiveTableHandle)
        handle = handle if changed is None else changed(handle)
        known = metadata.get_column_handles(session, handle)
        remaining: TupleDomain[ColumnHandle] = TupleDomain.all()
        if constraint is not None:
            wanted = constraint.transform_keys(lambda name: known[name])
            taken = metadata.apply_filter(session, handle, Constraint(wanted))
            remaining = wanted if taken is None else taken.remaining
            handle = handle if taken is None else cast(HiveTableHandle, taken.table)
        visible = metadata.get_table_metadata(session, handle).visible_columns()
        names = [column.name for column in visible] if columns is None else columns
        asked = tuple(handles) if handles is not None else tuple(known[name] for name in names)
        every: TupleDomain[ColumnHandle] = dynamic_filter if dynamic_filter is not None else TupleDomain.all()
        with connector.split_manager.get_splits(transaction, session, handle, asked, every) as source:
            splits: list[Split] = [split for batch in source for split in batch]
            summary = source.summary()
        batches = list(_batches(connector, session, handle, splits, asked, every))
    finally:
        transaction.commit()
    rows = pa.Table.from_batches(batches, pa.schema([(column.name, column.type) for column in asked]))
    return Scan(rows, tuple(cast(HiveSplit, split) for split in splits), summary, remaining)


def read_table(connector: HiveConnector, schema: str, table: str, columns: Sequence[str] | None = None) -> pa.Table:
    """All rows of a table."""
    return scan_table(connector, schema, table, columns).rows


def _batches(
    connector: HiveConnector,
    session: ConnectorSession,
    handle: HiveTableHandle,
    splits: Sequence[Split],
    columns: tuple[ColumnHandle, ...],
    dynamic_filter: TupleDomain[ColumnHandle],
) -> Iterator[pa.RecordBatch]:
    for split in splits:
        provider = connector.page_source_provider
        with provider.create_page_source(session, split, handle, columns, dynamic_filter) as pages:
            for batch in pages:
                assert batch.schema.equals(pages.schema)
                yield batch
