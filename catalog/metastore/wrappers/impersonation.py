"""One metastore asked as many users: each has clients and connections of its own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, Protocol, TypeVar

__all__ = ["MAX_USERS", "PerUser"]

MAX_USERS = 256
"""Most users whose connections are kept."""


class Closable(Protocol):
    """What is made for each user."""

    def close(self) -> None:
        """Releases its connections."""


ClosableT = TypeVar("ClosableT", bound=Closable)


class PerUser(Generic[ClosableT]):
    """What each user has, made at the first use; what was used longest ago is closed for the one too many.

    Args:
        make: Makes a user's.
        max_users: Most that are kept.
    """

    def __init__(self, make: Callable[[str], ClosableT], max_users: int = MAX_USERS) -> None:
        self._make = make
        self._max_users = max_users
        self._lock = Lock()
        self._made: OrderedDict[str, ClosableT] = OrderedDict()

    def of(self, user: str) -> ClosableT:
        """What the user has."""
        with self._lock:
            found = self._made.get(user)
            if found is None:
                found = self._made[user] = self._make(user)
            self._made.move_to_end(user)
            gone = self._made.popitem(last=False)[1] if len(self._made) > self._max_users else None
        if gone is not None:
            gone.close()
        return found

    def close(self) -> None:
        """Releases all connections."""
        with self._lock:
            made, self._made = self._made, OrderedDict()
        for one in made.values():
            one.close()
