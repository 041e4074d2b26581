"""Changing rows of a table, from the beginning to the end. Driver side, with no Spark."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from catalog.metastore.wrappers.read_only import READ_ONLY_CATALOG
from catalog.resolver import ResolvedTable
from connector_spi.errors import InternalError, NotSupportedError
from connector_spi.handles import TableHandle
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.page_sink import (
    Fragment,
)
from connector_spi.optional.writing import MergeCommand, SupportsMerge
from connector_spi.schema import ColumnMetadata
from lakeport.arrow.write.merge_sinks import MergeOpener
from lakeport.transactions.statement import CatalogAccess

__all__ = ["BegunMerge", "row_id_columns"]


def row_id_columns(access: CatalogAccess, table: ResolvedTable) -> tuple[ColumnMetadata, ...]:
    """The hidden columns that together name a row of a table.

    Raises:
        NotSupportedError: Rows of the table cannot be changed.
    """
    metadata = access.metadata
    if not isinstance(metadata, SupportsMerge):
        raise NotSupportedError(
            f"rows of {table.name} cannot be deleted or updated: its connector does not do that; use the engine that "
            "owns the table",
            READ_ONLY_CATALOG,
        )
    with access.lock.asking(f"name the rows of {table.name}"):
        names = metadata.get_merge_row_id_columns(access.session, table.handle)
    by_name = {column.name: column for column in table.table.columns}
    return tuple(by_name[name] for name in names)


class BegunMerge:
    """Changes that have begun: exactly one of ``finish`` and ``abort`` ends them.

    Args:
        access: The catalog, in the transaction that the changes are committed with.
        name: The table.
        table: The handle that the rows are read by, in another transaction maybe.
        row_ids: The columns that name its rows.
        columns: Its visible columns.
        command: The statement's kind.

    Attributes:
        sinks: Open the sinks that the changes go to.

    Raises:
        NotSupportedError: Rows of the table cannot be changed.
        ConnectorError: Others have changed the table, or the catalog failed.
    """

    def __init__(
        self,
        access: CatalogAccess,
        name: CatalogSchemaTableName,
        table: TableHandle,
        row_ids: tuple[ColumnMetadata, ...],
        columns: tuple[ColumnMetadata, ...],
        command: MergeCommand,
    ) -> None:
        provider = access.connector.page_sink_provider
        if provider is None or not isinstance(access.metadata, SupportsMerge):
            raise InternalError(
                f"the connector of catalog '{access.catalog}' changes no rows, or has no sinks for them"
            )
        self._access = access
        self._metadata: SupportsMerge = access.metadata
        self._asked = f"change rows of {name}"
        with access.lock.asking(self._asked):
            self._handle = self._metadata.begin_merge(access.session, table, command)
        self.sinks = MergeOpener(
            provider=provider,
            session=access.session,
            merge=self._handle,
            table=str(name),
            row_ids=row_ids,
            columns=columns,
            origin=access.origin,
        )

    def finish(self, fragments: Sequence[Fragment]) -> None:
        """Has the changes committed with the transaction."""
        with self._access.lock.asking(self._asked):
            self._metadata.finish_merge(self._access.session, self._handle, fragments)

    def abort(self) -> None:
        """Clears what was written; an error of it is not told, since another one came before."""
        with suppress(Exception), self._access.lock.asking(self._asked):
            self._metadata.abort_merge(self._access.session, self._handle)
