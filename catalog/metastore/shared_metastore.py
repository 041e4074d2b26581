"""A catalog's metastore with what all its statements share: answers that are kept, and a history of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from catalog.metastore.cache.caches_table import CacheRow, CachesTable
from catalog.metastore.cache.flush_procedure import flush_procedure
from catalog.metastore.cache.policy import CachePolicy
from catalog.metastore.cache.registry import flush_caches, register_cache
from catalog.metastore.cache.shared_cache import SharedMetastoreCache
from catalog.metastore.calls.statistics import CallHistory
from catalog.metastore.calls.table import MetastoreCallsTable
from catalog.metastore.client import MetastoreClient
from catalog.metastore.factory import Metastore
from connector_spi.optional.procedures import Procedure
from connector_spi.predicate import Value
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable

__all__ = ["SharedMetastore"]


class SharedMetastore:
    """What a connector holds of its metastore.

    Args:
        metastore: The metastore; closed with this.
        policy: What is kept across transactions.

    Attributes:
        metastore: The metastore; its reads are never old, and with each of its writes all that the catalogs of this
            process keep of it is forgotten.
        reads: What transactions read, each through a ``CachingMetastore`` of its own; may be as old as the policy says.
        history: What the last statements called.
    """

    def __init__(self, metastore: Metastore, policy: CachePolicy) -> None:
        self.reads = SharedMetastoreCache(metastore.reads, policy)
        register_cache(self.reads, metastore.addresses)
        self.metastore = metastore
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

    def procedures(
        self, flush: Callable[[str | None, str | None], int] = lambda schema, table: 0
    ) -> Sequence[Procedure]:
        """Procedures about what is shared.

        Args:
            flush: Drops what the connector itself keeps of a schema and a table, each or all; gives how many answers.
        """

        def flush_all(schema: str | None, table: str | None, partition: str | None) -> int:
            # Before the metastore's answers: they say where a table is.
            own = flush(schema, table)
            # A table of one catalog may be read through another.
            return own + flush_caches(self.metastore.addresses, schema, table, partition)

        return (flush_procedure(flush_all),)

    def system_tables(self, caches: Callable[[], Iterable[CacheRow]] = lambda: ()) -> Sequence[SystemTable]:
        """Tables about what is shared.

        Args:
            caches: What the connector itself keeps, for ``system.caches``.
        """
        return (MetastoreCallsTable(self.history), CachesTable(lambda: (self.reads.cache_row(), *caches())))

    def describe(self) -> Mapping[str, str]:
        """The kind of metastore and where it is, for ``lakeport catalogs check``.

        Raises:
            ConnectorError: It is known to be unusable, such as a file that is missing.
        """
        if self.metastore.check is not None:
            self.metastore.check()
        return {"metastore": self.metastore.description}

    def close(self) -> None:
        """Releases the connections."""
        self.reads.close()
        self.metastore.close()
