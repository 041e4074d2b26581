"""Page sources of guarded tables: rows are filtered and values masked before anyone else sees them. Task side."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.guard.handles import GuardedSplit, GuardedTable
from catalog.guard.policy import MaskedPageSource
from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, NativeFile, Split, TableHandle
from connector_spi.optional.native_files import OpenedFile, SupportsFileOpening
from connector_spi.page_source import PageSource, PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession

__all__ = ["GuardedFileProvider", "GuardedPageSourceProvider", "guarded_provider"]


def guarded_provider(provider: PageSourceProvider) -> GuardedPageSourceProvider:
    """Opens what ``provider`` opens, for who may see it."""
    opens = isinstance(provider, SupportsFileOpening)
    return (GuardedFileProvider if opens else GuardedPageSourceProvider)(provider)


@dataclass(frozen=True, slots=True)
class GuardedPageSourceProvider(PageSourceProvider[TableHandle, Split]):
    """Opens splits of guarded tables.

    Attributes:
        provider: The connector's own.
    """

    provider: PageSourceProvider

    def create_page_source(
        self,
        session: ConnectorSession,
        split: Split,
        table: TableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> PageSource:
        if not isinstance(table, GuardedTable):
            raise InternalError(f"a guarded catalog is read by a handle of {type(table).__name__}")
        if table.policy is None:
            own = split.split if isinstance(split, GuardedSplit) else split
            return self.provider.create_page_source(session, own, table.table, columns, dynamic_filter)
        if not isinstance(split, GuardedSplit):
            raise InternalError("rows are filtered or masked, and a split does not say so")
        read = table.read_columns(columns)
        everything = TupleDomain[ColumnHandle].all()
        source = self.provider.create_page_source(session, split.split, table.table, read, everything)
        return MaskedPageSource(source, columns, table.policy)


@dataclass(frozen=True, slots=True)
class GuardedFileProvider(GuardedPageSourceProvider):
    """The same of a connector that opens files for engines: those of tables that are shown as they are."""

    def open_file(self, session: ConnectorSession, table: TableHandle, file: NativeFile) -> OpenedFile:
        if not isinstance(table, GuardedTable) or not table.shows_files:
            raise InternalError("a file is asked for whose rows are filtered or masked")
        if not isinstance(self.provider, SupportsFileOpening):
            raise InternalError(f"{type(self.provider).__name__} opens no files")
        return self.provider.open_file(session, table.table, file)
