"""What a kind of metastore brings: a factory, found by its name in ``hive.metastore``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from catalog.metastore.cache.invalidating_writer import invalidating_writer
from catalog.metastore.cache.registry import flush_caches
from catalog.metastore.calls.statistics import CallStatistics
from catalog.metastore.client import MetastoreClient, MetastoreWriter, TransactionClient
from catalog.metastore.grants import GrantClient
from catalog.metastore.wrappers.impersonation import PerUser
from catalog.metastore.wrappers.no_transactions import NoTransactions
from catalog.metastore.wrappers.read_only import ReadOnlyWriter, read_only_catalog, read_only_metastore
from connector_spi.properties import PropertyMetadata, PropertyValues

__all__ = ["Metastore", "MetastoreClients", "MetastoreFactory", "assemble"]


@dataclass(frozen=True, slots=True)
class MetastoreClients:
    """What a factory makes. Only ``reads`` and ``description`` are needed.

    Attributes:
        reads: Databases, tables, partitions, statistics.
        description: The kind and where it is, for people, such as ``thrift at thrift://host:9083``; no secret.
        writes: Changes of them; ``None`` where the metastore, or this client, only reads.
        transactions: Transactions, write ids, locks; ``None`` where it has none: transactional tables are refused.
        calls: Counts every call that goes to the metastore.
        addresses: Where it is. Catalogs that have one in common are over one metastore, and forget together.
        check: Raises ConnectorError where the metastore cannot be used although calls answer; changes nothing.
        for_user: The same for each user, where the metastore is asked as the user of a query.
        grants: Privileges and roles; ``None`` where it keeps none.
    """

    reads: MetastoreClient
    description: str
    writes: MetastoreWriter | None = None
    transactions: TransactionClient | None = None
    calls: CallStatistics = field(default_factory=CallStatistics)
    addresses: frozenset[str] = frozenset()
    check: Callable[[], None] | None = None
    for_user: Callable[[str], MetastoreClients] | None = None
    grants: GrantClient | None = None


class MetastoreFactory(ABC):
    """Makes the clients of one kind of metastore.

    An entry point of the group ``lakeport.metastores`` names it: a class with no arguments, or an instance.

    Attributes:
        spi_version: As ``connector_spi.ConnectorFactory.spi_version``; each plugin has one.
    """

    spi_version: ClassVar[int]

    @property
    @abstractmethod
    def name(self) -> str:
        """What ``hive.metastore`` says in a catalog file."""

    @property
    def properties(self) -> Sequence[PropertyMetadata[object]]:
        """Properties that a catalog file of this kind may hold; no other kind has one of these names."""
        return ()

    @abstractmethod
    def create(self, config: PropertyValues) -> MetastoreClients:
        """Makes the clients; connects to nothing before the first call.

        Args:
            config: All properties of the catalog; a value is read by its descriptor.

        Raises:
            InvalidPropertyError: The properties lack what this kind needs, or do not fit together.
        """


@dataclass(frozen=True, slots=True)
class Metastore:
    """The three sides of one metastore.

    Attributes:
        reads: Databases, tables, partitions, statistics. Not cached: each transaction wraps a ``CachingMetastore``
            around it.
        writes: For registering tables. With each write, what the catalogs of this process keep is forgotten.
        transactions: Transactions, write ids, locks.
        calls: Counts every call that went to the metastore.
        users: The metastore of each user, where users are impersonated.
        addresses: Where it is. Those of two catalogs that have one in common are over one metastore.
        description: The kind and where it is, for people; no secret.
        check: Raises ConnectorError where the metastore cannot be used although calls answer.
        grants: Privileges and roles; ``None`` where it keeps none. Whoever changes them asks ``writes`` before.
    """

    reads: MetastoreClient
    writes: MetastoreWriter
    transactions: TransactionClient
    calls: CallStatistics
    users: PerUser[Metastore] | None = None
    addresses: frozenset[str] = frozenset()
    description: str = ""
    check: Callable[[], None] | None = None
    grants: GrantClient | None = None

    def as_user(self, user: str) -> Metastore:
        """The same metastore as a query's user meets it; this one unless users are impersonated.

        Args:
            user: Who asks.
        """
        return self if self.users is None else self.users.of(user)

    def close(self) -> None:
        """Releases the connections of all three, and those of all users."""
        self.reads.close()
        if self.users is not None:
            self.users.close()


def assemble(clients: MetastoreClients, *, read_only: bool = False) -> Metastore:
    """A metastore of what a factory made.

    Args:
        clients: The factory's.
        read_only: Whether every write is refused.
    """
    for_user = clients.for_user
    users = None if for_user is None else PerUser(lambda user: assemble(for_user(user), read_only=read_only))
    return Metastore(
        reads=clients.reads,
        writes=_allowed(clients, read_only),
        transactions=clients.transactions or NoTransactions(clients.description),
        calls=clients.calls,
        users=users,
        addresses=clients.addresses,
        description=clients.description,
        check=clients.check,
        grants=clients.grants,
    )


def _allowed(clients: MetastoreClients, read_only: bool) -> MetastoreWriter:
    if clients.writes is None:
        return ReadOnlyWriter(read_only_metastore(clients.description))
    if read_only:
        return ReadOnlyWriter(read_only_catalog(), deletes_files=clients.writes.deletes_files)
    return invalidating_writer(clients.writes, partial(flush_caches, clients.addresses))
