"""The groups of users."""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["GroupProvider"]


class GroupProvider(ABC):
    """Knows the groups of users. Asked once for each statement, by several threads."""

    @abstractmethod
    def get_groups(self, user: str) -> frozenset[str]:
        """Names of the groups that a user is in; none for a user that it does not know."""
