"""Makes the clients of a metastore."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from catalog.metastore.cache.invalidating_writer import invalidating_writer
from catalog.metastore.cache.registry import flush_caches
from catalog.metastore.calls.retry import RetryPolicy
from catalog.metastore.calls.statistics import CallStatistics
from catalog.metastore.client import MetastoreClient, MetastoreWriter, TransactionClient
from catalog.metastore.embedded.metastore import EmbeddedMetastore, open_store
from catalog.metastore.embedded.transactions import EmbeddedTransactions
from catalog.metastore.process_user import process_user
from catalog.metastore.security.checks import check_security
from catalog.metastore.security.identity import identity_of
from catalog.metastore.security.settings import SecuritySettings
from catalog.metastore.thrift.client import ThriftMetastore
from catalog.metastore.thrift.connection import ConnectionSettings, ThriftConnections
from catalog.metastore.thrift.endpoints import parse_uris
from catalog.metastore.thrift.errors import Timeouts
from catalog.metastore.thrift.tokens import user_identities
from catalog.metastore.thrift.transactions import ThriftTransactions
from catalog.metastore.thrift.writer import ThriftMetastoreWriter
from catalog.metastore.wrappers.availability import Availability
from catalog.metastore.wrappers.impersonation import PerUser
from catalog.metastore.wrappers.read_only import ReadOnlyWriter
from connector_spi.errors import InvalidPropertyError

__all__ = ["Metastore", "MetastoreConfig", "connect"]


@dataclass(frozen=True, slots=True)
class MetastoreConfig:
    """How to reach a metastore.

    Attributes:
        kind: ``thrift`` or ``embedded`` (``hive.metastore``).
        uri: Addresses of a Thrift metastore, joined by commas (``hive.metastore.uri``).
        embedded_path: SQLite file of an embedded one (``hive.metastore.embedded.path``).
        connect_timeout: Seconds to wait for a connection to one address
            (``hive.metastore.thrift.client.connect-timeout``).
        read_timeout: Seconds of silence after which a call fails (``hive.metastore.thrift.client.read-timeout``).
        max_retries: Most repetitions of a read that lost its connection
            (``hive.metastore.thrift.client.max-retries``).
        username: Whom the metastore takes us for; empty for the user of this process (``hive.metastore.username``).
        availability: Waits, repetitions, connections, addresses, and the metastore's catalog.
        security: How connections are secured, and as whom they are made.
        canonical_keys: The values of integral partition keys and dates are all written as Hive writes them
            (``hive.metastore.thrift.assume-canonical-partition-keys``).
        read_only: Every write is refused (``hive.read-only``).
    """

    kind: Literal["thrift", "embedded"] = "thrift"
    uri: str = ""
    embedded_path: str = ""
    connect_timeout: float = 10.0
    read_timeout: float = 60.0
    max_retries: int = 3
    username: str = ""
    availability: Availability = field(default_factory=Availability)
    security: SecuritySettings = field(default_factory=SecuritySettings)
    canonical_keys: bool = False
    read_only: bool = False

    def place(self) -> str:
        """The kind and where it is, for people; no secret."""
        return f"embedded in {self.embedded_path}" if self.kind == "embedded" else f"thrift at {self.uri}"


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
    """

    reads: MetastoreClient
    writes: MetastoreWriter
    transactions: TransactionClient
    calls: CallStatistics
    users: PerUser[Metastore] | None = None
    addresses: frozenset[str] = frozenset()

    def as_user(self, user: str) -> Metastore:
        """The same metastore as a query's user meets it; this one unless users are impersonated.

        Args:
            user: Who asks.
        """
        return self if self.users is None else self.users.of(user)

    def close(self) -> None:
        """Gives the connections of all three back, and those of all users."""
        self.reads.close()
        if self.users is not None:
            self.users.close()


def connect(config: MetastoreConfig) -> Metastore:
    """Makes the clients of a metastore. Nothing is connected before the first call.

    Raises:
        InvalidPropertyError: The configuration lacks what its kind needs, or an address cannot be read.
    """
    if config.kind == "embedded":
        if not config.embedded_path:
            raise InvalidPropertyError("hive.metastore=embedded needs hive.metastore.embedded.path, a SQLite file")
        path = Path(config.embedded_path)
        store, addresses = open_store(path), frozenset({str(path.resolve())})
        embedded = EmbeddedMetastore(store)
        allowed = _allowed(config, embedded, addresses)
        return Metastore(embedded, allowed, EmbeddedTransactions(store), store.statistics, addresses=addresses)
    if not config.uri:
        raise InvalidPropertyError("hive.metastore=thrift needs hive.metastore.uri, such as thrift://host:9083")
    return _connect_thrift(config)


def _allowed(config: MetastoreConfig, writer: MetastoreWriter, addresses: frozenset[str]) -> MetastoreWriter:
    if config.read_only:
        return ReadOnlyWriter(writer)
    return invalidating_writer(writer, partial(flush_caches, addresses))


def _connect_thrift(config: MetastoreConfig) -> Metastore:
    endpoints, settings, security = parse_uris(config.uri), _connection_settings(config), config.security
    check_security(security, endpoints)
    username = config.username or process_user()
    own = ThriftConnections(endpoints, settings, identity_of(security, username), security)
    addresses = frozenset(str(endpoint).lower() for endpoint in endpoints)
    metastore = _over(own, config, username, addresses)
    if not security.impersonation:
        return metastore
    identities = user_identities(security, own)

    def make(user: str) -> Metastore:
        connections = ThriftConnections(endpoints, settings, identities(user), security, own.statistics)
        return _over(connections, config, user, addresses)

    return replace(metastore, users=PerUser(make))


def _over(
    connections: ThriftConnections, config: MetastoreConfig, username: str, addresses: frozenset[str]
) -> Metastore:
    reads = ThriftMetastore(connections, canonical_keys=config.canonical_keys)
    return Metastore(
        reads,
        _allowed(config, ThriftMetastoreWriter(connections, reads, username), addresses),
        ThriftTransactions(connections),
        connections.statistics,
        addresses=addresses,
    )


def _connection_settings(config: MetastoreConfig) -> ConnectionSettings:
    wanted = config.availability
    return ConnectionSettings(
        Timeouts(config.connect_timeout, config.read_timeout, wanted.max_wait),
        RetryPolicy(config.max_retries, wanted.min_backoff, wanted.max_backoff),
        wanted.max_connections,
        wanted.selection,
        wanted.max_message_size,
        wanted.catalog,
    )
