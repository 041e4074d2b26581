"""Metadata that shows and does what an identity may: what every connector has. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from catalog.guard.checks import Checks
from catalog.guard.handles import GuardedTable
from catalog.guard.row_filter_domain import row_filter_domain
from connector_spi.errors import AccessDeniedError
from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.metadata import ConnectorMetadata, FilterApplication, ProjectionApplication
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.predicate import Constraint, TupleDomain, references
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable

__all__ = ["GuardedMetadata", "guarded_table"]


class GuardedMetadata(ConnectorMetadata[TableHandle]):
    """A connector's metadata behind checks.

    Args:
        metadata: The connector's own.
        checks: Of the catalog.
    """

    def __init__(self, metadata: ConnectorMetadata, checks: Checks) -> None:
        self.metadata = metadata
        self.checks = checks

    @property
    def most_filter_values(self) -> int:
        return self.metadata.most_filter_values

    def list_schema_names(self, session: ConnectorSession) -> Sequence[str]:
        names = self.metadata.list_schema_names(session)
        shown = self.checks.schemas(session.identity, names)
        return [name for name in names if name in shown]

    def schema_exists(self, session: ConnectorSession, schema: str) -> bool:
        return bool(self.checks.schemas(session.identity, [schema])) and self.metadata.schema_exists(session, schema)

    def get_schema_properties(self, session: ConnectorSession, schema: str) -> Mapping[str, str]:
        try:
            self.checks.check(
                lambda control: control.check_can_show_create_schema(session.identity, self.checks.catalog, schema)
            )
        except AccessDeniedError:
            # Who may use it sees that it is there, and no location.
            return {}
        return self.metadata.get_schema_properties(session, schema)

    def list_tables(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        names = self.metadata.list_tables(session, schema)
        shown = self.checks.tables(session.identity, names)
        return [name for name in names if name in shown]

    def get_table_handle(self, session: ConnectorSession, name: SchemaTableName) -> TableHandle | None:
        system = SystemTableName.parse(name)
        if system is None:
            self.checks.visible(session.identity, name)
        else:
            # What is no system table may be missing, and then it is said which there are.
            self.checks.visible(session.identity, system.base)
        return self.guarded(session, name, self.metadata.get_table_handle(session, name))

    def get_table_metadata(self, session: ConnectorSession, table: TableHandle) -> TableMetadata:
        guarded = guarded_table(table)
        found = self.metadata.get_table_metadata(session, guarded.table)
        if not guarded.is_whole:
            # A path or a property may say what a value hides, and so does a promise that there is no NULL.
            masked = frozenset() if guarded.policy is None else guarded.policy.masked
            columns = tuple(
                replace(column, nullable=True) if column.name in masked else column
                for column in found.columns
                if column.name not in guarded.hidden
            )
            keys = tuple(key for key in found.partitioned_by if key not in guarded.hidden | masked)
            return replace(found, columns=columns, partitioned_by=keys, properties=(), buckets=None)
        try:
            self.checks.check(
                lambda control: control.check_can_show_create_table(session.identity, self.checks.full(guarded.name))
            )
        except AccessDeniedError:
            return replace(found, properties=_harmless(found.properties), buckets=None)
        return found

    def get_column_handles(self, session: ConnectorSession, table: TableHandle) -> Mapping[str, ColumnHandle]:
        guarded = guarded_table(table)
        found = self.metadata.get_column_handles(session, guarded.table)
        return {name: handle for name, handle in found.items() if name not in guarded.hidden}

    def get_system_table(self, session: ConnectorSession, name: SystemTableName) -> SystemTable | None:
        self.checks.visible(session.identity, name.base)
        found = self.metadata.get_system_table(session, name)
        if found is None:
            return None
        base = self.guarded(session, name.base, self.metadata.get_table_handle(session, name.base))
        if base is not None:
            columns = self.metadata.get_column_handles(session, base.table)
            self.checks.select(session.identity, name.base, [one for one in columns if one not in base.hidden])
            if not base.is_whole:
                table = self.checks.full(SchemaTableName(name.base.schema, f"{name.base.table}${name.kind}"))
                raise AccessDeniedError(
                    f"Access Denied: Cannot select from table {table}: rows or columns of its table are hidden"
                )
        return found

    def list_system_table_kinds(self) -> Sequence[str]:
        return self.metadata.list_system_table_kinds()

    def apply_filter(
        self, session: ConnectorSession, table: TableHandle, constraint: Constraint
    ) -> FilterApplication | None:
        guarded = guarded_table(table)
        # Where the connector takes the filter over, its columns are not read, and which rows come tells of them.
        names = _filtered(constraint)
        if names & guarded.unreadable:
            self.checks.select(session.identity, guarded.name, sorted(names))
        offered, kept = _unmasked(guarded, constraint)
        if offered.summary.is_all and not offered.expressions:
            return None
        taken = self.metadata.apply_filter(session, guarded.table, offered)
        if taken is None:
            return None
        return replace(taken, table=guarded.of(taken.table), remaining=taken.remaining.intersect(kept))

    def apply_projection(
        self, session: ConnectorSession, table: TableHandle, columns: tuple[ColumnHandle, ...]
    ) -> ProjectionApplication | None:
        guarded = self._pruned(session, guarded_table(table))
        read = guarded.read_columns(columns)
        taken = self.metadata.apply_projection(session, guarded.table, read)
        if taken is None:
            return None if guarded is table else ProjectionApplication(guarded, columns)
        if guarded.policy is None:
            return replace(taken, table=guarded.of(taken.table))
        changed = {column.name: column for column in taken.columns}
        masked = guarded.policy.masked
        shown = tuple(column if column.name in masked else changed[column.name] for column in columns)
        return ProjectionApplication(guarded.of(taken.table), shown)

    def guarded(
        self, session: ConnectorSession, name: SchemaTableName, handle: TableHandle | None
    ) -> GuardedTable | None:
        """A handle with what may be seen of its table."""
        if handle is None:
            return None
        self.checks.visible(session.identity, name)
        identity = session.identity
        columns = self.metadata.get_table_metadata(session, handle).columns
        handles = self.metadata.get_column_handles(session, handle)
        shown = self.checks.columns(identity, name, list(handles))
        policy = self.checks.policy(identity, name, columns, list(handles.values()))
        unreadable = self.checks.unreadable(identity, name, shown)
        # Who reads nothing, and only writes, sees no part of it.
        if policy is not None or len(shown) < len(handles) or (unreadable and unreadable < shown):
            shown -= {column.name for column in columns if _tells_of_others(column)}
            unreadable &= shown
        if not shown:
            self.checks.select(identity, name, list(handles))
        return GuardedTable(name, handle, frozenset(handles) - shown, unreadable, policy)

    def _pruned(self, session: ConnectorSession, guarded: GuardedTable) -> GuardedTable:
        """The table without what its row filters leave out for sure; the rows are filtered in any case."""
        if guarded.policy is None or guarded.prunes:
            return guarded
        domain = row_filter_domain(guarded.policy)
        pruned = replace(guarded, prunes=True)
        if domain.is_all or domain.is_none:
            return pruned
        taken = self.metadata.apply_filter(session, guarded.table, Constraint(domain))
        return pruned if taken is None else pruned.of(taken.table)

    def refuse_lost(self, session: ConnectorSession, plain: GuardedTable, other: GuardedTable) -> None:
        """Checks that a table with columns of its own, such as a change feed, has those that rules name.

        Its other columns may hold their values under names that no rule knows, such as a whole row as JSON.
        """
        masked = frozenset() if plain.policy is None else plain.policy.masked
        columns = self.metadata.get_table_metadata(session, plain.table).columns
        own = {column.name for column in columns if not _tells_of_others(column)}
        held = own & (plain.hidden | plain.unreadable | masked)
        lost = sorted(held.difference(self.metadata.get_column_handles(session, other.table)))
        if lost:
            raise AccessDeniedError(
                f"Access Denied: Cannot select from table {self.checks.full(plain.name)} in this form: it lacks the "
                f"columns {lost}, which are hidden, denied or masked, and may show their values elsewhere"
            )

    def refuse_part(self, session: ConnectorSession, table: GuardedTable, verb: str) -> None:
        """Rows and values that are not seen must neither be changed nor lost."""
        if not table.is_whole:
            raise AccessDeniedError(
                f"Access Denied: Cannot {verb} table {self.checks.full(table.name)}: user {session.user} does not see "
                "all of its rows, columns and values"
            )

    def refuse_part_of(self, session: ConnectorSession, name: SchemaTableName, verb: str) -> None:
        """As ``refuse_part``, of a table that is there."""
        table = self.guarded(session, name, self.metadata.get_table_handle(session, name))
        if table is not None:
            self.refuse_part(session, table, verb)


def guarded_table(table: TableHandle) -> GuardedTable:
    """A handle that came from guarded metadata; any other is an error of the engine."""
    return cast(GuardedTable, table)


def _filtered(constraint: Constraint) -> set[str]:
    """Names of the columns of a filter."""
    names = {ref.column.name for one in constraint.expressions for ref in references(one)}
    return names | {column.name for column in constraint.summary.domains or ()}


def _unmasked(table: GuardedTable, constraint: Constraint) -> tuple[Constraint, TupleDomain[ColumnHandle]]:
    """What a connector may know of a filter, and what the engine alone checks: a mask's values are none of the file."""
    if table.policy is None or constraint.summary.domains is None:
        return constraint, TupleDomain.all()
    masked = table.policy.masked
    expressions = tuple(
        one for one in constraint.expressions if all(ref.column.name not in masked for ref in references(one))
    )
    offered = Constraint(constraint.summary.keep(lambda column: column.name not in masked), (), expressions)
    return offered, constraint.summary.keep(lambda column: column.name in masked)


def _tells_of_others(column: ColumnMetadata) -> bool:
    """The path of a file holds values of partition keys, and Hudi's own columns those of record keys and paths."""
    return column.hidden or column.name.startswith("_hoodie_")


def _harmless(properties: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """What who may only read a table sees of its properties."""
    return tuple((key, text) for key, text in properties if key in ("provider", "external"))
