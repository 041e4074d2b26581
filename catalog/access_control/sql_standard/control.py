"""``hive.security=sql-standard``: grants of the metastore, checked as Trino's ``SqlStandardAccessControl`` does."""

from __future__ import annotations

from collections.abc import Collection

from catalog.access_control.sql_standard.known_grants import KnownGrants
from catalog.access_control.sql_standard.roles import applicable_roles, is_applicable
from catalog.metastore.grants import ADMIN
from connector_spi.names import CatalogSchemaTableName
from connector_spi.security import (
    ALL_ROLES,
    NO_ROLES,
    ConnectorAccessControl,
    Identity,
    Principal,
    PrincipalKind,
    Privilege,
)

__all__ = ["SqlStandardAccessControl"]

_EVERYONES_SCHEMA = "default"


class SqlStandardAccessControl(ConnectorAccessControl):
    """What was granted in a metastore.

    Names of schemas and tables are shown to everyone, as in Trino; what a table holds only to whom something was
    granted on it. Stricter than Trino: procedures are the administrator's, and a rename into another schema needs
    that schema, too.

    Args:
        grants: What the metastore knows.
    """

    def __init__(self, grants: KnownGrants) -> None:
        self._grants = grants

    def check_can_set_catalog_session_property(self, identity: Identity, catalog: str, name: str) -> None:
        if not self._is_admin(identity):
            super().check_can_set_catalog_session_property(identity, catalog, name)

    def filter_schemas(self, identity: Identity, catalog: str, schemas: Collection[str]) -> Collection[str]:
        return schemas

    def check_can_create_schema(self, identity: Identity, catalog: str, schema: str) -> None:
        if not self._is_admin(identity):
            super().check_can_create_schema(identity, catalog, schema)

    def check_can_drop_schema(self, identity: Identity, catalog: str, schema: str) -> None:
        if not self._owns_schema(identity, schema):
            super().check_can_drop_schema(identity, catalog, schema)

    def check_can_set_schema_properties(self, identity: Identity, catalog: str, schema: str) -> None:
        if not self._owns_schema(identity, schema):
            super().check_can_set_schema_properties(identity, catalog, schema)

    def check_can_show_create_schema(self, identity: Identity, catalog: str, schema: str) -> None:
        if not self._owns_schema(identity, schema):
            super().check_can_show_create_schema(identity, catalog, schema)

    def filter_tables(
        self, identity: Identity, catalog: str, tables: Collection[CatalogSchemaTableName]
    ) -> Collection[CatalogSchemaTableName]:
        return tables

    def check_can_show_columns(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        # Names are everyone's to know, and so is that there is none: else no one could make a table.
        if not self._may(identity, table, None) and not self._grants.is_missing(identity, table.schema_table):
            super().check_can_show_columns(identity, table)

    def filter_columns(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> Collection[str]:
        return columns if self._may(identity, table, None) else ()

    def check_can_show_create_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        # Hive's own rule, and Trino's after it.
        if not self._may(identity, table, Privilege.SELECT, grant_option=True):
            super().check_can_show_create_table(identity, table)

    def check_can_create_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._owns_schema(identity, table.schema):
            super().check_can_create_table(identity, table)

    def check_can_drop_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._owns(identity, table):
            super().check_can_drop_table(identity, table)

    def check_can_rename_table(
        self, identity: Identity, table: CatalogSchemaTableName, new_name: CatalogSchemaTableName
    ) -> None:
        moves = table.schema != new_name.schema
        if not self._owns(identity, table) or (moves and not self._owns_schema(identity, new_name.schema)):
            super().check_can_rename_table(identity, table, new_name)

    def check_can_set_table_properties(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._owns(identity, table):
            super().check_can_set_table_properties(identity, table)

    def check_can_set_column_comment(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._owns(identity, table):
            super().check_can_set_column_comment(identity, table)

    def check_can_select_from_columns(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> None:
        if not self._may(identity, table, Privilege.SELECT):
            # Privileges are on whole tables, so no column is named.
            super().check_can_select_from_columns(identity, table, ())

    def check_can_insert_into_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._may(identity, table, Privilege.INSERT):
            super().check_can_insert_into_table(identity, table)

    def check_can_delete_from_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._may(identity, table, Privilege.DELETE):
            super().check_can_delete_from_table(identity, table)

    def check_can_truncate_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._may(identity, table, Privilege.DELETE):
            super().check_can_truncate_table(identity, table)

    def check_can_update_table_columns(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._may(identity, table, Privilege.UPDATE):
            super().check_can_update_table_columns(identity, table)

    def check_can_execute_procedure(self, identity: Identity, procedure: CatalogSchemaTableName) -> None:
        if not self._is_admin(identity):
            super().check_can_execute_procedure(identity, procedure)

    def check_can_create_view_with_select_from_columns(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> None:
        self.check_can_select_from_columns(identity, table, columns)
        if not self._may(identity, table, Privilege.SELECT, grant_option=True):
            super().check_can_create_view_with_select_from_columns(identity, table, columns)

    def check_can_grant_table_privilege(
        self, identity: Identity, privilege: Privilege, table: CatalogSchemaTableName, grantee: Principal
    ) -> None:
        if not self._may_grant(identity, privilege, table):
            super().check_can_grant_table_privilege(identity, privilege, table, grantee)

    def check_can_revoke_table_privilege(
        self, identity: Identity, privilege: Privilege, table: CatalogSchemaTableName, grantee: Principal
    ) -> None:
        if not self._may_grant(identity, privilege, table):
            super().check_can_revoke_table_privilege(identity, privilege, table, grantee)

    def check_can_create_role(self, identity: Identity, catalog: str, role: str) -> None:
        if not self._is_admin(identity):
            super().check_can_create_role(identity, catalog, role)

    def check_can_drop_role(self, identity: Identity, catalog: str, role: str) -> None:
        if not self._is_admin(identity):
            super().check_can_drop_role(identity, catalog, role)

    def check_can_grant_roles(
        self, identity: Identity, catalog: str, roles: Collection[str], grantees: Collection[Principal]
    ) -> None:
        if not self._administers(identity, roles):
            super().check_can_grant_roles(identity, catalog, roles, grantees)

    def check_can_revoke_roles(
        self, identity: Identity, catalog: str, roles: Collection[str], grantees: Collection[Principal]
    ) -> None:
        if not self._administers(identity, roles):
            super().check_can_revoke_roles(identity, catalog, roles, grantees)

    def check_can_set_role(self, identity: Identity, catalog: str, role: str) -> None:
        if role not in (ALL_ROLES, NO_ROLES) and not is_applicable(identity, role, self._grants.roles_of(identity)):
            super().check_can_set_role(identity, catalog, role)

    def check_can_show_roles(self, identity: Identity, catalog: str) -> None:
        if not self._is_admin(identity):
            super().check_can_show_roles(identity, catalog)

    def _is_admin(self, identity: Identity) -> bool:
        # The role may be set in other ways than SET ROLE, and taken back since.
        self.check_can_set_role(identity, "", identity.catalog_role)
        return identity.catalog_role == ADMIN

    def _owns_schema(self, identity: Identity, schema: str) -> bool:
        if self._is_admin(identity) or schema == _EVERYONES_SCHEMA:
            return True
        found = self._grants.database(identity, schema)
        if found is None or not found.owner:
            return False
        if found.owner_type == PrincipalKind.ROLE:
            return found.owner.lower() in self._grants.enabled_roles(identity)
        return found.owner_type == PrincipalKind.USER and found.owner == identity.user

    def _owns(self, identity: Identity, table: CatalogSchemaTableName) -> bool:
        return self._may(identity, table, Privilege.OWNERSHIP)

    def _may(
        self,
        identity: Identity,
        table: CatalogSchemaTableName,
        privilege: Privilege | None,
        *,
        grant_option: bool = False,
    ) -> bool:
        """Whether someone whose privileges count has a privilege, or any where none is named."""
        if self._is_admin(identity):
            return True
        having = {
            one.grantee
            for one in self._grants.privileges(identity, table.schema_table)
            if privilege in (None, one.privilege) and (one.grant_option or not grant_option)
        }
        return bool(having) and not having.isdisjoint(self._grants.enabled_principals(identity))

    def _may_grant(self, identity: Identity, privilege: Privilege, table: CatalogSchemaTableName) -> bool:
        if self._owns(identity, table):
            return True
        # As in Trino, also by roles that are not selected.
        within = applicable_roles(Principal.user(identity.user), self._grants.roles_of(identity))
        having = {Principal.user(identity.user), *(Principal.role(grant.role) for grant in within)}
        return any(
            one.grantee in having and one.privilege is privilege and one.grant_option
            for one in self._grants.privileges(identity, table.schema_table)
        )

    def _administers(self, identity: Identity, roles: Collection[str]) -> bool:
        if self._is_admin(identity):
            return True
        within = applicable_roles(Principal.user(identity.user), self._grants.roles_of(identity))
        return set(roles) <= {grant.role for grant in within if grant.admin_option}
