"""Which roles count: those within others, ``public`` of everyone, and ``admin`` where it was selected by its name.

The rules are those of Trino's ``ThriftMetastoreUtil`` (``listApplicableRoles``, ``listEnabledRoles``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from catalog.metastore.grants import ADMIN, PUBLIC
from connector_spi.security import ALL_ROLES, NO_ROLES, Identity, Principal, RoleGrant

__all__ = ["applicable_roles", "enabled_principals", "enabled_roles", "is_applicable"]

RolesOf = Callable[[Principal], Sequence[RoleGrant]]


def applicable_roles(principal: Principal, roles_of: RolesOf) -> list[RoleGrant]:
    """All roles that someone has, those within these included, each grant once.

    Args:
        principal: Whose.
        roles_of: Gives the roles that were granted to someone.
    """
    found: dict[RoleGrant, None] = {}
    waiting = [principal]
    while waiting:
        for grant in roles_of(waiting.pop(0)):
            if grant not in found:
                found[grant] = None
                waiting.append(Principal.role(grant.role))
    return list(found)


def is_applicable(identity: Identity, role: str, roles_of: RolesOf) -> bool:
    """Whether a user has a role, selected or not."""
    if role == PUBLIC:
        return True
    return any(grant.role == role for grant in applicable_roles(Principal.user(identity.user), roles_of))


def enabled_roles(identity: Identity, roles_of: RolesOf) -> frozenset[str]:
    """The roles that count for a user, as selected: ``admin`` only where it was selected by its name.

    It is not asked whether a role that is selected by its name is one of the user's.
    """
    selected = identity.catalog_role.lower()
    if selected == NO_ROLES:
        return frozenset({PUBLIC})
    if selected == ALL_ROLES:
        within = applicable_roles(Principal.user(identity.user), roles_of)
        return frozenset({PUBLIC, *(grant.role for grant in within if grant.role != ADMIN)})
    within = applicable_roles(Principal.role(selected), roles_of)
    return frozenset({PUBLIC, selected, *(grant.role for grant in within if grant.role != ADMIN)})


def enabled_principals(identity: Identity, roles_of: RolesOf) -> frozenset[Principal]:
    """Those whose privileges a user has: the user, and the roles that count."""
    roles = enabled_roles(identity, roles_of)
    return frozenset({Principal.user(identity.user), *map(Principal.role, roles)})
