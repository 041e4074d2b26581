"""What an identity may do in catalogs; whatever is not overridden is denied, in Trino's words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn

from connector_spi.errors import AccessDeniedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.security.grants import Principal, Privilege
from connector_spi.security.identity import Identity
from connector_spi.security.view_expression import ViewExpression

__all__ = ["ConnectorAccessControl"]


class ConnectorAccessControl:
    """What an identity may do with schemas, tables and procedures. Used by several threads.

    Checks return if it may, and raise an ``AccessDeniedError`` if not. By default all are denied and nothing is shown:
    an override denies with ``super()``, which has the words. A connector that returns one from
    ``Connector.access_control`` narrows what the system's access control allows: both have to allow.
    Names are full, and in lower case. Sources of the rules: Trino's ``SystemAccessControl``, ``AccessDeniedException``.
    """

    def check_can_set_catalog_session_property(self, identity: Identity, catalog: str, name: str) -> None:
        """May a session property of a catalog be set?"""
        denied(f"Cannot set catalog session property {catalog}.{name}")

    def filter_schemas(self, identity: Identity, catalog: str, schemas: Collection[str]) -> Collection[str]:
        """Those of some schemas that are shown."""
        return ()

    def check_can_create_schema(self, identity: Identity, catalog: str, schema: str) -> None:
        """May the schema be created?"""
        denied(f"Cannot create schema {catalog}.{schema}")

    def check_can_drop_schema(self, identity: Identity, catalog: str, schema: str) -> None:
        """May the schema be dropped?"""
        denied(f"Cannot drop schema {catalog}.{schema}")

    def check_can_set_schema_properties(self, identity: Identity, catalog: str, schema: str) -> None:
        """May properties and the comment of a schema be changed?"""
        denied(f"Cannot set properties of schema {catalog}.{schema}")

    def check_can_show_create_schema(self, identity: Identity, catalog: str, schema: str) -> None:
        """May the properties of a schema be shown?"""
        denied(f"Cannot show create schema for {catalog}.{schema}")

    def filter_tables(
        self, identity: Identity, catalog: str, tables: Collection[CatalogSchemaTableName]
    ) -> Collection[CatalogSchemaTableName]:
        """Those of some tables and views of a catalog that are shown."""
        return ()

    def check_can_show_columns(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        """May it be known that there is this table, and which columns it has?"""
        denied(f"Cannot show columns of table {table}")

    def filter_columns(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> Collection[str]:
        """Those of some columns of a table that are shown."""
        return ()

    def check_can_show_create_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        """May the properties of a table be shown, such as its location?"""
        denied(f"Cannot show create table for {table}")

    def check_can_create_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        """May the table be created, with rows or without?"""
        denied(f"Cannot create table {table}")

    def check_can_drop_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        """May the table or view be dropped?"""
        denied(f"Cannot drop table {table}")

    def check_can_rename_table(
        self, identity: Identity, table: CatalogSchemaTableName, new_name: CatalogSchemaTableName
    ) -> None:
        """May the table be renamed?"""
        denied(f"Cannot rename table from {table} to {new_name}")

    def check_can_set_table_properties(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        """May properties and the comment of a table be changed?"""
        denied(f"Cannot set table properties to {table}")

    def check_can_set_column_comment(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        """May comments of columns be changed?"""
        denied(f"Cannot comment column to {table}")

    def check_can_select_from_columns(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> None:
        """May these columns be read? Of no columns: may rows be counted?"""
        listed = f"columns [{', '.join(sorted(columns))}] in table or view" if columns else "table"
        denied(f"Cannot select from {listed} {table}")

    def check_can_insert_into_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        """May rows be added?"""
        denied(f"Cannot insert into table {table}")

    def check_can_delete_from_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        """May rows be deleted?"""
        denied(f"Cannot delete from table {table}")

    def check_can_truncate_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        """May all rows be deleted?"""
        denied(f"Cannot truncate table {table}")

    def check_can_update_table_columns(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        """May values be changed?"""
        denied(f"Cannot update table {table}")

    def check_can_execute_procedure(self, identity: Identity, procedure: CatalogSchemaTableName) -> None:
        """May a procedure be called? Its name has the place of a table's."""
        denied(f"Cannot execute procedure {procedure}")

    def check_can_create_view_with_select_from_columns(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> None:
        """May others read these columns through a view of the identity's?"""
        denied(f"View owner does not have sufficient privileges: View owner '{identity.user}' cannot create view that "
               f"selects from {table}")  # fmt: skip

    def check_can_grant_table_privilege(
        self, identity: Identity, privilege: Privilege, table: CatalogSchemaTableName, grantee: Principal
    ) -> None:
        """May a privilege on a table be granted?"""
        denied(f"Cannot grant privilege {privilege} on table {table}")

    def check_can_revoke_table_privilege(
        self, identity: Identity, privilege: Privilege, table: CatalogSchemaTableName, grantee: Principal
    ) -> None:
        """May a privilege on a table be taken back?"""
        denied(f"Cannot revoke privilege {privilege} on table {table}")

    def check_can_create_role(self, identity: Identity, catalog: str, role: str) -> None:
        """May a role of a catalog be made?"""
        denied(f"Cannot create role {role}")

    def check_can_drop_role(self, identity: Identity, catalog: str, role: str) -> None:
        """May a role of a catalog be dropped?"""
        denied(f"Cannot drop role {role}")

    def check_can_grant_roles(
        self, identity: Identity, catalog: str, roles: Collection[str], grantees: Collection[Principal]
    ) -> None:
        """May roles of a catalog be granted?"""
        denied(f"Cannot grant roles {_listed(roles)} to {_listed(grantees)}")

    def check_can_revoke_roles(
        self, identity: Identity, catalog: str, roles: Collection[str], grantees: Collection[Principal]
    ) -> None:
        """May roles of a catalog be taken back?"""
        denied(f"Cannot revoke roles {_listed(roles)} from {_listed(grantees)}")

    def check_can_set_role(self, identity: Identity, catalog: str, role: str) -> None:
        """May a role of a catalog be selected?"""
        denied(f"Cannot set role {role}")

    def check_can_show_roles(self, identity: Identity, catalog: str) -> None:
        """May all roles of a catalog be listed? Who asks may always know the own ones."""
        denied(f"Cannot show roles from catalog {catalog}")

    def get_row_filters(self, identity: Identity, table: CatalogSchemaTableName) -> Sequence[ViewExpression]:
        """Conditions that rows have to meet; all of them count."""
        return ()

    def get_column_masks(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> Mapping[str, ViewExpression]:
        """What is shown instead of the values of columns, by the column's name."""
        return {}


def denied(what: str) -> NoReturn:
    """Raises the error of Trino's ``AccessDeniedException``."""
    raise AccessDeniedError(f"Access Denied: {what}")


def _listed(names: Collection[object]) -> str:
    return f"[{', '.join(sorted(map(str, names)))}]"
