from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import pyarrow as pa

from connector_spi.connector import ConnectorFactory
from connector_spi.metadata import SupportsLimit, SupportsPartitionListing, SupportsStatistics
from connector_spi.names import SchemaTableName
from connector_spi.testing import Behaviour
from connectors.hive.connector import HiveConnector, HiveFactory
from tests.connectors.file_tables import FileTablesConformance
from tests.connectors.hive.table_writer import create_table, write_file
from tests.sampling import examples


class HiveConformance(FileTablesConformance):
    """Plain tables of files: they have no versions, and files that are added are seen."""

    missing_behaviours: ClassVar[frozenset[Behaviour]] = frozenset(
        {
            Behaviour.CHANGES,
            Behaviour.EXPRESSION_PUSHDOWN,
            Behaviour.LIMIT,
            Behaviour.MERGE,
            Behaviour.SNAPSHOT_ISOLATION,
            Behaviour.STREAMING,
            Behaviour.TIME_TRAVEL,
        }
    )
    # Hive does not read them from files of ORC and Parquet.
    refused_in_inserts = frozenset({Behaviour.TYPE_TIMESTAMP_UTC})
    empty_system_tables = frozenset({"acid", "compactions"})
    max_examples = examples(50)
    file_format: ClassVar[str]

    def factory(self) -> ConnectorFactory:
        return HiveFactory()

    def catalog_properties(self) -> Mapping[str, str]:
        # Tables of any size.
        return {**super().catalog_properties(), "hive.top-n-statistics-threshold": "0B"}

    def test_abilities_are_claimed_as_they_are_listed(self) -> None:
        """Older states and changes are claimed, too: transactional tables have them, plain ones refuse by name."""
        with self.query() as query:
            assert isinstance(query.metadata, SupportsStatistics)
            assert isinstance(query.metadata, SupportsPartitionListing)
            assert not isinstance(query.metadata, SupportsLimit)

    def add_rows(self, name: SchemaTableName, data: pa.Table) -> None:
        folder = self.folder / name.schema / name.table
        write_file(folder / f"part-{len(list(folder.iterdir()))}", data, self.file_format)

    def create_table(self, name: SchemaTableName, data: pa.Table, partitioned_by: Sequence[str]) -> None:
        assert isinstance(self.connector, HiveConnector)
        create_table(
            self.connector.metastore,
            self.folder,
            name.schema,
            name.table,
            data,
            partitioned_by,
            file_format=self.file_format,
        )


class TestParquetConformance(HiveConformance):
    file_format = new_table_provider = "parquet"


class TestOrcConformance(HiveConformance):
    file_format = new_table_provider = "orc"
    # Some are before 1970 and no whole second.
    refused_in_inserts = HiveConformance.refused_in_inserts | {Behaviour.TYPE_TIMESTAMP}
