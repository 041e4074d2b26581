"""``CREATE TABLE AS``: the entry of a table that is made when its rows are written. Driver side."""

from __future__ import annotations

import uuid
from dataclasses import replace

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Table
from connector_spi.errors import SchemaNotFoundError, UserError
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import TableDefinition
from connector_spi.session import ConnectorSession
from connectors.hive.definitions.table_formats import is_transactional
from connectors.hive.registration.creation import (
    TABLE_EXISTS,
    check_write_ids_free,
    external_table,
    managed_table,
    refuse_hudi,
)
from connectors.hive.registration.trino_properties import with_trino_properties
from connectors.hive.write.inserts import STAGING
from connectors.toolkit.storage.filesystem import FileSystem, is_hidden, join_path

__all__ = ["planned_table"]


def planned_table(
    metastore: Metastore, files: FileSystem, session: ConnectorSession, definition: TableDefinition
) -> Table:
    """The entry that a table will have, with its directory.

    A directory in which another statement writes a table of the same name, or was killed while it did, is left to it.

    Args:
        metastore: The metastore, as the user sees it.
        files: Storage.
        session: The statement.
        definition: The table.

    Raises:
        SchemaNotFoundError: There is no such database.
        UserError: There is a table of this name, or something in its directory.
        NotSupportedError: It could not be read right.
    """
    name, definition = definition.name, with_trino_properties(definition)
    refuse_hudi(definition)
    database = metastore.reads.get_database(name.schema)
    if database is None:
        raise SchemaNotFoundError(f"the metastore has no database {name.schema}")
    if metastore.reads.get_table(name.schema, name.table) is not None:
        raise UserError(f"table {name} exists already; drop it, or say CREATE OR REPLACE TABLE", TABLE_EXISTS)
    if definition.location is not None:
        entry = external_table(definition, files, session)
        if is_transactional(entry.parameters):
            check_write_ids_free(metastore, name)
        return entry
    entry = managed_table(definition, files, session, join_path(database.location or "", name.table))
    location = _free_location(files, name, metastore.writes.planned_location(entry))
    return replace(entry, storage=replace(entry.storage, location=location))


def _free_location(files: FileSystem, name: SchemaTableName, location: str) -> str:
    found = list(files.list(location)) if files.exists(location) else []
    if any(one.is_directory and one.name.startswith(STAGING) for one in found):
        return f"{location.rstrip('/')}_{uuid.uuid4().hex[:4]}"
    root = len(location.rstrip("/")) + 1
    inside = files.list(location, recursive=True) if found else ()
    if any(not one.is_directory and not any(map(is_hidden, one.path[root:].split("/"))) for one in inside):
        raise UserError(
            f"table {name} was not created: its directory {location} is not empty; say LOCATION to have a table "
            "over what is there, or delete it",
            TABLE_EXISTS,
        )
    return location
