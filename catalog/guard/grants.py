"""Metadata that shows and does what an identity may: privileges and roles. Driver side."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from catalog.guard.metadata import GuardedMetadata
from connector_spi.names import SchemaTableName
from connector_spi.optional.grants import SupportsGrants
from connector_spi.security import ConnectorAccessControl, Principal, Privilege, PrivilegeGrant, RoleGrant
from connector_spi.session import ConnectorSession

__all__ = ["GuardedGrants"]


class GuardedGrants(GuardedMetadata):
    """Grants behind checks."""

    def grant_table_privileges(
        self,
        session: ConnectorSession,
        table: SchemaTableName,
        privileges: Collection[Privilege],
        grantee: Principal,
        grant_option: bool,
    ) -> None:
        identity, full = session.identity, self.checks.full(table)

        def check(control: ConnectorAccessControl) -> None:
            for one in sorted(privileges):
                control.check_can_grant_table_privilege(identity, one, full, grantee)

        self.checks.check(check)
        self._kept_grants.grant_table_privileges(session, table, privileges, grantee, grant_option)

    def revoke_table_privileges(
        self,
        session: ConnectorSession,
        table: SchemaTableName,
        privileges: Collection[Privilege],
        grantee: Principal,
        grant_option: bool,
    ) -> None:
        identity, full = session.identity, self.checks.full(table)

        def check(control: ConnectorAccessControl) -> None:
            for one in sorted(privileges):
                control.check_can_revoke_table_privilege(identity, one, full, grantee)

        self.checks.check(check)
        self._kept_grants.revoke_table_privileges(session, table, privileges, grantee, grant_option)

    def list_table_privileges(
        self, session: ConnectorSession, tables: Sequence[SchemaTableName]
    ) -> Sequence[PrivilegeGrant]:
        shown = self.checks.tables(session.identity, tables)
        return self._kept_grants.list_table_privileges(session, [one for one in tables if one in shown])

    def create_role(self, session: ConnectorSession, role: str) -> None:
        checks = self.checks
        checks.check(lambda control: control.check_can_create_role(session.identity, checks.catalog, role))
        self._kept_grants.create_role(session, role)

    def drop_role(self, session: ConnectorSession, role: str) -> None:
        checks = self.checks
        checks.check(lambda control: control.check_can_drop_role(session.identity, checks.catalog, role))
        self._kept_grants.drop_role(session, role)

    def list_roles(self, session: ConnectorSession) -> Sequence[str]:
        checks = self.checks
        checks.check(lambda control: control.check_can_show_roles(session.identity, checks.catalog))
        return self._kept_grants.list_roles(session)

    def grant_roles(
        self, session: ConnectorSession, roles: Collection[str], grantees: Collection[Principal], admin_option: bool
    ) -> None:
        checks = self.checks
        checks.check(lambda control: control.check_can_grant_roles(session.identity, checks.catalog, roles, grantees))
        self._kept_grants.grant_roles(session, roles, grantees, admin_option)

    def revoke_roles(
        self, session: ConnectorSession, roles: Collection[str], grantees: Collection[Principal], admin_option: bool
    ) -> None:
        checks = self.checks
        checks.check(lambda control: control.check_can_revoke_roles(session.identity, checks.catalog, roles, grantees))
        self._kept_grants.revoke_roles(session, roles, grantees, admin_option)

    def list_role_grants(self, session: ConnectorSession) -> Sequence[RoleGrant]:
        return self._kept_grants.list_role_grants(session)

    def list_enabled_roles(self, session: ConnectorSession) -> Sequence[str]:
        # One that was selected by a setting alone may be none of the user's.
        self.check_role(session, session.catalog_role)
        return self._kept_grants.list_enabled_roles(session)

    def check_role(self, session: ConnectorSession, role: str) -> None:
        checks = self.checks
        checks.check(lambda control: control.check_can_set_role(session.identity, checks.catalog, role))
        self._kept_grants.check_role(session, role)

    @property
    def _kept_grants(self) -> SupportsGrants:
        return cast(SupportsGrants, self.metadata)
