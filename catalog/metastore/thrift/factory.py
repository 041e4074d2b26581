"""``hive.metastore=thrift``: a Hive metastore server, and whatever else speaks its protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog.metastore.calls.retry import RetryPolicy
from catalog.metastore.factory import Metastore, MetastoreClients, MetastoreFactory, assemble
from catalog.metastore.process_user import process_user
from catalog.metastore.security.checks import check_security
from catalog.metastore.security.identity import identity_of
from catalog.metastore.security.properties import SECURITY_PROPERTIES, security_settings
from catalog.metastore.security.settings import SecuritySettings
from catalog.metastore.thrift.connections.endpoints import parse_uris
from catalog.metastore.wrappers.availability import AVAILABILITY_PROPERTIES, Availability, availability_of
from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import (
    PropertyMetadata,
    PropertyValues,
    boolean_property,
    duration_property,
    integer_property,
    string_property,
)

if TYPE_CHECKING:
    from catalog.metastore.thrift.connections.connection import ConnectionSettings

__all__ = ["ThriftConfig", "ThriftMetastoreFactory", "connect_thrift", "thrift_config"]


@dataclass(frozen=True, slots=True)
class ThriftConfig:
    """How to reach a Thrift metastore.

    Attributes:
        uri: Addresses, joined by commas (``hive.metastore.uri``).
        connect_timeout: Seconds to wait for a connection to one address.
        read_timeout: Seconds of silence after which a call fails.
        max_retries: Most repetitions of a read that lost its connection.
        username: The user that the metastore sees; empty for the user of this process.
        availability: Waits, repetitions, connections, addresses, and the metastore's catalog.
        security: How connections are secured, and the user that they are made as.
        canonical_keys: The values of integral partition keys and dates are all written as Hive writes them.
    """

    uri: str = ""
    connect_timeout: float = 10.0
    read_timeout: float = 60.0
    max_retries: int = 3
    username: str = ""
    availability: Availability = field(default_factory=Availability)
    security: SecuritySettings = field(default_factory=SecuritySettings)
    canonical_keys: bool = False


_DEFAULTS = ThriftConfig()
_CLIENT = "hive.metastore.thrift.client."
_URI = string_property(
    "hive.metastore.uri", "Addresses of a Thrift metastore, such as thrift://host:9083[,thrift://...]."
)
_CONNECT_TIMEOUT = duration_property(
    f"{_CLIENT}connect-timeout", "Wait for a connection to one address.", _DEFAULTS.connect_timeout, minimum=0.001
)
_READ_TIMEOUT = duration_property(
    f"{_CLIENT}read-timeout", "Silence after which a call fails.", _DEFAULTS.read_timeout, minimum=0.001
)
_MAX_RETRIES = integer_property(
    f"{_CLIENT}max-retries", "Most repetitions of a read that lost its connection.", _DEFAULTS.max_retries, minimum=0
)
_USERNAME = string_property(
    "hive.metastore.username", "User that the metastore sees; the user of this process if not set."
)
_CANONICAL_KEYS = boolean_property(
    "hive.metastore.thrift.assume-canonical-partition-keys",
    "Whether values of integral partition keys and dates are all written as Hive does (no 007, no 2024-1-1), so "
    "that the metastore may look for them.",
    False,
)


class ThriftMetastoreFactory(MetastoreFactory):
    """``hive.metastore=thrift``."""

    @property
    def name(self) -> str:
        return "thrift"

    @property
    def properties(self) -> Sequence[PropertyMetadata[object]]:
        return (
            _URI,
            _CONNECT_TIMEOUT,
            _READ_TIMEOUT,
            _MAX_RETRIES,
            *AVAILABILITY_PROPERTIES,
            _USERNAME,
            _CANONICAL_KEYS,
            *SECURITY_PROPERTIES,
        )

    def create(self, config: PropertyValues) -> MetastoreClients:
        return _clients(thrift_config(config))


def thrift_config(config: PropertyValues) -> ThriftConfig:
    """Takes the settings of a Thrift metastore out of a catalog's properties."""
    return ThriftConfig(
        uri=config.get(_URI) or "",
        connect_timeout=config.get(_CONNECT_TIMEOUT),
        read_timeout=config.get(_READ_TIMEOUT),
        max_retries=config.get(_MAX_RETRIES),
        username=config.get(_USERNAME) or "",
        availability=availability_of(config),
        security=security_settings(config),
        canonical_keys=config.get(_CANONICAL_KEYS),
    )


def connect_thrift(config: ThriftConfig) -> Metastore:
    """A Thrift metastore with no catalog's properties around it. Nothing is connected before the first call.

    Raises:
        InvalidPropertyError: There is no address, one cannot be read, or the settings do not fit together.
    """
    return assemble(_clients(config))


def _clients(config: ThriftConfig) -> MetastoreClients:
    if not config.uri:
        raise InvalidPropertyError("hive.metastore=thrift needs hive.metastore.uri, such as thrift://host:9083")
    # Thrift's bindings take a tenth of a second to import, and catalogs of other metastores need none.
    from catalog.metastore.thrift.client import ThriftMetastore
    from catalog.metastore.thrift.connections.connection import ThriftConnections
    from catalog.metastore.thrift.grants import ThriftGrants
    from catalog.metastore.thrift.tokens import user_identities
    from catalog.metastore.thrift.transactions import ThriftTransactions
    from catalog.metastore.thrift.writer import ThriftMetastoreWriter

    endpoints, settings, security = parse_uris(config.uri), _connection_settings(config), config.security
    check_security(security, endpoints)
    username = config.username or process_user()
    own = ThriftConnections(endpoints, settings, identity_of(security, username), security)
    addresses = frozenset(str(endpoint).lower() for endpoint in endpoints)

    def over(connections: ThriftConnections, user: str) -> MetastoreClients:
        reads = ThriftMetastore(connections, canonical_keys=config.canonical_keys)
        return MetastoreClients(
            reads,
            description=f"thrift at {config.uri}",
            writes=ThriftMetastoreWriter(connections, reads, user),
            transactions=ThriftTransactions(connections),
            calls=connections.statistics,
            addresses=addresses,
            for_user=for_user if security.impersonation else None,
            grants=ThriftGrants(connections),
        )

    identities = user_identities(security, own)

    def for_user(user: str) -> MetastoreClients:
        connections = ThriftConnections(endpoints, settings, identities(user), security, own.statistics)
        return over(connections, user)

    return over(own, username)


def _connection_settings(config: ThriftConfig) -> ConnectionSettings:
    from catalog.metastore.thrift.connections.connection import ConnectionSettings
    from catalog.metastore.thrift.errors import Timeouts

    wanted = config.availability
    return ConnectionSettings(
        timeouts=Timeouts(config.connect_timeout, config.read_timeout, wanted.max_wait),
        retries=RetryPolicy(config.max_retries, wanted.min_backoff, wanted.max_backoff),
        max_connections=wanted.max_connections,
        selection=wanted.selection,
        max_message_size=wanted.max_message_size,
        catalog=wanted.catalog,
    )
