"""Calls of a metastore over Thrift: on which connection, how often, for how long, and what they are called there."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.Thrift import TApplicationException

from catalog.metastore._thrift.lakeport_metastore import ThriftHiveMetastore, ttypes
from catalog.metastore.calls.retry import RetryPolicy, call_class
from catalog.metastore.calls.statistics import CallStatistics
from catalog.metastore.security.identity import Identity, UnprovenIdentity
from catalog.metastore.security.settings import SecuritySettings
from catalog.metastore.thrift.catalogs import CatalogClient
from catalog.metastore.thrift.connections.answer import AnswerTransport
from catalog.metastore.thrift.connections.endpoints import ThriftEndpoint
from catalog.metastore.thrift.connections.pool import ConnectionPool, PooledConnection
from catalog.metastore.thrift.connections.retry_state import RetryState
from catalog.metastore.thrift.connections.socket_canceller import SocketCanceller, Watchdog
from catalog.metastore.thrift.connections.transport import open_transport
from catalog.metastore.thrift.convert import ABILITIES
from catalog.metastore.thrift.errors import (
    ANSWERS,
    BROKEN,
    Timeouts,
    is_unknown_call,
    mapped_answers,
)
from connector_spi.errors import ConnectorError, MetastoreError

__all__ = [
    "ABILITIES",
    "ENGINE",
    "IDENTIFIER",
    "ConnectionSettings",
    "NamedCall",
    "ThriftConnections",
]

_LOG = logging.getLogger(__name__)
ResultT = TypeVar("ResultT")
NamedCall = tuple[str, Callable[[ThriftHiveMetastore.Client], ResultT]]
"""Name of a call, for messages and statistics, and what makes it."""

IDENTIFIER = "lakeport"
ENGINE = "hive"
"""Whose statistics Hive 4 gives."""

_LONGEST_STRING = 64 << 20
_MOST_ELEMENTS = 1 << 24


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """How calls are made.

    Attributes:
        timeouts: How long to wait.
        retries: When a call is repeated.
        max_connections: Most connections at once; further threads wait for a free one.
        selection: Whether the first address is tried first, or addresses are tried in a random order.
        max_message_size: Most bytes of one answer.
        catalog: The metastore's catalog (Hive 3 and later); empty for the default one.
    """

    timeouts: Timeouts
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    max_connections: int = 32
    selection: Literal["sequential", "random"] = "sequential"
    max_message_size: int = 256 << 20
    catalog: str = ""


class ThriftConnections:
    """Calls of one metastore that may have several addresses, over a bounded pool of connections.

    A call holds a connection of its own, so many threads may call at once. The address that answered last is tried
    first; the others follow in order. What a server lacks is found out once for each connection, and the next one of
    a call's alternatives is taken from then on.

    Args:
        endpoints: The addresses, best first.
        settings: How calls are made.
        identity: The user that we reach the metastore as.
        security: How connections are secured; not at all if not given.
        statistics: Counts the calls; its own if not given.
    """

    def __init__(
        self,
        endpoints: tuple[ThriftEndpoint, ...],
        settings: ConnectionSettings,
        identity: Identity,
        security: SecuritySettings | None = None,
        statistics: CallStatistics | None = None,
    ) -> None:
        self.statistics = statistics or CallStatistics()
        self._settings = settings
        self._identity = identity
        self._security = security or SecuritySettings()
        order = list(endpoints)
        if settings.selection == "random":
            random.shuffle(order)
        self._pool = ConnectionPool(tuple(order), settings.max_connections)
        self._watchdog = Watchdog()

    def call(
        self,
        method: str,
        request: Callable[[ThriftHiveMetastore.Client], ResultT],
        missing: Callable[[str], ConnectorError] = MetastoreError,
    ) -> ResultT:
        """Makes one call.

        Args:
            method: Name of the call; ``retry.CALL_CLASSES`` says whether it may be repeated.
            request: Makes the call, and reads its answer: what fails in there is the metastore's fault.
            missing: Makes the error for "no such object" out of the metastore's message.

        Raises:
            MetastoreError: No address answers, the connection broke, the call timed out, or the metastore refused.
        """
        return self.call_first_known((method, request), None, missing)

    def call_first_known(
        self,
        first: NamedCall[ResultT],
        second: NamedCall[ResultT] | None,
        missing: Callable[[str], ConnectorError] = MetastoreError,
    ) -> ResultT:
        """Makes the first call, or the second where the metastore does not have the first; see ``call``."""
        calls = [first] if second is None else [first, second]
        retry = RetryState(first[0], self._settings.timeouts, self._settings.retries, self._pool.addresses)
        while True:
            connection = self._connect(retry)
            known = [one for one in calls if one[0] not in connection.missing_calls]
            for name, request in known:
                try:
                    return self._exchange(connection, name, request, missing, retry)
                except _UnknownCallError:
                    connection.missing_calls.add(name)
                except _BrokenError as broken:
                    self._pool.drop_idle(connection.endpoint)
                    if self._pool.is_closed:
                        raise retry.closed() from broken.error
                    wait = self._after(broken, name, connection, retry)
                    self._pause(wait, retry)
                    break
                except MetastoreError as error:
                    again = retry.refused(call_class(name), error)
                    # Raised anew it would be in a cycle with its frames, and hold their connection until it is found.
                    if again is None:
                        raise
                    self._pause(again, retry)
                    break
            else:
                self._pool.give_back(connection)
                raise retry.unknown_call(connection.endpoint, [name for name, _ in calls])

    def close(self) -> None:
        """Closes all connections; a call that waits ends with an error. May be called more than once."""
        self._pool.close()
        self._watchdog.stop()

    def _exchange(
        self,
        connection: PooledConnection,
        name: str,
        request: Callable[[ThriftHiveMetastore.Client], ResultT],
        missing: Callable[[str], ConnectorError],
        retry: RetryState,
    ) -> ResultT:
        with self.statistics.measure(name), mapped_answers(f"{name}: the metastore at {connection.endpoint}", missing):
            try:
                connection.answer.begin()
                with self._watchdog.watching(connection.canceller, retry.deadline):
                    result = request(connection.client)
            except ANSWERS as answer:
                if is_unknown_call(answer):
                    raise _UnknownCallError from answer
                self._pool.give_back(connection)
                raise
            except ConnectorError:
                # The answer was read, and is refused.
                self._pool.give_back(connection)
                raise
            except BROKEN as error:
                self._pool.discard(connection)
                raise _BrokenError(error) from error
            except BaseException:
                self._pool.discard(connection)
                raise
        self._pool.give_back(connection)
        return result

    def _after(self, broken: _BrokenError, name: str, connection: PooledConnection, retry: RetryState) -> float:
        stale = connection.idle_since > 0 and connection.answer.received == 0
        why_cut = connection.canceller.why_cut
        try:
            wait = retry.failed(connection.endpoint, call_class(name), broken.error, why_cut=why_cut, stale=stale)
        except MetastoreError as error:
            raise error from broken.error
        kind = type(broken.error).__name__
        _LOG.info("%s: %s broke the connection (%s); repeated in %.2g s", name, connection.endpoint, kind, wait)
        return wait

    def _connect(self, retry: RetryState) -> PooledConnection:
        """A connection of this call alone: an idle one, or a new one to the first address that answers."""
        while True:
            idle = self._pool.take(retry)
            if idle is not None:
                return idle
            connection = None
            try:
                connection = self._connect_to_any(retry)
            finally:
                if connection is None:
                    self._pool.give_up()
            if connection is not None:
                return connection
            self._pause(retry.unreachable(), retry)

    def _connect_to_any(self, retry: RetryState) -> PooledConnection | None:
        retry.begin_round()
        for endpoint in self._pool.order(retry):
            canceller = SocketCanceller()
            self._pool.starts(canceller)
            timeouts = self._settings.timeouts
            remaining = retry.remaining()
            deadline = time.monotonic() + min(remaining, timeouts.connect + timeouts.read)
            try:
                with self._watchdog.watching(canceller, deadline):
                    connect = replace(timeouts, connect=min(timeouts.connect, remaining))
                    connection = self._open(endpoint, connect, canceller)
            except BROKEN as error:
                self._pool.ends(canceller)
                if isinstance(error, ConnectorError) and not isinstance(error, MetastoreError):
                    raise
                if self._pool.is_closed:
                    raise retry.closed() from error
                retry.not_connected(endpoint, error, canceller.why_cut)
                continue
            except BaseException:
                self._pool.ends(canceller)
                raise
            self._pool.connected(connection)
            return connection
        return None

    def _open(self, endpoint: ThriftEndpoint, timeouts: Timeouts, canceller: SocketCanceller) -> PooledConnection:
        transport = open_transport(endpoint, self._security, timeouts, canceller, self._identity)
        try:
            answer = AnswerTransport(transport, self._settings.max_message_size)
            protocol = TBinaryProtocolAccelerated(
                answer, string_length_limit=_LONGEST_STRING, container_length_limit=_MOST_ELEMENTS
            )
            client = ThriftHiveMetastore.Client(protocol)
            if isinstance(self._identity, UnprovenIdentity) and not endpoint.is_http:
                # A metastore that takes no set_ugi says so in a whole answer, and serves us all the same.
                with suppress(ttypes.MetaException, TApplicationException):
                    client.set_ugi(self._identity.user, [self._identity.user])
        except BaseException:
            transport.close()
            canceller.release()
            raise
        wanted = self._settings.catalog
        return PooledConnection(endpoint, answer, CatalogClient(client, wanted) if wanted else client, canceller)

    def _pause(self, seconds: float, retry: RetryState) -> None:
        if seconds and not self._pool.wait(min(seconds, retry.remaining())):
            raise retry.closed()


class _UnknownCallError(Exception):
    """The server lacks the call."""


class _BrokenError(Exception):
    """The connection is of no more use."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error
