"""The tables that transactions have resolved: each is asked for once, so that all reads see one snapshot (I1)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from catalog.resolver import (
    ResolvedSystemTable,
    ResolvedTable,
    resolve_changes,
    resolve_table,
    with_read_options,
)
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.metadata import ConnectorMetadata, SupportsTableRedirection, TableRedirection, TableVersion
from connector_spi.names import CatalogSchemaTableName, SchemaTableName, SystemTableName
from connector_spi.optional.changes import ChangeRange, TableChanges
from connector_spi.optional.definitions import SupportsViews, ViewDefinition
from connector_spi.session import ConnectorSession
from lakeport.plugin_errors import ConnectorOrigin
from lakeport.transactions.metadata_lock import MetadataLock

__all__ = ["BegunTransaction", "KeptTables"]

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True, eq=False)
class BegunTransaction:
    """A transaction of one catalog.

    Attributes:
        transaction: The transaction.
        metadata: Answers inside of it; guarded by ``lock``.
        tables: What was resolved in it, and in those that it follows.
    """

    transaction: ConnectorTransaction
    metadata: ConnectorMetadata
    tables: KeptTables

    @property
    def lock(self) -> MetadataLock:
        """Held around each call of ``metadata``, which serves one thread at a time."""
        return self.tables.lock


class KeptTables:
    """The handles of a catalog in a group of transactions: a connector is asked once for each table and version.

    Session properties and the time zone may change what a handle is, so each setting of them is asked for by itself.
    That a table is missing is not kept, and neither is an error. May be used by several threads: one asks, the others
    wait for its answer.

    A handle belongs to the transaction that it was made in. Where a definition has made the group begin another one,
    tables that it did not touch are still read in theirs.

    Args:
        origin: Whose metadata it is.

    Attributes:
        lock: Held around each call of metadata.
    """

    def __init__(self, origin: ConnectorOrigin) -> None:
        self.lock = MetadataLock(origin)
        self._tables: _Answers[tuple[BegunTransaction, ResolvedTable | ResolvedSystemTable]] = _Answers()
        self._with_options: _Answers[ResolvedTable] = _Answers()
        self._changes: _Answers[tuple[BegunTransaction, ResolvedTable, TableChanges]] = _Answers()
        self._redirections: _Answers[TableRedirection] = _Answers()
        self._views: _Answers[ViewDefinition] = _Answers()

    def table(
        self,
        begun: BegunTransaction,
        session: ConnectorSession,
        name: CatalogSchemaTableName,
        version: TableVersion | None,
    ) -> tuple[BegunTransaction, ResolvedTable | ResolvedSystemTable]:
        """A table, and the transaction in which it is read; other arguments and errors as of ``resolve_table``.

        Args:
            begun: The transaction to ask in where the table is not known.
            session: The query.
            name: In any case.
            version: An older state; ``None`` is the newest.
        """
        with self.lock.asking(f"resolve table {name}"):
            return self._tables.get(
                _lower(name.schema_table),
                (version, _settings(session)),
                lambda: (begun, resolve_table(session, begun.metadata, name, version)),
            )

    def with_options(
        self, begun: BegunTransaction, session: ConnectorSession, resolved: ResolvedTable, options: Mapping[str, str]
    ) -> ResolvedTable:
        """A table as read options ask for it; arguments and errors as of ``with_read_options``.

        Args:
            begun: The transaction in which the table is read.
            session: The query.
            resolved: The table.
            options: By name in lower case.
        """
        if not options:
            return resolved
        with self.lock.asking(f"apply read options to table {resolved.name}"):
            return self._with_options.get(
                resolved.name.schema_table,
                (resolved.handle, frozenset(options.items()), _settings(session)),
                lambda: with_read_options(session, begun.metadata, resolved, options),
            )

    def changes(
        self,
        begun: BegunTransaction,
        session: ConnectorSession,
        name: CatalogSchemaTableName,
        change_range: ChangeRange,
    ) -> tuple[BegunTransaction, ResolvedTable, TableChanges]:
        """The changes of a table up to the snapshot at which ``table`` reads it; errors as of ``resolve_changes``."""
        with self.lock.asking(f"find the changes of table {name}"):
            owner, table = self.table(begun, session, name, None)
            return self._changes.get(
                _lower(name.schema_table),
                (change_range, _settings(session)),
                lambda: (owner, *resolve_changes(session, owner.metadata, table, change_range)),
            )

    def redirection(
        self, begun: BegunTransaction, session: ConnectorSession, name: SchemaTableName
    ) -> TableRedirection | None:
        """Where a table of another kind is read; ``None`` for one that is read here, or is missing."""
        metadata, name = begun.metadata, _lower(name)
        if not isinstance(metadata, SupportsTableRedirection):
            return None
        with self.lock.asking(f"redirect table {name}"):
            if self._tables.has(name):
                return None
            return self._redirections.get_some(name, session.identity, lambda: metadata.redirect_table(session, name))

    def view(self, begun: BegunTransaction, session: ConnectorSession, name: SchemaTableName) -> ViewDefinition | None:
        """A view; ``None`` where there is none, or the catalog knows no views."""
        metadata = begun.metadata
        if not isinstance(metadata, SupportsViews):
            return None
        with self.lock.asking(f"find view {name}"):
            return self._views.get_some(name, session.identity, lambda: metadata.get_view(session, name))

    def resolved(self) -> list[ResolvedTable]:
        """The tables that were resolved, and are no system tables."""
        with self.lock:
            found = [table for _, table in self._tables.of(lambda name: True)]
        return [table for table in found if isinstance(table, ResolvedTable)]

    def forget(self, touched: Callable[[SchemaTableName], bool]) -> set[SchemaTableName]:
        """Forgets tables, which were defined anew: they are asked for again.

        Args:
            touched: Which; a system table goes with the table that it is about.

        Returns:
            The names that these tables have where they were redirected to.
        """

        def is_touched(name: SchemaTableName) -> bool:
            system = SystemTableName.parse(name)
            return touched(name) or (system is not None and touched(system.base))

        with self.lock:
            targets = {found.name for found in self._redirections.of(is_touched)}
            for answers in (self._tables, self._with_options, self._changes, self._redirections, self._views):
                answers.forget(is_touched)
        return targets


class _Answers(Generic[AnswerT]):
    """Answers about tables, by name and by what else was asked."""

    def __init__(self) -> None:
        self._known: dict[SchemaTableName, dict[Hashable, AnswerT]] = {}

    def get(self, name: SchemaTableName, asked: Hashable, ask: Callable[[], AnswerT]) -> AnswerT:
        found = self.get_some(name, asked, ask)
        assert found is not None
        return found

    def get_some(self, name: SchemaTableName, asked: Hashable, ask: Callable[[], AnswerT | None]) -> AnswerT | None:
        """As ``get``; ``None`` is not kept."""
        found = self._known.get(name, {}).get(asked)
        if found is None:
            found = ask()
            if found is not None:
                self._known.setdefault(name, {})[asked] = found
        return found

    def has(self, name: SchemaTableName) -> bool:
        return name in self._known

    def of(self, touched: Callable[[SchemaTableName], bool]) -> Iterable[AnswerT]:
        return [answer for name, answers in self._known.items() if touched(name) for answer in answers.values()]

    def forget(self, touched: Callable[[SchemaTableName], bool]) -> None:
        for name in [name for name in self._known if touched(name)]:
            del self._known[name]


def _lower(name: SchemaTableName) -> SchemaTableName:
    return SchemaTableName(name.schema.lower(), name.table.lower())


def _settings(session: ConnectorSession) -> Hashable:
    """What of a session may differ from statement to statement of a transaction, and change a handle."""
    return (session.identity, session.time_zone, session.properties)
