from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from connector_spi.connector import ConnectorFactory
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.predicate import TupleDomain, Value
from connector_spi.testing import Behaviour, ConnectorConformance
from connectors.memory.connector import MemoryConnector, MemoryFactory
from tests.sampling import examples


class TestMemoryConformance(ConnectorConformance):
    """The reference connector has no files to damage. It computes nothing, as engine tests watch what is computed."""

    missing_behaviours = frozenset(
        {Behaviour.AGGREGATION, Behaviour.DAMAGED_DATA, Behaviour.EXPRESSION_PUSHDOWN, Behaviour.TOP_N}
    )
    max_examples = examples(50)

    def factory(self) -> ConnectorFactory:
        return MemoryFactory()

    def create_table(self, name: SchemaTableName, data: pa.Table, partitioned_by: Sequence[str]) -> None:
        self.memory.create_table(name, data, partitioned_by, chunk_rows=5 if data.num_rows < 1000 else None)

    def add_rows(self, name: SchemaTableName, data: pa.Table) -> None:
        self.memory.insert(name, data)

    def merge_rows(self, name: SchemaTableName, data: pa.Table, deletes: Sequence[int]) -> None:
        self.memory.merge(name, "id", data, deletes)

    def newest_version(self, name: SchemaTableName) -> TableVersion:
        with self.query() as query:
            found = query.metadata.get_system_table(query.session, SystemTableName(name, "snapshots"))
            assert found is not None
            versions = pa.Table.from_batches(found.read(query.session, TupleDomain.all())).column("version")
        return TableVersion(VersionKind.VERSION, str(versions[-1]))

    def procedure_arguments(self, procedure: str, name: SchemaTableName) -> Mapping[str, Value | None]:
        return {"schema_name": name.schema, "table_name": name.table, "version": 1}

    @property
    def memory(self) -> MemoryConnector:
        assert isinstance(self.connector, MemoryConnector)
        return self.connector
