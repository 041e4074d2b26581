"""Grants as a metastore keeps them: a contract beside those of reads, writes and transactions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from connector_spi.names import SchemaTableName
from connector_spi.security import Principal, Privilege, PrivilegeGrant, RoleGrant

__all__ = ["ADMIN", "OWNERS_PRIVILEGES", "PUBLIC", "GrantClient"]

ADMIN = "admin"
"""The role that may do everything, once it is selected. Each metastore has it."""
PUBLIC = "public"
"""The role of everyone. Each metastore has it."""

OWNERS_PRIVILEGES = (Privilege.SELECT, Privilege.INSERT, Privilege.UPDATE, Privilege.DELETE)
"""What the maker of a table is granted on it, with the grant option."""


class GrantClient(ABC):
    """Privileges and roles of one metastore. Errors and threads are those of ``MetastoreClient``.

    It keeps and does not judge: what someone may grant says the access control.
    """

    @abstractmethod
    def list_table_privileges(self, table: SchemaTableName, grantee: Principal | None = None) -> list[PrivilegeGrant]:
        """The privileges on a table that were granted, in no order; none of one that is missing.

        That its owner owns it is no such grant, and neither is what a role has a share of the grantee's.

        Args:
            table: The table or view.
            grantee: Whose; ``None`` is everyone's.
        """

    @abstractmethod
    def grant_table_privileges(self, grants: Sequence[PrivilegeGrant]) -> None:
        """Grants privileges that the grantees do not have yet, on tables that are there; others may pass."""

    @abstractmethod
    def revoke_table_privileges(self, grants: Sequence[PrivilegeGrant], *, grant_option: bool) -> None:
        """Takes back privileges that ``list_table_privileges`` gave.

        Args:
            grants: What is taken back.
            grant_option: The right to grant them alone, which all of them have.
        """

    @abstractmethod
    def list_roles(self) -> list[str]:
        """All roles, ``admin`` and ``public`` among them, sorted."""

    @abstractmethod
    def create_role(self, role: str, owner: str) -> None:
        """Makes a role.

        Raises:
            MetastoreError: There is one of this name.
        """

    @abstractmethod
    def drop_role(self, role: str) -> None:
        """Drops a role with all grants of it and to it; one that is missing may pass."""

    @abstractmethod
    def list_role_grants(self, grantee: Principal) -> list[RoleGrant]:
        """The roles that were granted to someone, not those within these, and not ``public``, which all users have."""

    @abstractmethod
    def list_role_members(self, role: str) -> list[RoleGrant]:
        """To whom a role was granted; none of one that is missing."""

    @abstractmethod
    def grant_role(self, grant: RoleGrant, grantor: Principal) -> None:
        """Grants a role to who does not have it yet.

        Raises:
            MetastoreError: There is no such role, the grantee has it, or the grantee is within it.
        """

    @abstractmethod
    def revoke_role(self, grant: RoleGrant, *, admin_option: bool) -> None:
        """Takes back a role that ``list_role_grants`` gave.

        Args:
            grant: What is taken back.
            admin_option: The right to grant it alone, which the grant has.
        """
