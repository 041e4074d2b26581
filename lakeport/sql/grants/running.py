"""Runs statements about privileges and roles."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.names import SchemaTableName, quote_identifier
from connector_spi.optional.grants import SupportsGrants
from connector_spi.security import PrivilegeGrant
from lakeport.planning.redirection import list_catalog
from lakeport.sql.grants.request import GrantKind, GrantRequest, full_name
from lakeport.transactions.statement import CatalogAccess, Statement

__all__ = ["GRANTS_SCHEMA", "catalog_of", "run_grant"]

GRANTS_SCHEMA = pa.schema(
    [
        ("Grantor", pa.string()),
        ("Grantor Type", pa.string()),
        ("Grantee", pa.string()),
        ("Grantee Type", pa.string()),
        ("Catalog", pa.string()),
        ("Schema", pa.string()),
        ("Table", pa.string()),
        ("Privilege", pa.string()),
        ("Grantable", pa.string()),
        ("With Hierarchy", pa.string()),
    ]
)
"""What ``SHOW GRANTS`` gives, as in Trino; hierarchies of tables there are none."""


def catalog_of(request: GrantRequest, current: tuple[str, str]) -> str:
    """The catalog that a statement is about, in lower case; empty where it names none and none is selected.

    Args:
        request: The statement.
        current: Catalog and schema of names that say none.
    """
    full = 2 if request.is_schema else 3
    if request.name and len(request.name) == full:
        return request.name[0].lower()
    return request.catalog or current[0]


def run_grant(statement: Statement, request: GrantRequest, current: tuple[str, str]) -> pa.Table:
    """Runs a statement; gives its rows, or a table without columns. ``SET ROLE`` is checked alone.

    Args:
        statement: What it belongs to.
        request: The statement.
        current: Catalog and schema of names that say none.

    Raises:
        AccessDeniedError: The user may not.
        NotSupportedError: The catalog keeps no grants, or none of this kind.
        ConnectorError: A role, schema or table is not there; the catalog failed.
    """
    catalog = catalog_of(request, current)
    if not catalog:
        raise InvalidArgumentError(f"no catalog is selected; write {request.kind} ... IN catalog, or USE one first")
    access = statement.access(catalog)
    metadata = access.metadata
    if not isinstance(metadata, SupportsGrants):
        raise NotSupportedError(
            f"catalog {quote_identifier(catalog)} has no grants and roles; set hive.security=sql-standard in its "
            "properties, where its connector is hive or hudi"
        )
    with access.lock:
        if request.kind in (GrantKind.GRANT, GrantKind.REVOKE):
            _change_privileges(access, metadata, request, current)
        elif request.kind is GrantKind.SHOW_GRANTS:
            return _show_grants(access, metadata, request, current)
        else:
            return _roles(access, metadata, request)
    return pa.table({})


def _change_privileges(
    access: CatalogAccess, metadata: SupportsGrants, request: GrantRequest, current: tuple[str, str]
) -> None:
    if request.is_schema:
        raise NotSupportedError(
            f"{request.kind} ON SCHEMA is not supported: Hive's privileges are on tables, and a schema is its owner's"
        )
    _, schema, table = full_name(request.name, current, is_schema=False)
    assert table is not None
    change = metadata.grant_table_privileges
    if request.kind is GrantKind.REVOKE:
        change = metadata.revoke_table_privileges
    for grantee in request.grantees:
        name = SchemaTableName(schema, table)
        change(access.session, name, frozenset(request.privileges), grantee, request.option)


def _show_grants(
    access: CatalogAccess, metadata: SupportsGrants, request: GrantRequest, current: tuple[str, str]
) -> pa.Table:
    session = access.session
    listing = list_catalog(access)
    if not request.name:
        own = access.metadata.list_schema_names(session)
        tables = [SchemaTableName(schema, name) for schema in own for name in listing.table_names(schema)]
    else:
        _, schema, table = full_name(request.name, current, is_schema=request.is_schema)
        names = [table] if table is not None else listing.table_names(schema)
        tables = [SchemaTableName(schema, name) for name in names]
    found = metadata.list_table_privileges(session, tables)
    rows = sorted((_row(access.catalog, one) for one in set(found)), key=lambda row: [str(cell) for cell in row])
    columns = zip(*rows, strict=True) if rows else [[] for _ in GRANTS_SCHEMA]
    return pa.table(
        [pa.array(list(column), pa.string()) for column in columns],
        schema=GRANTS_SCHEMA,
    )


def _row(catalog: str, grant: PrivilegeGrant) -> tuple[str | None, ...]:
    by, to = grant.grantor, grant.grantee
    return (
        None if by is None else by.name,
        None if by is None else str(by.kind),
        to.name,
        str(to.kind),
        catalog,
        grant.table.schema,
        grant.table.table,
        str(grant.privilege),
        "YES" if grant.grant_option else "NO",
        None,
    )


def _roles(access: CatalogAccess, metadata: SupportsGrants, request: GrantRequest) -> pa.Table:
    session, roles = access.session, request.roles
    match request.kind:
        case GrantKind.SHOW_ROLES:
            return _names("Role", metadata.list_roles(session))
        case GrantKind.SHOW_CURRENT_ROLES:
            return _names("Role", metadata.list_enabled_roles(session))
        case GrantKind.SHOW_ROLE_GRANTS:
            return _names("Role Grants", (one.role for one in metadata.list_role_grants(session)))
        case GrantKind.CREATE_ROLE:
            metadata.create_role(session, roles[0])
        case GrantKind.DROP_ROLE:
            if not request.if_exists or roles[0] in metadata.list_roles(session):
                metadata.drop_role(session, roles[0])
        case GrantKind.SET_ROLE:
            metadata.check_role(session, roles[0])
        case GrantKind.GRANT_ROLES:
            metadata.grant_roles(session, roles, request.grantees, request.option)
        case GrantKind.REVOKE_ROLES:
            metadata.revoke_roles(session, roles, request.grantees, request.option)
    return pa.table({})


def _names(column: str, names: Iterable[str]) -> pa.Table:
    return pa.table({column: pa.array(sorted(set(names)), pa.string())})
