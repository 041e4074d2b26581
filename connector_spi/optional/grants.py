"""Privileges on tables, and roles: what ``GRANT``, ``REVOKE``, ``CREATE ROLE`` and their likes do. Driver side."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol, runtime_checkable

from connector_spi.names import SchemaTableName
from connector_spi.security.grants import Principal, Privilege, PrivilegeGrant, RoleGrant
from connector_spi.session import ConnectorSession

__all__ = ["SupportsGrants"]


@runtime_checkable
class SupportsGrants(Protocol):
    """Metadata that keeps grants. What the caller may do of it says the access control, not this."""

    def grant_table_privileges(
        self,
        session: ConnectorSession,
        table: SchemaTableName,
        privileges: Collection[Privilege],
        grantee: Principal,
        grant_option: bool,
    ) -> None:
        """Gives privileges; what the grantee has already stays.

        Raises:
            TableNotFoundError: There is no such table.
            NotSupportedError: The grantee has one without the grant option that is asked for.
        """

    def revoke_table_privileges(
        self,
        session: ConnectorSession,
        table: SchemaTableName,
        privileges: Collection[Privilege],
        grantee: Principal,
        grant_option: bool,
    ) -> None:
        """Takes privileges back, or with ``grant_option`` the right to grant them alone; those that are not there pass.

        Raises:
            TableNotFoundError: There is no such table.
        """

    def list_table_privileges(
        self, session: ConnectorSession, tables: Sequence[SchemaTableName]
    ) -> Sequence[PrivilegeGrant]:
        """The privileges on tables that the caller may know of, in no order; none of a table that is missing."""

    def create_role(self, session: ConnectorSession, role: str) -> None:
        """Makes a role.

        Raises:
            UserError: There is one of this name, or it means something else.
        """

    def drop_role(self, session: ConnectorSession, role: str) -> None:
        """Drops a role with all that was granted to it.

        Raises:
            UserError: There is none.
        """

    def list_roles(self, session: ConnectorSession) -> Sequence[str]:
        """All roles, sorted."""

    def grant_roles(
        self, session: ConnectorSession, roles: Collection[str], grantees: Collection[Principal], admin_option: bool
    ) -> None:
        """Gives roles.

        Raises:
            UserError: There is no such role, or it would have itself.
        """

    def revoke_roles(
        self, session: ConnectorSession, roles: Collection[str], grantees: Collection[Principal], admin_option: bool
    ) -> None:
        """Takes roles back, or with ``admin_option`` the right to grant them alone; those that are not there pass.

        Raises:
            UserError: There is no such role.
        """

    def list_role_grants(self, session: ConnectorSession) -> Sequence[RoleGrant]:
        """The roles that the caller has, not those within these."""

    def list_enabled_roles(self, session: ConnectorSession) -> Sequence[str]:
        """The roles that count in the session, those within these included, sorted."""

    def check_role(self, session: ConnectorSession, role: str) -> None:
        """Checks that the caller may select a role.

        Raises:
            AccessDeniedError: It is none of the caller's.
        """
