"""Who asks."""

from __future__ import annotations

from dataclasses import dataclass, field

from connector_spi.security.grants import ALL_ROLES

__all__ = ["Identity"]


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks. It stays on the driver, since credentials may be in it.

    Attributes:
        user: Name.
        groups: The groups that the user is in.
        roles: The roles that the user has enabled in the whole system.
        extra_credentials: What the user gives along for storage and metastores, by name; never shown.
        catalog_role: What ``SET ROLE`` has selected in the catalog that is asked: ``all``, ``none``, or the name of
            a role. Whether the user has that role is not checked yet.
        for_others: The user owns a view through which another one reads; what is read has to be the owner's to pass on.
    """

    user: str
    groups: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    extra_credentials: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    catalog_role: str = ALL_ROLES
    for_others: bool = False
