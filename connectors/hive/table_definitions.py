"""What the hive connector defines in a metastore beside what all connectors do: tables and partitions. Driver side."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from dataclasses import replace

from catalog.metastore.definitions import MetastoreDefinitions, is_managed, is_translated, location_uri
from catalog.metastore.factory import Metastore
from catalog.metastore.partitions.names import make_partition_name
from connector_spi.errors import (
    ConnectorError,
    InvalidArgumentError,
    MetastoreError,
    NotSupportedError,
    SchemaNotFoundError,
    TableNotFoundError,
    UserError,
)
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import PartitionDefinition, TableDefinition
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.definitions.columns import make_handle
from connectors.hive.definitions.table_formats import is_transactional, table_location
from connectors.hive.partitions.definitions import PartitionDefinitions
from connectors.hive.partitions.key_texts import value_text
from connectors.hive.partitions.selection import prune_partitions
from connectors.hive.procedures import HiveProcedures
from connectors.hive.registration.creation import (
    TABLE_EXISTS,
    check_write_ids_free,
    external_table,
    managed_table,
    refuse_hudi,
)
from connectors.hive.registration.renames import keep_directory, take_name
from connectors.hive.registration.replacement import has_definition, is_swapped, swap
from connectors.hive.registration.trino_properties import with_trino_properties
from connectors.hive.transaction import HiveTransaction
from connectors.hive.write.statistics.stale_statistics import drop_stale_statistics
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["HiveDefinitions"]

_LOG = logging.getLogger(__name__)
_DROPS = 2
"""How often the old table of a replacement is dropped, where the first answer is an error or is lost."""


class HiveDefinitions(MetastoreDefinitions):
    """Tables and partitions of a metastore.

    Definitions of tables take effect at once; a rollback does not undo them.

    Args:
        metastore: The metastore to define tables in.
        files: Storage.
        transaction: The statement's.
    """

    def __init__(self, metastore: Metastore, files: FileSystem, transaction: HiveTransaction) -> None:
        super().__init__(metastore, files.delete_folder)
        self._files = files
        self._transaction = transaction

    def create_table(self, session: ConnectorSession, definition: TableDefinition) -> None:
        """A definition without columns registers the directory, with its partitions, as ``register_table`` does."""
        name, definition = definition.name, with_trino_properties(definition)
        refuse_hudi(definition)
        if definition.location is None:
            self._create_managed(session, definition)
            return
        if definition.columns:
            if is_transactional(dict(definition.properties)):
                check_write_ids_free(self.metastore, name)
            self.metastore.as_user(session.user).writes.create_table(external_table(definition, self._files, session))
            return
        given = definition.properties or definition.storage or definition.comment or definition.partitioned_by
        if given:
            raise InvalidArgumentError(
                f"CREATE TABLE {name} names no columns; then only LOCATION is allowed, and the files give the columns"
            )
        if self.metastore.as_user(session.user).reads.get_database(name.schema) is None:
            raise SchemaNotFoundError(f"the metastore has no database {name.schema}")
        HiveProcedures(self.metastore, self._files).register_table(session, name, location_uri(definition.location))

    def begin_replace_table(self, session: ConnectorSession, definition: TableDefinition) -> SchemaTableName | None:
        """See ``SupportsTableReplacement``."""
        name, definition = definition.name, with_trino_properties(definition)
        old = self._table(session, name)
        make_handle(old, self._files)
        if definition.location is not None:
            raise NotSupportedError(f"{name} cannot be replaced by a table at a LOCATION; leave it out, or drop {name}")
        new = managed_table(definition, self._files, session, table_location(old))
        owned = is_managed(old) or is_translated(old)
        if has_definition(old, new) and not (owned and is_swapped(old, new)):
            return None
        if not owned:
            raise NotSupportedError(
                f"{name} cannot be replaced by a table of another definition: it is an external table, whose files "
                "stay; drop it and create it, or INSERT OVERWRITE it"
            )
        if is_transactional(old.parameters):
            # Rows that come later would be lost.
            self._transaction.snapshot(name)
        made = SchemaTableName(name.schema, f"{name.table}__new_{uuid.uuid4().hex[:12]}")
        self._create_managed(session, replace(definition, name=made))
        if not is_swapped(old, new):
            try:
                keep_directory(self.metastore.as_user(session.user), self._files, made)
            except ConnectorError:
                self.drop_table(session, made, purge=True)
                raise
        return made

    def finish_replace_table(
        self, session: ConnectorSession, name: SchemaTableName, replacement: SchemaTableName
    ) -> None:
        """See ``SupportsTableReplacement``."""
        metastore = self.metastore.as_user(session.user)
        old = self._table(session, name)
        if is_swapped(old, self._table(session, replacement)):
            drop_stale_statistics(metastore, old, ())
            swap(metastore, self._files, name, replacement)
            return
        try:
            if is_transactional(old.parameters):
                seen = self._transaction.snapshot(name).write_ids
                self._transaction.writes.begin_overwrite(name, seen, partitioned=False)
            aside = take_name(metastore, name, replacement)
        finally:
            # The lock alone was wanted, and what has the write id goes.
            self._transaction.writes.abort()
        self._drop_replaced(session, name, aside)

    def _drop_replaced(self, session: ConnectorSession, name: SchemaTableName, aside: SchemaTableName) -> None:
        failed: ConnectorError | None = None
        for _ in range(_DROPS):
            try:
                self.drop_table(session, aside, purge=True)
            except TableNotFoundError:
                return
            except ConnectorError as error:
                failed = error
            else:
                return
        if failed is not None:
            _LOG.warning("%s was replaced, but the old table is still there; drop %s: %s", name, aside, failed.message)

    def _create_managed(self, session: ConnectorSession, definition: TableDefinition) -> None:
        name, metastore = definition.name, self.metastore.as_user(session.user)
        database = metastore.reads.get_database(name.schema)
        if database is None:
            raise SchemaNotFoundError(f"the metastore has no database {name.schema}")
        expected = join_path(database.location or "", name.table)
        metastore.writes.create_table(managed_table(definition, self._files, session, expected))
        # Metastores of Hive 3 and 4 have other directories for some kinds of tables.
        found = metastore.reads.get_table(name.schema, name.table)
        location = found and found.storage.location
        if not location:
            raise MetastoreError(f"the metastore has made table {name} without a directory; drop it")
        if self._files.exists(location) and any(True for _ in self._files.list(location)):
            metastore.writes.drop_table(name.schema, name.table, delete_data=False)
            raise UserError(
                f"table {name} was not created: its directory {location} is not empty; say LOCATION to have a table "
                "over what is there, or delete it",
                TABLE_EXISTS,
            )
        self._files.create_folder(location)

    def add_partitions(
        self, session: ConnectorSession, name: SchemaTableName, partitions: Sequence[PartitionDefinition]
    ) -> None:
        definitions = PartitionDefinitions(self.metastore.as_user(session.user), self._files)
        definitions.add(session, definitions.table(name), partitions)

    def drop_partitions(
        self, session: ConnectorSession, name: SchemaTableName, partitions: Sequence[tuple[object, ...]]
    ) -> None:
        metastore = self.metastore.as_user(session.user)
        definitions = PartitionDefinitions(metastore, self._files)
        table = definitions.table(name)
        handle = make_handle(table, self._files)
        kept = prune_partitions(metastore.reads, handle, TupleDomain.all()).kept
        names: dict[tuple[object, ...], list[str]] = {}
        for one in kept:
            names.setdefault(tuple(value for _, value in one.values), []).append(one.name)
        keys = [key.name for key in table.partition_keys]
        missing = [values for values in partitions if values not in names]
        if missing:
            partition = make_partition_name(keys, [value_text(value) for value in missing[0]])
            raise UserError(f"{name} has no partition {partition}", error_codes.HIVE_PARTITION_NOT_FOUND)
        definitions.drop(table, [one for values in partitions for one in names[values]])
