"""A transactional table whose handle tests point at folders of theirs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_connector
from tests.connectors.hive.table_writer import storage

TABLE = SchemaTableName("s", "t")


@pytest.fixture(scope="module")
def acid_connector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveConnector]:
    """Knows ``TABLE``, of the columns ``k int, v string``."""
    folder = tmp_path_factory.mktemp("metastore")
    connector = make_connector(folder)
    writes = connector.metastore.writes
    writes.create_database(Database(TABLE.schema))
    columns = [FieldSchema("k", "int"), FieldSchema("v", "string")]
    parameters = Parameters.of({"transactional": "true", "transactional_properties": "default"})
    place = storage(columns, folder, "orc")
    writes.create_table(Table(TABLE.schema, TABLE.table, place, (), parameters, "MANAGED_TABLE"))
    yield connector
    connector.shutdown()
