"""``REPLACE TABLE`` of tables whose partitions or write ids belong to their names: by two renames. Driver side."""

from __future__ import annotations

import uuid
from dataclasses import replace

from catalog.metastore.factory import Metastore
from catalog.metastore.grants import GrantClient
from catalog.metastore.model import Table
from connector_spi.errors import ConnectorError, MetastoreError, TableNotFoundError
from connector_spi.names import SchemaTableName
from connectors.hive.definitions.table_formats import table_location
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["keep_directory", "take_name"]


def keep_directory(metastore: Metastore, files: FileSystem, name: SchemaTableName) -> None:
    """Gives a new table a directory that stays when the table is renamed.

    Metastores of Hive move a directory that is named as its table (``HiveAlterHandler.alterTable``), on an object store
    by a copy of each file. And who has planned to write to the old table would write into the new one.

    Raises:
        ConnectorError: The metastore or the storage failed; the table has one of the two directories.
    """
    table = _entry(metastore, name)
    named = table_location(table)
    location = f"{named}_{uuid.uuid4().hex[:4]}"
    files.create_folder(location)
    metastore.writes.alter_table(
        name.schema, name.table, replace(table, storage=replace(table.storage, location=location))
    )
    files.delete_folder(named)


def take_name(metastore: Metastore, name: SchemaTableName, replacement: SchemaTableName) -> SchemaTableName:
    """Puts a table's name aside and gives it to another table, with the first one's owner and grants.

    The name is missing for the moment in between.

    Returns:
        The name that the old table has now, which is to be dropped.

    Raises:
        ConnectorError: The metastore refused; the old table has its name. Where that could not be brought about, the
            message says under which name it is.
    """
    old = _entry(metastore, name)
    if metastore.grants is not None:
        _grant_alike(metastore.grants, name, replacement)
    aside = SchemaTableName(name.schema, f"{name.table}__old_{uuid.uuid4().hex[:12]}")
    _rename(metastore, name, aside)
    try:
        _rename(metastore, replacement, name, owner=old.owner)
    except ConnectorError as error:
        try:
            _rename(metastore, aside, name)
        except ConnectorError as second:
            raise MetastoreError(
                f"{name} was not replaced ({error.message}), and did not get its name back ({second.message}): all of "
                f"it is in {aside}; run ALTER TABLE {aside} RENAME TO {name}"
            ) from error
        raise
    return aside


def _rename(metastore: Metastore, name: SchemaTableName, new: SchemaTableName, *, owner: str | None = None) -> None:
    entry = _entry(metastore, name)
    renamed = replace(entry, name=new.table, owner=entry.owner if owner is None else owner)
    try:
        metastore.writes.alter_table(name.schema, name.table, renamed)
    except ConnectorError:
        # The answer alone may have been lost.
        if not _is_renamed(metastore, name, new):
            raise


def _is_renamed(metastore: Metastore, name: SchemaTableName, new: SchemaTableName) -> bool:
    try:
        found = [metastore.reads.get_table(one.schema, one.table) for one in (name, new)]
    except ConnectorError:
        return False
    return found[0] is None and found[1] is not None


def _entry(metastore: Metastore, name: SchemaTableName) -> Table:
    found = metastore.reads.get_table(name.schema, name.table)
    if found is None:
        raise TableNotFoundError(f"the metastore has no table {name}")
    return found


def _grant_alike(grants: GrantClient, name: SchemaTableName, replacement: SchemaTableName) -> None:
    """Gives a table the grants of another one, and no others."""
    wanted, there = (
        {(one.privilege, one.grantee, one.grant_option): one for one in grants.list_table_privileges(table)}
        for table in (name, replacement)
    )
    surplus = [one for key, one in there.items() if key not in wanted]
    if surplus:
        grants.revoke_table_privileges(surplus, grant_option=False)
    missing = [replace(one, table=replacement) for key, one in wanted.items() if key not in there]
    if missing:
        grants.grant_table_privileges(missing)
