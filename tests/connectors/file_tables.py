"""The suite's hooks for connectors whose tables are directories of files that a metastore knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from connector_spi.names import SchemaTableName
from connector_spi.predicate import Value
from connector_spi.testing import ConnectorConformance

__all__ = ["FileTablesConformance"]


class FileTablesConformance(ConnectorConformance):
    """Tables lie in ``<folder>/<schema>/<table>``, and an embedded metastore beside them.

    Attributes:
        data_files: Pattern of the files with a table's rows, below its directory.
    """

    data_files: ClassVar[str] = "**/*"

    def catalog_properties(self) -> Mapping[str, str]:
        return {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(self.folder / "metastore.db")}

    def damage(self, name: SchemaTableName, *, delete: bool) -> None:
        for path in filter(Path.is_file, (self.folder / name.schema / name.table).glob(self.data_files)):
            if delete:
                path.unlink()
            else:
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    def procedure_arguments(self, procedure: str, name: SchemaTableName) -> Mapping[str, Value | None] | None:
        table: dict[str, Value | None] = {"schema_name": name.schema, "table_name": name.table}
        location = (self.folder / name.schema / name.table).as_uri()
        known: dict[str, dict[str, Value | None]] = {
            "flush_metadata_cache": {},
            "register_table": {**table, "table_name": "registered", "table_location": location},
            "unregister_table": table,
        }
        return known.get(procedure)
