"""``allow-all``, ``read-only`` and what there is without either, as Trino's access controls."""

from __future__ import annotations

from collections.abc import Collection

from connector_spi.names import CatalogSchemaTableName
from connector_spi.security import Identity, Principal, Privilege, SystemAccessControl

__all__ = ["AllowAllAccessControl", "DefaultAccessControl", "ReadOnlyAccessControl"]


class ReadOnlyAccessControl(SystemAccessControl):
    """Everything may be read and listed; nothing may be changed, called or ended."""

    def check_can_execute_query(self, identity: Identity) -> None:
        return

    def can_view_query_owned_by(self, identity: Identity, owner: str) -> bool:
        return True

    def check_can_read_system_information(self, identity: Identity) -> None:
        return

    def can_access_catalog(self, identity: Identity, catalog: str) -> bool:
        return True

    def filter_catalogs(self, identity: Identity, catalogs: Collection[str]) -> Collection[str]:
        return catalogs

    def check_can_set_catalog_session_property(self, identity: Identity, catalog: str, name: str) -> None:
        return

    def filter_schemas(self, identity: Identity, catalog: str, schemas: Collection[str]) -> Collection[str]:
        return schemas

    def check_can_show_create_schema(self, identity: Identity, catalog: str, schema: str) -> None:
        return

    def filter_tables(
        self, identity: Identity, catalog: str, tables: Collection[CatalogSchemaTableName]
    ) -> Collection[CatalogSchemaTableName]:
        return tables

    def check_can_show_columns(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        return

    def filter_columns(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> Collection[str]:
        return columns

    def check_can_show_create_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        return

    def check_can_select_from_columns(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> None:
        return

    def check_can_create_view_with_select_from_columns(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> None:
        return

    def check_can_set_role(self, identity: Identity, catalog: str, role: str) -> None:
        return

    def check_can_show_roles(self, identity: Identity, catalog: str) -> None:
        return


class DefaultAccessControl(ReadOnlyAccessControl):
    """Everyone may do everything but become another user; what a session has without an access control."""

    def check_can_kill_query_owned_by(self, identity: Identity, owner: str) -> None:
        return

    def check_can_create_schema(self, identity: Identity, catalog: str, schema: str) -> None:
        return

    def check_can_drop_schema(self, identity: Identity, catalog: str, schema: str) -> None:
        return

    def check_can_set_schema_properties(self, identity: Identity, catalog: str, schema: str) -> None:
        return

    def check_can_create_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        return

    def check_can_drop_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        return

    def check_can_rename_table(
        self, identity: Identity, table: CatalogSchemaTableName, new_name: CatalogSchemaTableName
    ) -> None:
        return

    def check_can_set_table_properties(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        return

    def check_can_set_column_comment(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        return

    def check_can_insert_into_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        return

    def check_can_delete_from_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        return

    def check_can_truncate_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        return

    def check_can_update_table_columns(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        return

    def check_can_execute_procedure(self, identity: Identity, procedure: CatalogSchemaTableName) -> None:
        return

    def check_can_grant_table_privilege(
        self, identity: Identity, privilege: Privilege, table: CatalogSchemaTableName, grantee: Principal
    ) -> None:
        return

    def check_can_revoke_table_privilege(
        self, identity: Identity, privilege: Privilege, table: CatalogSchemaTableName, grantee: Principal
    ) -> None:
        return

    def check_can_create_role(self, identity: Identity, catalog: str, role: str) -> None:
        return

    def check_can_drop_role(self, identity: Identity, catalog: str, role: str) -> None:
        return

    def check_can_grant_roles(
        self, identity: Identity, catalog: str, roles: Collection[str], grantees: Collection[Principal]
    ) -> None:
        return

    def check_can_revoke_roles(
        self, identity: Identity, catalog: str, roles: Collection[str], grantees: Collection[Principal]
    ) -> None:
        return


class AllowAllAccessControl(DefaultAccessControl):
    """Everyone may do everything."""

    def check_can_impersonate_user(self, identity: Identity, user: str) -> None:
        return
