"""The tables of ``information_schema``, with Trino's columns, and ``system.metadata``. Driver side."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

import pyarrow as pa

from connector_spi.names import SchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable
from lakeport.information_schema.listing import CatalogListing, ListedTable, Resolve, allows
from lakeport.transactions.statement import CatalogAccess
from lakeport.type_names import type_name

__all__ = ["catalog_listing", "system_table"]

_INFORMATION_SCHEMA = "information_schema"
_BATCH_ROWS = 1000
_OF_TABLE = {"table_catalog": pa.string(), "table_schema": pa.string(), "table_name": pa.string()}


class _CatalogTable(SystemTable):
    """A table about what a catalog has."""

    name: ClassVar[SchemaTableName]
    comment: ClassVar[str]
    columns: ClassVar[Mapping[str, pa.DataType]]

    def __init__(self, listing: CatalogListing) -> None:
        self._listing = listing

    @property
    def metadata(self) -> TableMetadata:
        columns = tuple(ColumnMetadata(name, arrow) for name, arrow in self.columns.items())
        return TableMetadata(self.name, columns, comment=self.comment)

    def read(self, session: ConnectorSession, constraint: TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        catalog = next(iter(self.columns))
        if not allows(constraint, catalog, self._listing.catalog):
            return
        schema = pa.schema(self.columns.items())
        rows: list[dict[str, object]] = []
        for row in self._rows(constraint):
            rows.append({catalog: self._listing.catalog, **row})
            if len(rows) == _BATCH_ROWS:
                yield pa.RecordBatch.from_pylist(rows, schema)
                rows = []
        yield pa.RecordBatch.from_pylist(rows, schema)

    @abstractmethod
    def _rows(self, constraint: TupleDomain[str]) -> Iterator[dict[str, object]]:
        """The rows without the catalog's name."""


class _Schemata(_CatalogTable):
    name = SchemaTableName(_INFORMATION_SCHEMA, "schemata")
    comment = "The schemas of the catalog"
    columns: ClassVar = {"catalog_name": pa.string(), "schema_name": pa.string()}

    def _rows(self, constraint: TupleDomain[str]) -> Iterator[dict[str, object]]:
        for schema in self._listing.schemas():
            yield {"schema_name": schema}


class _Tables(_CatalogTable):
    name = SchemaTableName(_INFORMATION_SCHEMA, "tables")
    comment = "The tables and views of the catalog"
    columns: ClassVar = {**_OF_TABLE, "table_type": pa.string()}

    def _rows(self, constraint: TupleDomain[str]) -> Iterator[dict[str, object]]:
        for listed in self._listing.tables(constraint):
            yield {**_named(listed), "table_type": _kind(listed)}


class _Columns(_CatalogTable):
    name = SchemaTableName(_INFORMATION_SCHEMA, "columns")
    comment = "The columns of the tables and views that can be read; system.metadata says why others cannot be"
    columns: ClassVar = {
        **_OF_TABLE,
        "column_name": pa.string(),
        "ordinal_position": pa.int64(),
        "column_default": pa.string(),
        "is_nullable": pa.string(),
        "data_type": pa.string(),
        "comment": pa.string(),
    }

    def _rows(self, constraint: TupleDomain[str]) -> Iterator[dict[str, object]]:
        for listed in self._listing.all_described(constraint):
            table = listed.table
            for position, column in enumerate(() if table is None else table.visible_columns(), 1):
                yield {
                    **_named(listed),
                    "column_name": column.name,
                    "ordinal_position": position,
                    "is_nullable": "YES" if column.nullable else "NO",
                    "data_type": type_name(column),
                    "comment": column.comment,
                }


class _Views(_CatalogTable):
    name = SchemaTableName(_INFORMATION_SCHEMA, "views")
    comment = "The views of the catalog; the definition of one that is not understood is NULL"
    columns: ClassVar = {**_OF_TABLE, "view_definition": pa.string()}

    def _rows(self, constraint: TupleDomain[str]) -> Iterator[dict[str, object]]:
        for listed in self._listing.tables(constraint):
            if listed.is_view:
                view = self._listing.described(listed).view
                yield {**_named(listed), "view_definition": None if view is None else view.text}


class _Metadata(_CatalogTable):
    name = SchemaTableName("system", "metadata")
    comment = "What is known of each table and view: comment, partition keys, properties, and why it cannot be read"
    columns: ClassVar = {
        **_OF_TABLE,
        "table_type": pa.string(),
        "comment": pa.string(),
        "partitioned_by": pa.list_(pa.string()),
        "properties": pa.map_(pa.string(), pa.string()),
        "problem": pa.string(),
    }

    def _rows(self, constraint: TupleDomain[str]) -> Iterator[dict[str, object]]:
        for found in self._listing.all_described(constraint):
            known = (
                {}
                if found.table is None
                else {
                    "comment": found.table.comment,
                    "partitioned_by": list(found.table.partitioned_by),
                    "properties": list(found.table.properties),
                }
            )
            yield {**_named(found), "table_type": _kind(found), **known, "problem": found.problem}


_TABLES: dict[SchemaTableName, type[_CatalogTable]] = {
    table.name: table for table in (_Schemata, _Tables, _Columns, _Views, _Metadata)
}


def system_table(access: CatalogAccess, name: SchemaTableName, resolve: Resolve) -> SystemTable | None:
    """The table about a catalog of this name, the connector's own or the engine's; ``None`` where there is none.

    Args:
        access: The catalog.
        name: In lower case.
        resolve: Finds the tables of the catalog.
    """
    for table in access.connector.system_tables:
        if table.metadata.name == name:
            return table
    made = _TABLES.get(name)
    return None if made is None else made(catalog_listing(access, resolve))


def catalog_listing(access: CatalogAccess, resolve: Resolve) -> CatalogListing:
    """Lists a catalog, the tables about it included; arguments as of ``system_table``."""
    own = {table.metadata.name for table in access.connector.system_tables}
    return CatalogListing(access, resolve, frozenset({*own, *_TABLES}))


def _named(listed: ListedTable) -> dict[str, object]:
    return {"table_schema": listed.name.schema, "table_name": listed.name.table}


def _kind(listed: ListedTable) -> str:
    return "VIEW" if listed.is_view else "BASE TABLE"
