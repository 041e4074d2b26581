"""The catalogs of a server as a registry, so that the shell lists, describes and completes their names."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
from pyspark.errors import PySparkException

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.connector import Connector
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import InvalidPropertyError, NotSupportedError
from connector_spi.handles import TableHandle
from connector_spi.metadata import ConnectorMetadata
from connector_spi.names import SchemaTableName, quote_identifier
from connector_spi.page_source import PageSourceProvider
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.splits import SplitManager
from lakeport.remote.engine import RemoteEngine
from lakeport.spark.bridge.types import arrow_type
from lakeport.version import VERSION

__all__ = ["remote_catalogs"]

_MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")


def remote_catalogs(engine: RemoteEngine) -> CatalogRegistry:
    """A registry of the catalogs that a server has now."""
    registry = CatalogRegistry(PluginSet.of(), VERSION)
    for name in engine.catalogs():
        # Names of Spark that are none here are reached by SQL.
        with suppress(InvalidPropertyError):
            registry.register_connector(name, _RemoteConnector(engine, name))
    return registry


@dataclass(frozen=True, slots=True)
class _RemoteTable(TableHandle):
    name: SchemaTableName

    def __str__(self) -> str:
        return str(self.name)


class _RemoteConnector(Connector):
    """Names of a server's catalog; rows come by SQL alone."""

    def __init__(self, engine: RemoteEngine, catalog: str) -> None:
        self._metadata = _RemoteMetadata(engine, catalog)

    def get_metadata(self, transaction: ConnectorTransaction) -> ConnectorMetadata:
        return self._metadata

    @property
    def split_manager(self) -> SplitManager:
        raise _sql_alone()

    @property
    def page_source_provider(self) -> PageSourceProvider:
        raise _sql_alone()


class _RemoteMetadata(ConnectorMetadata):
    def __init__(self, engine: RemoteEngine, catalog: str) -> None:
        self._engine = engine
        self._catalog = catalog

    def list_schema_names(self, session: ConnectorSession) -> Sequence[str]:
        return sorted(self._engine.schemas(self._catalog))

    def list_tables(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        try:
            return [SchemaTableName(schema, name) for name in self._engine.tables(self._catalog, schema)]
        except PySparkException as error:
            if error.getCondition() in _MISSING:
                return ()
            raise

    def get_table_handle(self, session: ConnectorSession, name: SchemaTableName) -> TableHandle | None:
        return _RemoteTable(name) if self._fields(name) is not None else None

    def get_table_metadata(self, session: ConnectorSession, table: TableHandle) -> TableMetadata:
        assert isinstance(table, _RemoteTable)
        return TableMetadata(table.name, tuple(map(_column, self._fields(table.name) or ())))

    def _fields(self, name: SchemaTableName) -> list[dict[str, object]] | None:
        parts = (self._catalog, name.schema, name.table)
        try:
            frame = self._engine.session.table(".".join(map(quote_identifier, parts)))
            fields: list[dict[str, object]] = frame.schema.jsonValue()["fields"]
            return fields
        except PySparkException as error:
            if error.getCondition() in _MISSING:
                return None
            raise


def _column(field: dict[str, object]) -> ColumnMetadata:
    metadata = field["metadata"]
    comment = metadata.get("comment") if isinstance(metadata, dict) else None
    try:
        arrow, declared = arrow_type(field["type"]), None
    except NotSupportedError:
        arrow, declared = pa.null(), str(field["type"])
    return ColumnMetadata(str(field["name"]), arrow, bool(field["nullable"]), comment, declared_type=declared)


def _sql_alone() -> NotSupportedError:
    return NotSupportedError("rows of a server's tables come by SQL alone")
