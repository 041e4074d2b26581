"""``t$partitions`` and ``t$properties``. Driver side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from catalog.metastore.client import MetastoreClient
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable
from connectors.hive.handles import HiveTableHandle
from connectors.hive.partitions.selection import prune_partitions

__all__ = ["PartitionsTable", "PropertiesTable"]


class PartitionsTable(SystemTable):
    """One row for each partition: the values of its keys.

    Args:
        name: Name of the table.
        client: The metastore, as the statement's transaction sees it.
        table: The partitioned table.
    """

    kind = "partitions"

    def __init__(self, name: SystemTableName, client: MetastoreClient, table: HiveTableHandle) -> None:
        self._client = client
        self._table = table
        self._name = name

    @property
    def metadata(self) -> TableMetadata:
        return _metadata(self._name, {key.name: key.type for key in self._table.partition_keys})

    def read(self, session: ConnectorSession, constraint: TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        keys = {key.name: key for key in self._table.partition_keys}
        wanted = constraint.transform_keys(keys.get)
        kept = prune_partitions(self._client, self._table, wanted).kept
        rows = [dict(partition.values) for partition in kept]
        schema = pa.schema([(key.name, key.type) for key in self._table.partition_keys])
        yield pa.RecordBatch.from_pylist(rows, schema)


class PropertiesTable(SystemTable):
    """One row, with a text column for each property of the table in the metastore, and for its access rights.

    Args:
        name: Name of the table.
        properties: The properties.
    """

    kind = "properties"

    def __init__(self, name: SystemTableName, properties: Mapping[str, str]) -> None:
        self._name = name
        self._properties = dict(sorted(properties.items()))

    @property
    def metadata(self) -> TableMetadata:
        return _metadata(self._name, dict.fromkeys(self._properties, pa.string()))

    def read(self, session: ConnectorSession, constraint: TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([(key, pa.string()) for key in self._properties])
        yield pa.RecordBatch.from_pylist([self._properties], schema)


def _metadata(name: SystemTableName, columns: Mapping[str, pa.DataType]) -> TableMetadata:
    table = SchemaTableName(name.base.schema, f"{name.base.table}${name.kind}")
    return TableMetadata(table, tuple(ColumnMetadata(column, arrow) for column, arrow in columns.items()))
