"""From names to handles, with messages that say what exists that is close. Driver side."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from catalog.guard.handles import GuardedTable
from connector_spi.errors import (
    ColumnNotFoundError,
    ConnectorError,
    InvalidArgumentError,
    NotSupportedError,
    SchemaNotFoundError,
    TableNotFoundError,
)
from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.metadata import ConnectorMetadata, SupportsTimeTravel, TableVersion
from connector_spi.names import CatalogSchemaTableName, SchemaTableName, SystemTableName, quote_identifier
from connector_spi.optional.changes import ChangeRange, SupportsChanges, TableChanges
from connector_spi.optional.read_options import SupportsReadOptions
from connector_spi.schema import TableMetadata
from connector_spi.security.connector_access_control import denied
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable

__all__ = [
    "ResolvedSystemTable",
    "ResolvedTable",
    "check_not_hidden",
    "resolve_changes",
    "resolve_column",
    "resolve_schema",
    "resolve_table",
    "with_read_options",
]

# Comparing names costs a few microseconds each; a schema can hold a hundred thousand.
_COMPARED_NAMES = 5000
_SHOWN_NAMES = 3


@dataclass(frozen=True, slots=True)
class ResolvedTable:
    """A table at its snapshot.

    Attributes:
        name: Full name, lower case.
        handle: With the snapshot fixed (invariant I1).
        table: Columns and properties at that snapshot.
        columns: Handles by name, in order, hidden ones included.
    """

    name: CatalogSchemaTableName
    handle: TableHandle
    table: TableMetadata
    columns: Mapping[str, ColumnHandle]


@dataclass(frozen=True, slots=True)
class ResolvedSystemTable:
    """A table about a table, such as ``orders$partitions``."""

    name: CatalogSchemaTableName
    system_table: SystemTable


def resolve_table(
    session: ConnectorSession,
    metadata: ConnectorMetadata,
    name: CatalogSchemaTableName,
    version: TableVersion | None = None,
) -> ResolvedTable | ResolvedSystemTable:
    """Finds a table.

    Args:
        session: The query.
        metadata: Of the catalog ``name.catalog``, in the query's transaction.
        name: In any case; connectors know lower case.
        version: An older state; ``None`` for the newest.

    Raises:
        SchemaNotFoundError: No such schema; names the closest ones.
        TableNotFoundError: No such table in the schema, or no such kind of system table; names the closest ones.
        NotSupportedError: The connector has no older states, or cannot read this table right.
        InvalidArgumentError: The table has no such version.
    """
    name = CatalogSchemaTableName(name.catalog, name.schema.lower(), name.table.lower())
    system_name = SystemTableName.parse(name.schema_table)
    if system_name is not None:
        system_table = metadata.get_system_table(session, system_name)
        if system_table is not None:
            if version is not None:
                raise NotSupportedError(f"system table {name} has no older states; leave out AS OF")
            return ResolvedSystemTable(name, system_table)
    handle = _get_handle(session, metadata, name, version)
    if handle is None:
        raise _table_not_found(session, metadata, name, system_name)
    table = metadata.get_table_metadata(session, handle)
    return ResolvedTable(name, handle, table, metadata.get_column_handles(session, handle))


def with_read_options(
    session: ConnectorSession, metadata: ConnectorMetadata, resolved: ResolvedTable, options: Mapping[str, str]
) -> ResolvedTable:
    """The table as read options ask for it, with the columns that it has then.

    Args:
        session: The query.
        metadata: What resolved the table.
        resolved: The table; nothing was pushed yet.
        options: By name in lower case; none is no change.

    Raises:
        InvalidArgumentError: The connector does not know an option.
        NotSupportedError: The table cannot be read so.
    """
    if not options:
        return resolved
    if not isinstance(metadata, SupportsReadOptions):
        raise InvalidArgumentError(
            f"table {resolved.name} is read with the option {', '.join(sorted(options))}, which it does not know; "
            "leave it out"
        )
    handle = metadata.apply_read_options(session, resolved.handle, options)
    columns = metadata.get_column_handles(session, handle)
    return ResolvedTable(resolved.name, handle, metadata.get_table_metadata(session, handle), columns)


def resolve_changes(
    session: ConnectorSession,
    metadata: ConnectorMetadata,
    resolved: ResolvedTable | ResolvedSystemTable,
    change_range: ChangeRange,
) -> tuple[ResolvedTable, TableChanges]:
    """Finds the changes of a table.

    Args:
        session: The query.
        metadata: What resolved the table.
        resolved: The table at its newest snapshot; nothing was pushed yet.
        change_range: Which versions' changes.

    Raises:
        NotSupportedError: The catalog or the table has no changes.
        InvalidArgumentError: The range is not one of the table, or is no longer there; says what is.
    """
    name = resolved.name
    if isinstance(resolved, ResolvedSystemTable):
        raise NotSupportedError(f"system table {name} has no changes; leave out CHANGES")
    if not isinstance(metadata, SupportsChanges):
        raise NotSupportedError(
            f"the changes of table {name} cannot be read: catalog {quote_identifier(name.catalog)} knows none; "
            "leave out CHANGES"
        )
    changes = metadata.get_changes(session, resolved.handle, change_range)
    table = metadata.get_table_metadata(session, changes.table)
    columns = metadata.get_column_handles(session, changes.table)
    return ResolvedTable(name, changes.table, table, columns), changes


def resolve_schema(session: ConnectorSession, metadata: ConnectorMetadata, catalog: str, schema: str) -> str:
    """Finds a schema.

    Returns:
        Its name in lower case.

    Raises:
        SchemaNotFoundError: There is none; names the closest ones.
    """
    found = schema.lower()
    if not metadata.schema_exists(session, found):
        near = _near(found, lambda: metadata.list_schema_names(session))
        raise SchemaNotFoundError(f"no schema {quote_identifier(found)} in catalog {quote_identifier(catalog)}{near}")
    return found


def resolve_column(resolved: ResolvedTable, column: str) -> ColumnHandle:
    """Finds a column, in any case where that is not ambiguous.

    Raises:
        ColumnNotFoundError: There is none; names the closest ones.
    """
    exact = resolved.columns.get(column)
    if exact is not None:
        return exact
    same = [handle for name, handle in resolved.columns.items() if name.lower() == column.lower()]
    if len(same) == 1:
        return same[0]
    check_not_hidden(resolved, column)
    near = _near(column, lambda: [shown.name for shown in resolved.table.columns])
    raise ColumnNotFoundError(f"no column {quote_identifier(column)} in table {resolved.name}{near}")


def check_not_hidden(resolved: ResolvedTable, column: str) -> None:
    """Refuses a column that the access control hides, as if it had been read.

    Raises:
        AccessDeniedError: It is one of the table.
    """
    handle = resolved.handle
    if isinstance(handle, GuardedTable) and column.lower() in {name.lower() for name in handle.hidden}:
        denied(f"Cannot select from columns [{column.lower()}] in table or view {resolved.name}")


def _get_handle(
    session: ConnectorSession, metadata: ConnectorMetadata, name: CatalogSchemaTableName, version: TableVersion | None
) -> TableHandle | None:
    if version is None:
        return metadata.get_table_handle(session, name.schema_table)
    if isinstance(metadata, SupportsTimeTravel):
        return metadata.get_table_handle_at(session, name.schema_table, version)
    if metadata.get_table_handle(session, name.schema_table) is None:
        return None
    raise NotSupportedError(
        f"table {name} cannot be read at an older state: catalog {quote_identifier(name.catalog)} has none; "
        "leave out VERSION or TIMESTAMP AS OF"
    )


def _table_not_found(
    session: ConnectorSession,
    metadata: ConnectorMetadata,
    name: CatalogSchemaTableName,
    system_name: SystemTableName | None,
) -> ConnectorError:
    try:
        resolve_schema(session, metadata, name.catalog, name.schema)
    except SchemaNotFoundError as error:
        return error
    if system_name is not None and metadata.get_table_handle(session, system_name.base) is not None:
        kinds = metadata.list_system_table_kinds()
        there_are = f"there are: {', '.join(kinds)}" if kinds else "this catalog has no system tables"
        return TableNotFoundError(
            f"no system table '{system_name.kind}' about table {_full(name.catalog, system_name.base)}; {there_are}"
        )
    sought = system_name.base if system_name is not None else name.schema_table
    near = _near(sought.table, lambda: [table.table for table in metadata.list_tables(session, name.schema)])
    return TableNotFoundError(f"no table {_full(name.catalog, sought)}{near}")


def _full(catalog: str, name: SchemaTableName) -> CatalogSchemaTableName:
    return CatalogSchemaTableName(catalog, name.schema, name.table)


def _near(name: str, known: Callable[[], Sequence[str]]) -> str:
    """Words for the names closest to ``name``; a catalog that cannot list them only shortens the message."""
    try:
        names: Iterable[str] = known()
    except ConnectorError:
        return ""
    found = difflib.get_close_matches(name, list(islice(names, _COMPARED_NAMES)), n=_SHOWN_NAMES, cutoff=0.6)
    return f"; did you mean {', '.join(quote_identifier(near) for near in found)}?" if found else ""
