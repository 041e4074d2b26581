"""Page sources of guarded tables: rows are filtered and values masked before anyone else sees them. Task side."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.guard.handles import GuardedSplit, GuardedTable
from catalog.guard.policy import MaskedPageSource
from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.page_source import PageSource, PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession

__all__ = ["GuardedPageSourceProvider"]


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
