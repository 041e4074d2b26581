"""A cache of the users' delegation tokens, which renews them."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from catalog.metastore.security.tokens import DelegationToken, decode_token
from connector_spi.errors import MetastoreError

__all__ = ["TokenCache"]


class TokenCache:
    """Returns each user's token; an old one is renewed, or fetched again if the metastore does not renew it.

    Args:
        fetch: Gets a user's token from the metastore, as text.
        renew: Renews a token at the metastore.
        ttl: Seconds after which a token is renewed.
        max_size: Most users; the least recently used is evicted.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        fetch: Callable[[str], str],
        renew: Callable[[str], object],
        ttl: float,
        max_size: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch = fetch
        self._renew = renew
        self._ttl = ttl
        self._max_size = max_size
        self._clock = clock
        self._lock = Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._of_user: dict[str, Lock] = {}

    def token(self, user: str) -> DelegationToken:
        """A user's token; concurrent threads of one user share one call to the metastore.

        Raises:
            MetastoreError: The metastore returned no token.
            AuthenticationError: The returned text is not a token.
        """
        with self._lock:
            one_user = self._of_user.setdefault(user, Lock())
        with one_user:
            kept = self._fresh(user)
            if kept is None:
                kept = self._next(user)
                self._keep(user, kept)
        return kept.token

    def forget(self, user: str) -> None:
        """Drops a user's token, which the metastore no longer accepts."""
        with self._lock:
            self._kept.pop(user, None)

    def _fresh(self, user: str) -> _Kept | None:
        with self._lock:
            kept = self._kept.get(user)
            if kept is None or self._clock() - kept.since >= self._ttl:
                return None
            self._kept.move_to_end(user)
            return kept

    def _next(self, user: str) -> _Kept:
        with self._lock:
            old = self._kept.get(user)
        if old is not None:
            try:
                self._renew(old.text)
                return _Kept(old.text, old.token, self._clock())
            except MetastoreError:
                # It has reached its maximum lifetime, or the metastore was restarted.
                pass
        text = self._fetch(user)
        return _Kept(text, decode_token(text), self._clock())

    def _keep(self, user: str, kept: _Kept) -> None:
        with self._lock:
            self._kept[user] = kept
            self._kept.move_to_end(user)
            while len(self._kept) > self._max_size:
                gone, _ = self._kept.popitem(last=False)
                self._of_user.pop(gone, None)


@dataclass(frozen=True, slots=True, repr=False)
class _Kept:
    text: str
    token: DelegationToken
    since: float
