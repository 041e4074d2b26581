from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from connector_spi.connector import ConnectorFactory
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName
from connector_spi.testing import Behaviour, ConnectorConformance
from connectors.hudi.connector import HudiConnector, HudiFactory
from connectors.hudi.schema import META_COLUMNS
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_session
from tests.connectors.hudi.writer import HudiWriter


class HudiConformance(ConnectorConformance):
    missing_behaviours = frozenset(
        {
            Behaviour.CHANGES,
            Behaviour.COLUMN_STATISTICS,
            Behaviour.LIMIT,
            # Avro has no whole numbers of less than 32 bits.
            Behaviour.TYPE_INT8,
            Behaviour.TYPE_INT16,
        }
    )
    version = 6
    populate_meta_fields = True

    def factory(self) -> ConnectorFactory:
        return HudiFactory()

    def catalog_properties(self) -> Mapping[str, str]:
        return {
            "hive.metastore": "embedded",
            "hive.metastore.embedded.path": str(self.folder / "metastore.db"),
            "hudi.columns-to-hide": ",".join(META_COLUMNS),
        }

    def create_table(self, name: SchemaTableName, data: pa.Table, partitioned_by: Sequence[str]) -> None:
        folder = self.folder / name.schema / name.table
        self._writers = {**getattr(self, "_writers", {}), name: self._writer(folder, partitioned_by)}
        self._writers[name].insert(data)
        assert isinstance(self.connector, HudiConnector)
        catalog = HudiCatalog(self.connector, make_session(self.connector))
        catalog.register(folder, name.table, name.schema)

    def add_rows(self, name: SchemaTableName, data: pa.Table) -> None:
        self._writers[name].insert(data)

    def newest_version(self, name: SchemaTableName) -> TableVersion:
        writer = self._writers[name]
        written = sorted(path.name[:17] for path in writer.timeline.iterdir() if path.name[:17].isdigit())
        return TableVersion(VersionKind.VERSION, written[-1])

    def _writer(self, folder: object, partitioned_by: Sequence[str]) -> HudiWriter:
        return HudiWriter(
            self.folder / str(folder),
            self.version,
            tuple(partitioned_by),
            self.populate_meta_fields,
        ).create()


class TestHudiLayout1Conformance(HudiConformance):
    version = 6


class TestHudiLayout2Conformance(HudiConformance):
    version = 9
    populate_meta_fields = False
