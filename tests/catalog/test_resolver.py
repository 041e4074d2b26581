from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from catalog.resolver import ResolvedSystemTable, ResolvedTable, resolve_column, resolve_schema, resolve_table
from connector_spi.connector import SPI_VERSION, ConnectorContext
from connector_spi.errors import (
    ColumnNotFoundError,
    InvalidArgumentError,
    MetastoreError,
    NotSupportedError,
    SchemaNotFoundError,
    TableNotFoundError,
)
from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.metadata import ConnectorMetadata, TableVersion, VersionKind
from connector_spi.names import CatalogSchemaTableName, SchemaTableName
from connector_spi.properties import parse_properties
from connector_spi.schema import TableMetadata
from connector_spi.session import ConnectorSession
from connectors.memory.connector import MemoryConnector, MemoryFactory

SESSION = ConnectorSession("q1", "ann", "UTC", datetime(2024, 1, 1, tzinfo=UTC), (("max_split_rows", 10),))


@pytest.fixture
def memory() -> Iterator[MemoryConnector]:
    factory = MemoryFactory()
    properties = parse_properties(factory.config_properties, {}, str)
    connector = factory.create("m", properties, ConnectorContext(SPI_VERSION, "0"))
    connector.create_table(SchemaTableName("sales", "orders"), pa.table({"id": [1], "Amount": [2.5]}))
    connector.create_table(SchemaTableName("sales", "order_items"), pa.table({"id": [1]}))
    yield connector
    connector.shutdown()


@pytest.fixture
def metadata(memory: MemoryConnector) -> ConnectorMetadata:
    return memory.get_metadata(memory.begin_transaction(SESSION))


def name(schema: str, table: str) -> CatalogSchemaTableName:
    return CatalogSchemaTableName("m", schema, table)


def version(text: str) -> TableVersion:
    return TableVersion(VersionKind.VERSION, text)


def test_a_table_is_found_in_any_case(metadata: ConnectorMetadata) -> None:
    found = resolve_table(SESSION, metadata, name("Sales", "ORDERS"))
    assert isinstance(found, ResolvedTable)
    assert found.name == name("sales", "orders")
    assert found.table.name == SchemaTableName("sales", "orders")
    assert list(found.columns) == ["id", "Amount", "$chunk", "$row_id"]


@pytest.mark.parametrize(
    ("schema", "table", "error", "message"),
    [
        ("sale", "orders", SchemaNotFoundError, "no schema sale in catalog m; did you mean sales?"),
        ("zzz", "orders", SchemaNotFoundError, "no schema zzz in catalog m"),
        ("sales", "ordres", TableNotFoundError, "no table m.sales.ordres; did you mean orders"),
        ("sales", "zzz", TableNotFoundError, "no table m.sales.zzz"),
        ("sales", "ordres$snapshots", TableNotFoundError, "no table m.sales.ordres; did you mean orders"),
        (
            "sales",
            "orders$files",
            TableNotFoundError,
            "no system table 'files' about table m.sales.orders; there are: snapshots",
        ),
    ],
)
def test_what_is_missing_is_named_with_what_is_close(
    metadata: ConnectorMetadata, schema: str, table: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as met:
        resolve_table(SESSION, metadata, name(schema, table))
    assert message in str(met.value)


def test_a_system_table_is_found(metadata: ConnectorMetadata) -> None:
    found = resolve_table(SESSION, metadata, name("sales", "orders$snapshots"))
    assert isinstance(found, ResolvedSystemTable)
    assert found.system_table.metadata.name == SchemaTableName("sales", "orders$snapshots")
    with pytest.raises(NotSupportedError, match="has no older states"):
        resolve_table(SESSION, metadata, name("sales", "orders$snapshots"), version("1"))


def test_an_older_state_is_found(memory: MemoryConnector) -> None:
    memory.insert(SchemaTableName("sales", "orders"), pa.table({"id": [2], "Amount": [0.0]}))
    metadata = memory.get_metadata(memory.begin_transaction(SESSION))
    newest = resolve_table(SESSION, metadata, name("sales", "orders"))
    second = resolve_table(SESSION, metadata, name("sales", "orders"), version("2"))
    first = resolve_table(SESSION, metadata, name("sales", "orders"), version("1"))
    assert isinstance(newest, ResolvedTable)
    assert isinstance(first, ResolvedTable)
    assert isinstance(second, ResolvedTable)
    assert second.handle == newest.handle
    assert first.handle != newest.handle
    with pytest.raises(InvalidArgumentError, match="has no version '3'; it has 1 to 2"):
        resolve_table(SESSION, metadata, name("sales", "orders"), version("3"))
    with pytest.raises(TableNotFoundError):
        resolve_table(SESSION, metadata, name("sales", "ordres"), version("1"))


def test_a_schema_is_found_in_any_case(metadata: ConnectorMetadata) -> None:
    assert resolve_schema(SESSION, metadata, "m", "SALES") == "sales"
    with pytest.raises(SchemaNotFoundError, match="did you mean sales"):
        resolve_schema(SESSION, metadata, "m", "salse")


def test_a_column_is_found_in_any_case(metadata: ConnectorMetadata) -> None:
    found = resolve_table(SESSION, metadata, name("sales", "orders"))
    assert isinstance(found, ResolvedTable)
    assert resolve_column(found, "AMOUNT").name == "Amount"
    assert resolve_column(found, "$chunk").name == "$chunk"
    with pytest.raises(ColumnNotFoundError, match=r"no column amuont in table m\.sales\.orders; did you mean Amount"):
        resolve_column(found, "amuont")


class NoListing(ConnectorMetadata):
    """One table, without older states; listing fails."""

    def list_schema_names(self, session: ConnectorSession) -> Sequence[str]:
        raise MetastoreError("down")

    def schema_exists(self, session: ConnectorSession, schema: str) -> bool:
        return True

    def list_tables(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        raise MetastoreError("down")

    def get_table_handle(self, session: ConnectorSession, name: SchemaTableName) -> TableHandle | None:
        return TableHandle() if name.table == "orders" else None

    def get_table_metadata(self, session: ConnectorSession, table: TableHandle) -> TableMetadata:
        return TableMetadata(SchemaTableName("sales", "orders"), ())

    def get_column_handles(self, session: ConnectorSession, table: TableHandle) -> dict[str, ColumnHandle]:
        return {}


def test_a_connector_without_older_states_says_so() -> None:
    with pytest.raises(NotSupportedError, match=r"table m\.sales\.orders cannot be read at an older state"):
        resolve_table(SESSION, NoListing(), name("sales", "orders"), version("1"))
    with pytest.raises(TableNotFoundError):
        resolve_table(SESSION, NoListing(), name("sales", "nothing"), version("1"))


def test_a_listing_that_fails_only_shortens_the_message() -> None:
    with pytest.raises(TableNotFoundError, match=r"no table m\.sales\.ordres$"):
        resolve_table(SESSION, NoListing(), name("sales", "ordres"))
