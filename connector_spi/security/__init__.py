"""Who asks, and what they may do: identities, groups, access controls, row filters and column masks."""

from connector_spi.security.connector_access_control import ConnectorAccessControl
from connector_spi.security.grants import (
    ALL_ROLES,
    NO_ROLES,
    Principal,
    PrincipalKind,
    Privilege,
    PrivilegeGrant,
    RoleGrant,
)
from connector_spi.security.group_provider import GroupProvider
from connector_spi.security.identity import Identity
from connector_spi.security.system_access_control import SystemAccessControl
from connector_spi.security.view_expression import ViewExpression

__all__ = [
    "ALL_ROLES",
    "NO_ROLES",
    "ConnectorAccessControl",
    "GroupProvider",
    "Identity",
    "Principal",
    "PrincipalKind",
    "Privilege",
    "PrivilegeGrant",
    "RoleGrant",
    "SystemAccessControl",
    "ViewExpression",
]
