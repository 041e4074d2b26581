"""Who asks."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Identity"]


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks. It stays on the driver, since credentials may be in it.

    Attributes:
        user: Name.
        groups: The groups that the user is in.
        roles: The roles that the user has enabled.
        extra_credentials: What the user gives along for storage and metastores, by name; never shown.
    """

    user: str
    groups: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    extra_credentials: tuple[tuple[str, str], ...] = field(default=(), repr=False)
