"""``system.register_table`` and its companions. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from catalog.metastore.embedded import EmbeddedMetastore
from catalog.metastore.factory import Metastore
from catalog.metastore.model import (
    Database,
    FieldSchema,
    Parameters,
    Partition,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from connector_spi.errors import InvalidArgumentError, NotSupportedError, TableNotFoundError, UserError
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Value
from connector_spi.procedures import Procedure, ProcedureArgument
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.table_discovery import DiscoveredTable, discover_partitions, discover_table
from connectors.hive.table_formats import is_hudi_entry, is_transactional, table_location
from connectors.toolkit.filesystem import FileSystem, join_path

__all__ = ["HiveProcedures"]

_CLASSES = {
    "orc": (
        "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
        "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
        "org.apache.hadoop.hive.ql.io.orc.OrcSerde",
    ),
    "parquet": (
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
    ),
}
_SCHEMA = ProcedureArgument("schema_name", pa.string(), "Schema of the table.")
_TABLE = ProcedureArgument("table_name", pa.string(), "Name of the table.")
_LOCATION = ProcedureArgument("table_location", pa.string(), "Folder of the table, a path or URI.")
_MODE = ProcedureArgument("mode", pa.string(), "ADD: what to do.", required=False, default="ADD")
_TRANSACTIONAL = ProcedureArgument(
    "transactional",
    pa.bool_(),
    "The folder is that of a transactional table (base_, delta_, delete_delta_ folders), and every write id found in "
    "it is taken as committed; in an embedded metastore only.",
    required=False,
    default=False,
)
_RESULT = pa.schema([("schema_name", pa.string()), ("table_name", pa.string()), ("partitions", pa.int64())])


class HiveProcedures:
    """Writes to the metastore on behalf of ``CALL``.

    Args:
        metastore: The metastore.
        files: Storage.
    """

    def __init__(self, metastore: Metastore, files: FileSystem) -> None:
        self._metastore = metastore
        self._files = files

    def procedures(self) -> Sequence[Procedure]:
        """All of them."""
        return (
            Procedure(
                "system",
                "register_table",
                "Registers a folder of ORC or Parquet files as an external table; makes the schema if it is missing.",
                (_SCHEMA, _TABLE, _LOCATION, _TRANSACTIONAL),
                _RESULT,
                self._register,
            ),
            Procedure(
                "system",
                "unregister_table",
                "Takes a table out of the metastore; no files are deleted.",
                (_SCHEMA, _TABLE),
                _RESULT,
                self._unregister,
            ),
            Procedure(
                "system",
                "sync_partition_metadata",
                "Adds the partitions to the metastore that a table's folder holds and the metastore lacks.",
                (_SCHEMA, _TABLE, _MODE),
                _RESULT,
                self._sync,
            ),
        )

    def _register(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = _name(arguments)
        location = _location(str(arguments["table_location"]))
        if self._metastore.reads.get_table(name.schema, name.table) is not None:
            raise UserError(
                f"table {name} is registered already; unregister it first, or choose another name",
                error_codes.HIVE_TABLE_EXISTS,
            )
        transactional = bool(arguments.get("transactional"))
        if transactional:
            self._check_takes_all(name)
        found = discover_table(self._files, location, transactional=transactional)
        if self._metastore.reads.get_database(name.schema) is None:
            self._metastore.writes.create_database(Database(name.schema))
        storage = _storage(found.format, found.columns, location)
        table = Table(
            name.schema,
            name.table,
            storage,
            found.partition_keys,
            _parameters(found),
            "EXTERNAL_TABLE",
            session.user,
            int(session.start.timestamp()),
        )
        self._metastore.writes.create_table(table)
        try:
            self._add(table, found.partitions, session)
        except BaseException:
            self._metastore.writes.drop_table(name.schema, name.table)
            raise
        return _result(name, len(found.partitions))

    def _unregister(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = _name(arguments)
        self._metastore.writes.drop_table(name.schema, name.table, delete_data=False)
        return _result(name, None)

    def _sync(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = _name(arguments)
        if str(arguments["mode"]).upper() != "ADD":
            raise NotSupportedError(f"sync_partition_metadata has the mode ADD only; met {arguments['mode']!r}")
        table = self._metastore.reads.get_table(name.schema, name.table)
        if table is None:
            raise TableNotFoundError(f"table {name} is not in the metastore")
        if not table.partition_keys or is_hudi_entry(table) or is_transactional(table.parameters):
            raise InvalidArgumentError(f"{name} is no partitioned table of plain files; nothing can be added")
        keys = [key.name for key in table.partition_keys]
        found = discover_partitions(self._files, table_location(table), keys)
        names = self._metastore.reads.get_partition_names(name.schema, name.table)
        known = {
            partition.values
            for partition in self._metastore.reads.get_partitions_by_names(name.schema, name.table, names)
        }
        fresh = [(folder, values) for folder, values in found if values not in known]
        self._add(table, fresh, session)
        return _result(name, len(fresh))

    def _check_takes_all(self, name: SchemaTableName) -> None:
        """Refuses metastores that number the write ids of a table themselves.

        A new table's begin at 1 there, so those in the folder would be none of them, and not be visible; and Hive lets
        no external table be transactional (``TransactionalValidationListener``).
        """
        if not isinstance(self._metastore.reads, EmbeddedMetastore):
            raise NotSupportedError(
                f"{name} cannot be registered as a transactional table in a metastore of Hive: it would give the table "
                "write ids of its own, which those in the folder are not; let Hive create and fill the "
                "table, or register the folder in a catalog with hive.metastore=embedded",
                error_codes.HIVE_TRANSACTIONAL_TABLE,
            )

    def _add(self, table: Table, found: Sequence[tuple[str, tuple[str, ...]]], session: ConnectorSession) -> None:
        partitions = [
            Partition(
                table.database,
                table.name,
                values,
                StorageDescriptor(
                    table.storage.columns,
                    join_path(table_location(table), folder),
                    table.storage.input_format,
                    table.storage.output_format,
                    serde=table.storage.serde,
                ),
                create_time=int(session.start.timestamp()),
            )
            for folder, values in found
        ]
        if partitions:
            self._metastore.writes.add_partitions(table.database, table.name, partitions)


def _name(arguments: Mapping[str, Value | None]) -> SchemaTableName:
    schema, table = str(arguments["schema_name"] or ""), str(arguments["table_name"] or "")
    if not schema or not table:
        raise InvalidArgumentError("schema_name and table_name must not be empty")
    return SchemaTableName(schema.lower(), table.lower())


def _location(text: str) -> str:
    text = text.rstrip("/")
    return f"file://{text}" if text.startswith("/") else text


def _storage(file_format: str, columns: tuple[FieldSchema, ...], location: str) -> StorageDescriptor:
    input_format, output_format, serde = _CLASSES[file_format]
    settings = Parameters.of({"serialization.format": "1"})
    return StorageDescriptor(columns, location, input_format, output_format, serde=SerDeInfo(serde, settings))


def _parameters(found: DiscoveredTable) -> Parameters:
    parameters = {"EXTERNAL": "TRUE"}
    if found.transactional:
        kind = "insert_only" if found.insert_only else "default"
        parameters |= {"transactional": "true", "transactional_properties": kind}
    return Parameters.of(parameters)


def _result(name: SchemaTableName, partitions: int | None) -> pa.Table:
    row = {"schema_name": name.schema, "table_name": name.table, "partitions": partitions}
    return pa.Table.from_pylist([row], _RESULT)
