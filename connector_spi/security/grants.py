"""Roles and privileges, as SQL grants them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from connector_spi.names import SchemaTableName

__all__ = ["ALL_ROLES", "NO_ROLES", "Principal", "PrincipalKind", "Privilege", "PrivilegeGrant", "RoleGrant"]

ALL_ROLES = "all"
"""The role that ``SET ROLE ALL`` selects: all that the user has; whether ``admin`` is one says the connector."""
NO_ROLES = "none"
"""The role that ``SET ROLE NONE`` selects."""


class PrincipalKind(StrEnum):
    """Kinds of those whom something is granted to; equal to their words in SQL."""

    USER = "USER"
    ROLE = "ROLE"


class Privilege(StrEnum):
    """What may be done with a table; equal to their words in SQL."""

    SELECT = "SELECT"
    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    OWNERSHIP = "OWNERSHIP"


@dataclass(frozen=True, slots=True, order=True)
class Principal:
    """Whom something is granted to. Names of users are as they are written, those of roles in lower case."""

    kind: PrincipalKind
    name: str

    @classmethod
    def user(cls, name: str) -> Principal:
        """A user."""
        return cls(PrincipalKind.USER, name)

    @classmethod
    def role(cls, name: str) -> Principal:
        """A role, of which letters have no case."""
        return cls(PrincipalKind.ROLE, name.lower())

    def __str__(self) -> str:
        return f"{self.kind.lower()} {self.name}"


@dataclass(frozen=True, slots=True)
class PrivilegeGrant:
    """A privilege that someone has on a table.

    Attributes:
        table: The table.
        privilege: What may be done.
        grantee: Who may.
        grantor: Who has granted it; ``None`` where that is not known.
        grant_option: The grantee may grant it to others.
    """

    table: SchemaTableName
    privilege: Privilege
    grantee: Principal
    grantor: Principal | None = None
    grant_option: bool = False


@dataclass(frozen=True, slots=True)
class RoleGrant:
    """A role that someone has.

    Attributes:
        role: The role.
        grantee: Who has it.
        admin_option: The grantee may grant it to others.
    """

    role: str
    grantee: Principal
    admin_option: bool = False
