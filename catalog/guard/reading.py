"""Splits of guarded tables: columns are checked here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from catalog.guard.checks import Checks
from catalog.guard.handles import GuardedSplit
from catalog.guard.metadata import guarded_table
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connector_spi.splits import ScanSummary, SplitManager, SplitSource

__all__ = ["GuardedSplitManager"]

_NOTE = "row filters or column masks hold: what is read and skipped is not shown"


@dataclass(frozen=True, slots=True)
class GuardedSplitManager(SplitManager[TableHandle, Split]):
    """Makes the splits of what an identity may read.

    Attributes:
        manager: The connector's own.
        checks: Of the catalog.
    """

    manager: SplitManager
    checks: Checks

    def get_splits(
        self,
        transaction: ConnectorTransaction,
        session: ConnectorSession,
        table: TableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> SplitSource[Split]:
        guarded = guarded_table(table)
        names = [column.name for column in columns] if guarded.aggregated is None else list(guarded.aggregated)
        self.checks.select(session.identity, guarded.name, names)
        policy = guarded.policy
        if policy is not None:
            # A join knows masked values, which files do not have.
            dynamic_filter = dynamic_filter.keep(lambda column: column.name not in policy.masked)
        read = guarded.read_columns(columns)
        source = self.manager.get_splits(transaction, session, guarded.table, read, dynamic_filter)
        return source if guarded.shows_files else _GuardedSplits(source, is_confidential=policy is not None)


class _GuardedSplits(SplitSource[Split]):
    def __init__(self, source: SplitSource, *, is_confidential: bool) -> None:
        self._source = source
        self._is_confidential = is_confidential

    def __iter__(self) -> Iterator[Sequence[Split]]:
        for batch in self._source:
            yield [GuardedSplit(split) for split in batch]

    def summary(self) -> ScanSummary:
        found = self._source.summary()
        return ScanSummary(found.snapshot, notes=(_NOTE,), is_confidential=True) if self._is_confidential else found

    def close(self) -> None:
        self._source.close()
