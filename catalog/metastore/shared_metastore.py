"""A catalog's metastore with what all its statements share: answers that are kept, and a history of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from weakref import WeakSet

import pyarrow as pa

from catalog.metastore.cache_policy import CachePolicy
from catalog.metastore.call_statistics import CallHistory
from catalog.metastore.calls_table import MetastoreCallsTable
from catalog.metastore.client import MetastoreClient
from catalog.metastore.factory import Metastore
from catalog.metastore.flush_procedure import flush_procedure
from catalog.metastore.invalidating_writer import invalidating_writer
from catalog.metastore.shared_cache import SharedMetastoreCache
from connector_spi.predicate import Value
from connector_spi.procedures import Procedure
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable

__all__ = ["SharedMetastore"]

_caches: dict[str, WeakSet[SharedMetastoreCache]] = {}
"""What the catalogs of this process keep, by the place of their metastore."""


class SharedMetastore:
    """What a connector holds of its metastore.

    Args:
        metastore: The metastore; closed with this.
        policy: What is kept across transactions.

    Attributes:
        metastore: The metastore; its reads are never old, with each of its writes all that is kept is forgotten.
        reads: What transactions read, each through a ``CachingMetastore`` of its own; may be as old as the policy says.
        history: What the last statements called.
    """

    def __init__(self, metastore: Metastore, policy: CachePolicy) -> None:
        self.reads = SharedMetastoreCache(metastore.reads, policy)
        _caches.setdefault(metastore.place, WeakSet()).add(self.reads)
        self.metastore = replace(metastore, writes=invalidating_writer(metastore.writes, self.reads))
        self.history = CallHistory()

    def reads_of(self, user: str) -> MetastoreClient:
        """What a user's transactions read; where users are impersonated, nothing is kept across transactions."""
        return self.reads if self.metastore.users is None else self.metastore.as_user(user).reads

    def per_user(self, make: Callable[[Metastore], Sequence[Procedure]]) -> Sequence[Procedure]:
        """Procedures over the metastore, which their caller's own identity reaches where users are impersonated.

        Args:
            make: Makes the procedures, always the same ones, over a metastore.
        """
        own = make(self.metastore)
        if self.metastore.users is None:
            return own

        def run(position: int, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
            procedure = make(self.metastore.as_user(session.user))[position]
            return procedure.function(session, arguments)

        return tuple(replace(one, function=partial(run, position)) for position, one in enumerate(own))

    def procedures(self) -> Sequence[Procedure]:
        """Procedures about what is shared."""
        return (flush_procedure(self._flush),)

    def system_tables(self) -> Sequence[SystemTable]:
        """Tables about what is shared."""
        return (MetastoreCallsTable(self.history),)

    def _flush(self, database: str | None, table: str | None, partition: str | None) -> int:
        """Has all catalogs over the metastore forget: a table of one may be read through another."""
        place = self.metastore.place
        caches = [self.reads, *(one for one in _caches[place] if place and one is not self.reads)]
        return sum(cache.flush(database, table, partition) for cache in caches)

    def close(self) -> None:
        """Gives the connections back."""
        self.reads.close()
        self.metastore.close()
