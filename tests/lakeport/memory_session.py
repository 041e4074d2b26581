"""Sessions over tables in memory, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
from pyspark.sql import SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.names import SchemaTableName
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from lakeport.session import Session


@contextmanager
def memory_session(spark: SparkSession | None = None) -> Iterator[tuple[Session, MemoryConnector]]:
    """A session with the one catalog ``mem``, and its connector to put tables in."""
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})
    with Session(registry, spark) as session:
        connector = registry.get("mem")
        assert isinstance(connector, MemoryConnector)
        yield session, connector


def put(connector: MemoryConnector, table: str, data: pa.Table, *keys: str, chunk_rows: int | None = None) -> None:
    """Adds a table of the schema ``s``."""
    connector.create_table(SchemaTableName("s", table), data, keys, chunk_rows=chunk_rows)
