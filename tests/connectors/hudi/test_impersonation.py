"""Where users are impersonated, nothing is asked of the metastore as the catalog's own user."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.model import Partition, StorageDescriptor
from connector_spi.errors import FileMissingError, InvalidArgumentError, TableNotFoundError
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import SupportsTableDefinition, TableDefinition
from connector_spi.properties import parse_properties
from connectors.hudi.connector import HudiConnector, HudiFactory
from tests.catalog.metastore.impersonated import Impersonated
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_session
from tests.connectors.hudi.writer import HudiWriter


@pytest.fixture
def impersonated(tmp_path: Path) -> Impersonated:
    return Impersonated(tmp_path)


@pytest.fixture
def catalog(impersonated: Impersonated) -> HudiCatalog:
    given = {"hive.metastore.uri": "thrift://127.0.0.1:1"}
    typed = parse_properties(HudiFactory().config_properties, given, lambda name: name)
    connector = HudiConnector(typed, impersonated.metastore)
    return HudiCatalog(connector, make_session(connector))


def test_definitions_reads_and_procedures(catalog: HudiCatalog, impersonated: Impersonated, tmp_path: Path) -> None:
    writer = HudiWriter(tmp_path / "t", partition_fields=("part",)).create()
    writer.insert(pa.table({"id": [1, 2], "part": ["a", "b"]}))
    catalog.register(writer.folder)
    user = impersonated.metastore.as_user(catalog.session.user)
    for value, folder in (("a", "part=a"), ("gone", "part=gone")):
        partition = Partition("s", "t", (value,), StorageDescriptor(location=f"{writer.folder}/{folder}"))
        user.writes.add_partitions("s", "t", [partition])
    with pytest.raises(FileMissingError, match="part=gone"):
        catalog.read()
    user.writes.drop_partitions("s", "t", ["part=gone"])
    assert catalog.read().num_rows == 2
    [unregister] = [one for one in catalog.connector.procedures if one.name == "unregister_table"]
    unregister.function(catalog.session, {"schema_name": "s", "table_name": "t"})
    with pytest.raises(TableNotFoundError):
        unregister.function(catalog.session, {"schema_name": "s", "table_name": "t"})
    definition = TableDefinition(SchemaTableName("s", "t"), (), location=str(writer.folder), provider="hudi")
    with catalog.metadata() as (_, metadata):
        assert isinstance(metadata, SupportsTableDefinition)
        metadata.create_table(catalog.session, definition)
        with pytest.raises(InvalidArgumentError, match="there already"):
            metadata.create_table(catalog.session, definition)
    assert catalog.read(columns=["id"]).num_rows == 2
    assert impersonated.own == []
