"""A bounded pool of connections to the addresses of one metastore."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Condition, Event

from catalog.metastore._thrift.lakeport_metastore import ThriftHiveMetastore
from catalog.metastore.thrift.connections.answer import AnswerTransport
from catalog.metastore.thrift.connections.endpoints import ThriftEndpoint
from catalog.metastore.thrift.connections.retry_state import RetryState
from catalog.metastore.thrift.connections.socket_canceller import SocketCanceller

__all__ = ["ConnectionPool", "PooledConnection"]

_MAX_IDLE_SECONDS = 300.0
"""Firewalls and balancers forget connections without a word; HMS itself keeps them for longer."""


@dataclass(slots=True, eq=False)
class PooledConnection:
    """One connection, in the hands of one thread.

    Attributes:
        endpoint: The address at its end.
        answer: The bytes of the answer that is being read.
        client: Makes calls.
        canceller: Cuts it.
        missing_calls: What the server at its end was found to lack.
        idle_since: When it was given back last; 0 before.
    """

    endpoint: ThriftEndpoint
    answer: AnswerTransport
    client: ThriftHiveMetastore.Client
    canceller: SocketCanceller
    missing_calls: set[str] = field(default_factory=set)
    idle_since: float = 0.0

    def close(self) -> None:
        """Ends it."""
        try:
            self.answer.close()
        finally:
            self.canceller.release()


class ConnectionPool:
    """Who uses which connection, and which are free.

    Args:
        endpoints: The addresses, best first.
        max_connections: Most connections in use at once.
    """

    def __init__(self, endpoints: tuple[ThriftEndpoint, ...], max_connections: int) -> None:
        self._endpoints = endpoints
        self._max_connections = max_connections
        self._condition = Condition()
        self._idle: list[PooledConnection] = []
        self._used = 0
        self._cancellers: set[SocketCanceller] = set()
        self._preferred = 0
        self._closing = Event()

    @property
    def addresses(self) -> int:
        """How many there are."""
        return len(self._endpoints)

    def take(self, retry: RetryState) -> PooledConnection | None:
        """An idle connection, or ``None`` with the right to open one; waits while all are in use.

        Raises:
            MetastoreError: None got free in time, or the pool is closed.
        """
        with self._condition:
            while not self.is_closed and self._used >= self._max_connections:
                if not self._condition.wait(retry.remaining()) and retry.remaining() <= 0:
                    raise retry.all_in_use(self._max_connections)
            if self.is_closed:
                raise retry.closed()
            self._used += 1
        while True:
            with self._condition:
                connection = self._idle.pop() if self._idle and not self.is_closed else None
                if connection is None:
                    return None
                self._cancellers.add(connection.canceller)
            try:
                fresh = time.monotonic() - connection.idle_since < _MAX_IDLE_SECONDS
                if fresh and connection.answer.isOpen():
                    return connection
            except BaseException:
                self.discard(connection)
                raise
            self.ends(connection.canceller)
            connection.close()

    def give_back(self, connection: PooledConnection) -> None:
        """Makes a connection free for others."""
        connection.idle_since = time.monotonic()
        with self._condition:
            self._cancellers.discard(connection.canceller)
            self._used -= 1
            keep = not self.is_closed and connection.canceller.why_cut is None
            if keep:
                self._idle.append(connection)
            self._condition.notify()
        if not keep:
            connection.close()

    def discard(self, connection: PooledConnection) -> None:
        """Closes a connection that is of no more use."""
        self.ends(connection.canceller)
        self.give_up()
        connection.close()

    def give_up(self) -> None:
        """Gives back the right to open a connection."""
        with self._condition:
            self._used -= 1
            self._condition.notify()

    def drop_idle(self, endpoint: ThriftEndpoint) -> None:
        """Closes the idle connections to an address that failed, and prefers the next address."""
        with self._condition:
            gone = [one for one in self._idle if one.endpoint == endpoint]
            self._idle = [one for one in self._idle if one.endpoint != endpoint]
            if self._endpoints[self._preferred] == endpoint:
                self._preferred = (self._preferred + 1) % len(self._endpoints)
        for connection in gone:
            connection.close()

    def order(self, retry: RetryState) -> list[ThriftEndpoint]:
        """The addresses in the order to try them: those last that did not answer this call in time."""
        with self._condition:
            first = self._preferred
        turned = [*self._endpoints[first:], *self._endpoints[:first]]
        return [one for one in turned if one not in retry.silent] or turned

    def connected(self, connection: PooledConnection) -> None:
        """Notes that an address answers."""
        with self._condition:
            self._preferred = self._endpoints.index(connection.endpoint)

    def starts(self, canceller: SocketCanceller) -> None:
        """Notes what to cut when the pool is closed."""
        with self._condition:
            self._cancellers.add(canceller)
            closed = self.is_closed
        if closed:
            canceller.cut("the client was closed")

    def ends(self, canceller: SocketCanceller) -> None:
        """Forgets it again."""
        with self._condition:
            self._cancellers.discard(canceller)

    def wait(self, seconds: float) -> bool:
        """Waits; false as soon as the pool is closed."""
        return not self._closing.wait(seconds)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._closing.is_set()

    def close(self) -> None:
        """Closes idle connections and cuts those in use."""
        with self._condition:
            self._closing.set()
            idle, self._idle = self._idle, []
            cancellers = list(self._cancellers)
            self._condition.notify_all()
        for canceller in cancellers:
            canceller.cut("the client was closed")
        for connection in idle:
            connection.close()
