"""``system.register_table`` and its companions. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import pyarrow as pa

from catalog.metastore.definitions import location_uri
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Database, Parameters, Table
from catalog.metastore.partitions.names import make_partition_name
from connector_spi.errors import InvalidArgumentError, UserError
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import PartitionDefinition
from connector_spi.optional.procedures import Procedure, ProcedureArgument
from connector_spi.predicate import Value
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.definitions.storage_classes import storage_of
from connectors.hive.leftovers import orphan_files_procedure
from connectors.hive.partitions.definitions import PartitionDefinitions
from connectors.hive.partitions.key_texts import value_text
from connectors.hive.registration.creation import check_write_ids_free
from connectors.hive.registration.discovery import DiscoveredTable, discover_table
from connectors.hive.transactions.compactions import compact_procedure
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["HiveProcedures"]

_SCHEMA = ProcedureArgument("schema_name", pa.string(), "Schema of the table.")
_TABLE = ProcedureArgument("table_name", pa.string(), "Name of the table.")
_LOCATION = ProcedureArgument("table_location", pa.string(), "Directory of the table, a path or URI.")
_MODE = ProcedureArgument(
    "mode",
    pa.string(),
    "ADD: directories missing in the metastore; DROP: partitions whose directories are missing; FULL: both.",
    required=False,
    default="ADD",
)
_CASE = ProcedureArgument(
    "case_sensitive", pa.bool_(), "Directories name the keys in lower case.", required=False, default=True
)
_KEYS = ProcedureArgument("partition_columns", pa.list_(pa.string()), "Names of the partition keys.")
_VALUES = ProcedureArgument("partition_values", pa.list_(pa.string()), "Values of the partition keys, as text.")
_PARTITION_LOCATION = ProcedureArgument(
    "location",
    pa.string(),
    "Directory of the partition; by default the one with its name in the table's directory.",
    required=False,
)
_TRANSACTIONAL = ProcedureArgument(
    "transactional",
    pa.bool_(),
    "The directory is that of a transactional table (base_, delta_, delete_delta_ directories), and every write id "
    "found in it is taken as committed; in an embedded metastore only.",
    required=False,
    default=False,
)
_RESULT = pa.schema([("schema_name", pa.string()), ("table_name", pa.string()), ("partitions", pa.int64())])
_SYNC_RESULT = pa.schema(
    [("schema_name", pa.string()), ("table_name", pa.string()), ("added", pa.int64()), ("dropped", pa.int64())]
)
_MODES = ("ADD", "DROP", "FULL")


class HiveProcedures:
    """The procedures that write to the metastore.

    Args:
        metastore: The metastore.
        files: Storage.
    """

    def __init__(self, metastore: Metastore, files: FileSystem) -> None:
        self._metastore = metastore
        self._files = files

    def procedures(self) -> Sequence[Procedure]:
        """All procedures of the connector."""
        return (
            Procedure(
                "system",
                "register_table",
                "Registers a directory of ORC or Parquet files as an external table; creates a missing schema.",
                arguments=(_SCHEMA, _TABLE, _LOCATION, _TRANSACTIONAL),
                result=_RESULT,
                function=self._register,
            ),
            Procedure(
                "system",
                "unregister_table",
                "Removes a table from the metastore; no files are deleted.",
                arguments=(_SCHEMA, _TABLE),
                result=_RESULT,
                function=self._unregister,
            ),
            Procedure(
                "system",
                "register_partition",
                "Adds a partition over an existing directory to a table.",
                arguments=(_SCHEMA, _TABLE, _KEYS, _VALUES, _PARTITION_LOCATION),
                result=_RESULT,
                function=self._register_partition,
            ),
            Procedure(
                "system",
                "unregister_partition",
                "Removes a partition from the metastore; no files are deleted.",
                arguments=(_SCHEMA, _TABLE, _KEYS, _VALUES),
                result=_RESULT,
                function=self._unregister_partition,
            ),
            Procedure(
                "system",
                "sync_partition_metadata",
                "Brings a table's partitions in the metastore in line with the table's directories.",
                arguments=(_SCHEMA, _TABLE, _MODE, _CASE),
                result=_SYNC_RESULT,
                function=self._sync,
            ),
            compact_procedure(self._metastore),
            orphan_files_procedure(self._metastore, self._files),
        )

    def register_table(
        self, session: ConnectorSession, name: SchemaTableName, location: str, *, transactional: bool = False
    ) -> int:
        """Registers a directory as an external table; returns the number of its partitions.

        Raises:
            UserError: A table of this name exists.
            ConnectorError: The directory is not that of a table; see ``discover_table``.
        """
        metastore = self._metastore.as_user(session.user)
        if metastore.reads.get_table(name.schema, name.table) is not None:
            raise UserError(
                f"table {name} already exists; unregister it first, or choose another name",
                error_codes.HIVE_TABLE_EXISTS,
            )
        if transactional:
            check_write_ids_free(metastore, name)
        found = discover_table(self._files, location, transactional=transactional)
        if metastore.reads.get_database(name.schema) is None:
            metastore.writes.create_database(Database(name.schema))
        table = Table(
            name.schema,
            name.table,
            storage=storage_of(found.format, found.columns, location),
            partition_keys=found.partition_keys,
            parameters=_parameters(found),
            table_type="EXTERNAL_TABLE",
            owner=session.user,
            create_time=int(session.start.timestamp()),
        )
        metastore.writes.create_table(table)
        folders = [(join_path(location, folder), values) for folder, values in found.partitions]
        try:
            PartitionDefinitions(metastore, self._files).add_locations(session, table, folders)
        except BaseException:
            metastore.writes.drop_table(name.schema, name.table)
            raise
        return len(found.partitions)

    def _register(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = _name(arguments)
        location = location_uri(str(arguments["table_location"]))
        transactional = bool(arguments.get("transactional"))
        return _result(name, self.register_table(session, name, location, transactional=transactional))

    def _unregister(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = _name(arguments)
        self._metastore.as_user(session.user).writes.drop_table(name.schema, name.table, delete_data=False)
        return _result(name, None)

    def _register_partition(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = _name(arguments)
        definitions = self._partitions(session)
        table = definitions.table(name)
        location = arguments.get("location")
        folder = None if location is None else str(location)
        definitions.add(session, table, [PartitionDefinition(_key_values(table, arguments), folder)])
        return _result(name, 1)

    def _unregister_partition(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = _name(arguments)
        definitions = self._partitions(session)
        table = definitions.table(name)
        keys = [key.name for key in table.partition_keys]
        values = [value_text(value) for value in _key_values(table, arguments)]
        definitions.drop(table, [make_partition_name(keys, values)])
        return _result(name, 1)

    def _sync(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = _name(arguments)
        mode = str(arguments["mode"]).upper()
        if mode not in _MODES:
            raise InvalidArgumentError(
                f"the mode {arguments['mode']!r} is unknown; expected one of {', '.join(_MODES)}"
            )
        definitions = self._partitions(session)
        added, dropped = definitions.sync(
            session,
            definitions.table(name),
            add=mode != "DROP",
            drop=mode != "ADD",
            case_sensitive=bool(arguments.get("case_sensitive", True)),
        )
        row = {"schema_name": name.schema, "table_name": name.table, "added": added, "dropped": dropped}
        return pa.Table.from_pylist([row], _SYNC_RESULT)

    def _partitions(self, session: ConnectorSession) -> PartitionDefinitions:
        return PartitionDefinitions(self._metastore.as_user(session.user), self._files)


def _name(arguments: Mapping[str, Value | None]) -> SchemaTableName:
    schema, table = str(arguments["schema_name"] or ""), str(arguments["table_name"] or "")
    if not schema or not table:
        raise InvalidArgumentError("schema_name and table_name must not be empty")
    return SchemaTableName(schema.lower(), table.lower())


def _key_values(table: Table, arguments: Mapping[str, Value | None]) -> tuple[str | None, ...]:
    """The given values of the partition keys, in the keys' order."""
    names, values = (
        list(cast("list[str | None]", arguments[key] or [])) for key in ("partition_columns", "partition_values")
    )
    keys = [key.name for key in table.partition_keys]
    named = [str(name).lower() for name in names]
    if len(named) != len(values) or sorted(named) != sorted(keys):
        raise InvalidArgumentError(
            f"{table.database}.{table.name} is partitioned by ({', '.join(keys)}); met {len(values)} values for "
            f"({', '.join(map(str, names))})"
        )
    given = dict(zip(named, values, strict=True))
    return tuple(given[key] for key in keys)


def _parameters(found: DiscoveredTable) -> Parameters:
    parameters = {"EXTERNAL": "TRUE"}
    if found.transactional:
        kind = "insert_only" if found.insert_only else "default"
        parameters |= {"transactional": "true", "transactional_properties": kind}
    return Parameters.of(parameters)


def _result(name: SchemaTableName, partitions: int | None) -> pa.Table:
    row = {"schema_name": name.schema, "table_name": name.table, "partitions": partitions}
    return pa.Table.from_pylist([row], _RESULT)
