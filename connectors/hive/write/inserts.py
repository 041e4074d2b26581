"""Inserts of one transaction. Driver side."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Table
from connector_spi.session import ConnectorSession
from connectors.hive.handles import HiveTableHandle
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle
from connectors.hive.write.publishing import HiveInsert
from connectors.hive.write.writable_tables import check_writable
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["HiveInserts"]

_STAGING = ".lakeport_insert_"
"""Begins with a dot, so that Hive, Spark, Trino and we pass over it."""


class HiveInserts:
    """The inserts that a transaction publishes when it commits.

    Args:
        metastore: The metastore.
        files: Storage.
    """

    def __init__(self, metastore: Metastore, files: FileSystem) -> None:
        self._metastore = metastore
        self._files = files
        self._begun: dict[str, HiveInsert] = {}
        self._finished: list[HiveInsert] = []

    def begin(self, session: ConnectorSession, table: HiveTableHandle, entry: Table) -> HiveInsertHandle:
        """Begins an insert.

        Args:
            session: The statement.
            table: The table.
            entry: The metastore's entry of it.

        Raises:
            NotSupportedError: Rows cannot be added to the table, or nothing in the catalog.
        """
        metastore = self._metastore.as_user(session.user)
        metastore.writes.check_allowed(f"add rows to {table.name}")
        check_writable(table, entry, self._files)
        handle = HiveInsertHandle(
            table.name,
            table.storage,
            join_path(table.location, f"{_STAGING}{uuid.uuid4().hex}"),
            table.data_columns,
            table.partition_keys,
            table.text_rules,
        )
        self._begun[handle.staging] = HiveInsert(metastore, self._files, handle, int(session.start.timestamp()))
        return handle

    def finish(self, handle: HiveInsertHandle, fragments: Sequence[HiveFragment]) -> None:
        """All files of an insert are written; it is published by ``publish``.

        Raises:
            NotSupportedError: A partition is written in another way than the table.
        """
        self._begun[handle.staging].finish(fragments)
        self._finished.append(self._begun.pop(handle.staging))

    def abort(self, handle: HiveInsertHandle) -> None:
        """Deletes the files of an insert that is not finished."""
        self._files.delete_folder(handle.staging)
        self._begun.pop(handle.staging, None)

    def publish(self) -> None:
        """Makes all that is finished visible.

        Raises:
            ConnectorError: The metastore or storage failed; of the insert that failed nothing is visible.
        """
        try:
            for insert in self._finished:
                insert.publish()
        finally:
            self.discard()

    def discard(self) -> None:
        """Deletes all files that were not published."""
        for insert in (*self._begun.values(), *self._finished):
            insert.discard()
        self._begun.clear()
        self._finished.clear()
