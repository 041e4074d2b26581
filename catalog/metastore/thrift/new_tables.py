"""Tables that a metastore is about to make: the request, and where it would put them."""

from __future__ import annotations

import re

from catalog.metastore import error_codes
from catalog.metastore._thrift.lakeport_metastore import ttypes
from catalog.metastore.thrift.connections.connection import ABILITIES, IDENTIFIER, ThriftConnections
from catalog.metastore.thrift.errors import no_database
from connector_spi.errors import MetastoreError

__all__ = ["creation_request", "planned_location"]

_WAREHOUSE = "metastore.warehouse.dir"
_STORAGE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?://[^/]*)?")


def creation_request(table: ttypes.Table) -> ttypes.CreateTableRequest:
    """The request that makes a table."""
    return ttypes.CreateTableRequest(table, processorCapabilities=ABILITIES, processorIdentifier=IDENTIFIER)


def planned_location(connections: ThriftConnections, request: ttypes.CreateTableRequest) -> str:
    """The directory that a metastore would give a new table that names none.

    The one of Hive 4 says it itself, where it changes kinds of tables (``MetastoreDefaultTransformer``). Where it does
    not, managed tables have directories of their own (``Warehouse.getDatabaseManagedPath``). Up to Hive 3 all tables
    are in the database's directory.

    Raises:
        SchemaNotFoundError: There is no such database.
        MetastoreError: It refused, or gave no answer.
    """
    database, name = request.table.dbName, request.table.tableName
    try:
        location, kind = connections.call(
            "translate_table_dryrun",
            lambda client: _place(client.translate_table_dryrun(request)),
            lambda _: no_database(database),
        )
    except MetastoreError as error:
        if error.code == error_codes.REFUSED_REQUEST:
            # Hive 4 says of a database that is missing no more than that.
            _directories(connections, database)
        if error.code != error_codes.NO_SUCH_CALL:
            raise
        location = kind = None
    if location:
        return location
    directory, managed = _directories(connections, database)
    if kind == "MANAGED_TABLE":
        directory = managed or _managed_directory(connections, database, directory)
    return f"{directory.rstrip('/')}/{name}"


def _place(table: ttypes.Table) -> tuple[str | None, str]:
    return table.sd.location, table.tableType


def _directories(connections: ThriftConnections, database: str) -> tuple[str, str | None]:
    """The directory of a database, and the one of its managed tables where it has one of its own."""
    return connections.call(
        "get_database",
        lambda client: _both(client.get_database(database)),
        lambda _: no_database(database),
    )


def _both(database: ttypes.Database) -> tuple[str, str | None]:
    return database.locationUri or "", database.managedLocationUri


def _managed_directory(connections: ThriftConnections, database: str, directory: str) -> str:
    """The directory of managed tables of a database; ``directory`` has its other ones."""
    warehouse = connections.call("get_config_value", lambda client: client.get_config_value(_WAREHOUSE, ""))
    if not warehouse:
        return directory
    if warehouse.startswith("/"):
        # Of the metastore's own file system, as its databases are.
        storage = _STORAGE.match(directory)
        warehouse = f"{storage[0] if storage else ''}{warehouse}"
    return warehouse if database == "default" else f"{warehouse.rstrip('/')}/{database}.db"
