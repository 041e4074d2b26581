"""``REPLACE TABLE``: which tables are replaced in one step, and that step. Driver side."""

from __future__ import annotations

import logging
from dataclasses import replace

from catalog.metastore.definitions import is_managed, is_translated
from catalog.metastore.error_codes import CONNECTION_FAILED, TIMED_OUT
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Table
from connector_spi.errors import ConnectorError, NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.hive.definitions.table_formats import is_transactional, table_location
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["has_definition", "is_swapped", "swap"]

_LOG = logging.getLogger(__name__)


def is_swapped(old: Table, new: Table) -> bool:
    """Whether one call of the metastore gives a table another definition and other rows.

    Write ids belong to a table's name, and partitions are entries of their own: such tables are not.
    """
    plain = not any(one.partition_keys or is_transactional(one.parameters) for one in (old, new))
    return plain and (is_managed(old) or is_translated(old))


def has_definition(old: Table, new: Table) -> bool:
    """Whether a table has a definition already, so that new rows are all that it needs."""
    same = all(
        (
            old.partition_keys == new.partition_keys,
            old.storage.columns == new.storage.columns,
            old.storage.input_format == new.storage.input_format,
            old.storage.serde.serialization_lib == new.storage.serde.serialization_lib,
            is_transactional(old.parameters) == is_transactional(new.parameters),
            (old.storage.bucket_columns, max(old.storage.bucket_count, 0), old.storage.sort_columns)
            == (new.storage.bucket_columns, max(new.storage.bucket_count, 0), new.storage.sort_columns),
        )
    )
    # The metastore adds properties of its own.
    kept = {**dict(old.storage.serde.parameters), **dict(old.parameters)}
    wanted = {**dict(new.storage.serde.parameters), **dict(new.parameters)}
    return same and all(kept.get(key, "").lower() == value.lower() for key, value in wanted.items())


def swap(metastore: Metastore, files: FileSystem, name: SchemaTableName, replacement: SchemaTableName) -> None:
    """Gives a table the definition and the directory of another, whose name goes.

    Readers of the metastore see the old table or the new one. The old directory goes after that: a query that has
    begun to read it fails.

    Raises:
        NotSupportedError: It has changed its kind since ``is_swapped``.
        ConnectorError: The metastore refused; the table is as it was, and the new rows are gone. Where it gave no
            answer, the table is the old one or the new one, and both directories stay.
    """
    found = [metastore.reads.get_table(one.schema, one.table) for one in (name, replacement)]
    old, new = found
    if old is None or new is None or not is_swapped(old, new):
        raise NotSupportedError(f"{name} was changed while a query made what was to replace it; run the query again")
    made = table_location(new)
    # First, since dropping it later, by mistake or by someone else, would take the files along.
    metastore.writes.drop_table(replacement.schema, replacement.table, delete_data=False)
    try:
        entry = replace(new, database=old.database, name=old.name, owner=old.owner, create_time=old.create_time)
        metastore.writes.alter_table(name.schema, name.table, entry)
    except ConnectorError as error:
        if error.code in (CONNECTION_FAILED, TIMED_OUT):
            # The metastore may have done it, or do it yet: then these are the rows of the table.
            _LOG.warning("%s may have been replaced by the rows in %s, which stay: %s", name, made, error.message)
        else:
            files.delete_folder(made)
        raise
    files.delete_folder(table_location(old))
