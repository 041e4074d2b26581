"""``CALL hudi.system.register_table``: makes a table that lies on storage known by name."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from catalog.metastore.client import MetastoreClient, MetastoreWriter
from catalog.metastore.model import Database
from connector_spi.errors import InvalidArgumentError
from connector_spi.names import SchemaTableName
from connector_spi.optional.procedures import Procedure, ProcedureArgument
from connector_spi.predicate import Value
from connector_spi.session import ConnectorSession
from connectors.hudi.registration.registered_table import metastore_table
from connectors.hudi.snapshots.snapshot import open_snapshot
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["register_table", "register_table_procedure", "unregister_table_procedure"]

_RESULT = pa.schema([("schema_name", pa.string()), ("table_name", pa.string()), ("instant", pa.string())])


def register_table_procedure(metastore: MetastoreClient, writer: MetastoreWriter, files: FileSystem) -> Procedure:
    """The procedure; its row names the table and the newest instant found."""

    def register(session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        schema, table, location = (_text(arguments, key) for key in ("schema_name", "table_name", "table_location"))
        name = SchemaTableName(schema.lower(), table.lower())
        folder = location.rstrip("/")
        if not folder.startswith("/") and ":" not in folder:
            raise InvalidArgumentError(
                f"table_location {location!r} is neither an absolute path nor a URI such as s3://bucket/folder"
            )
        latest = register_table(
            metastore=metastore, writer=writer, files=files, session=session, name=name, folder=folder
        )
        row = {"schema_name": name.schema, "table_name": name.table, "instant": latest}
        return pa.Table.from_pylist([row], schema=_RESULT)

    return Procedure(
        schema="system",
        name="register_table",
        description="Registers a Hudi table that lies on storage in the metastore; the schema is made if missing.",
        arguments=(
            ProcedureArgument("schema_name", pa.string(), "Schema to register the table in."),
            ProcedureArgument("table_name", pa.string(), "Name to give the table."),
            ProcedureArgument("table_location", pa.string(), "The table's directory, which holds .hoodie."),
        ),
        result=_RESULT,
        function=register,
    )


def unregister_table_procedure(metastore: MetastoreClient, writer: MetastoreWriter) -> Procedure:
    """The procedure; its row names the table."""
    result = pa.schema([("schema_name", pa.string()), ("table_name", pa.string())])

    def unregister(session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        schema, table = (_text(arguments, key).lower() for key in ("schema_name", "table_name"))
        writer.drop_table(schema, table, delete_data=False)
        return pa.table({"schema_name": [schema], "table_name": [table]}, result)

    return Procedure(
        schema="system",
        name="unregister_table",
        description="Takes a table out of the metastore; no files are deleted.",
        arguments=(
            ProcedureArgument("schema_name", pa.string(), "Schema of the table."),
            ProcedureArgument("table_name", pa.string(), "Name of the table."),
        ),
        result=result,
        function=unregister,
    )


def register_table(
    metastore: MetastoreClient,
    writer: MetastoreWriter,
    files: FileSystem,
    session: ConnectorSession,
    name: SchemaTableName,
    folder: str,
) -> str | None:
    """Registers the Hudi table of a folder; the schema is made if missing. Gives its newest instant.

    Raises:
        InvalidArgumentError: There is a table of this name.
        NotSupportedError: The folder is not that of a Hudi table that can be read.
    """
    if metastore.get_table(name.schema, name.table) is not None:
        raise InvalidArgumentError(f"table {name} is there already; drop it first, or choose another name")
    snapshot = open_snapshot(files, folder)
    entry = metastore_table(name, folder, snapshot.config, snapshot.table_schema(), session.user)
    if metastore.get_database(name.schema) is None:
        writer.create_database(Database(name.schema))
    writer.create_table(entry)
    latest = snapshot.view.latest
    return latest.requested if latest else None


def _text(arguments: Mapping[str, Value | None], key: str) -> str:
    value = arguments.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InvalidArgumentError(f"{key} expects text, met {value!r}")
    return value.strip()
