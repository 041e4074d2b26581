"""Connections to a metastore over Thrift: a pool of them over one or more addresses."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TTransport import TBufferedTransport

from catalog.metastore import error_codes
from catalog.metastore._thrift.lakeport_metastore import ThriftHiveMetastore, ttypes
from catalog.metastore.call_statistics import CallStatistics
from catalog.metastore.endpoints import ThriftEndpoint
from catalog.metastore.security.settings import SecuritySettings
from catalog.metastore.thrift_errors import ANSWERS, Timeouts, is_timeout, mapped_errors, reason
from catalog.metastore.thrift_transport import open_transport
from connector_spi.errors import ConnectorError, MetastoreError

__all__ = [
    "ABILITIES",
    "ENGINE",
    "IDENTIFIER",
    "ThriftConnections",
]

ResultT = TypeVar("ResultT")

ABILITIES = [
    "EXTREAD",
    "EXTWRITE",
    "HIVEBUCKET2",
    "HIVEFULLACIDREAD",
    "HIVEFULLACIDWRITE",
    "HIVEMANAGEDINSERTREAD",
    "HIVEMANAGEDINSERTWRITE",
    "HIVESQL",
]
"""What a client of Hive 4 must be able to do before it is shown tables as they are (HIVE-21663)."""
IDENTIFIER = "lakeport"
ENGINE = "hive"
"""Whose statistics Hive 4 gives."""

_MAX_IDLE = 16


class ThriftConnections:
    """A pool of connections to one metastore that may have several addresses.

    A call holds a connection of its own, so any number of threads may call at once. The address that answered last
    is tried first; the others follow in order.

    Args:
        endpoints: The addresses, best first.
        connect_timeout: Seconds to wait for a connection, for each address.
        read_timeout: Seconds of silence after which a call fails.
        username: Whom the metastore shall take us for (``set_ugi``).
        security: How connections are secured; not at all if not given.
    """

    def __init__(
        self,
        endpoints: tuple[ThriftEndpoint, ...],
        connect_timeout: float,
        read_timeout: float,
        username: str,
        security: SecuritySettings | None = None,
    ) -> None:
        self.statistics = CallStatistics()
        self._endpoints = endpoints
        self._timeouts = Timeouts(connect_timeout, read_timeout)
        self._username = username
        self._security = security or SecuritySettings()
        self._lock = Lock()
        self._idle: list[_Connection] = []
        self._preferred = 0
        self._closed = False
        self._missing_calls: set[str] = set()

    def call(
        self,
        method: str,
        request: Callable[[ThriftHiveMetastore.Client], ResultT],
        missing: Callable[[str], ConnectorError] = MetastoreError,
    ) -> ResultT:
        """Runs one call on a connection.

        Args:
            method: Name of the call, for messages and statistics.
            request: Makes the call.
            missing: Makes the error for "no such object" out of the metastore's message.

        Raises:
            MetastoreError: No address answers, the connection broke, the call timed out, or the metastore refused.
        """
        with self.statistics.measure(method):
            connection = self._take(method)
            with mapped_errors(f"{method}: the metastore at {connection.endpoint}", self._timeouts, missing):
                try:
                    result = request(connection.client)
                except ANSWERS:
                    self._give_back(connection)
                    raise
                except BaseException:
                    connection.transport.close()
                    self._prefer_another_than(connection.endpoint)
                    raise
            self._give_back(connection)
            return result

    def call_first_known(
        self,
        first: tuple[str, Callable[[ThriftHiveMetastore.Client], ResultT]],
        second: tuple[str, Callable[[ThriftHiveMetastore.Client], ResultT]],
        missing: Callable[[str], ConnectorError],
    ) -> ResultT:
        """Makes the first call, or the second where the metastore does not have the first; each is name and call."""
        if first[0] not in self._missing_calls:
            try:
                return self.call(*first, missing)
            except MetastoreError as error:
                if error.code != error_codes.NO_SUCH_CALL:
                    raise
            with self._lock:
                self._missing_calls.add(first[0])
        return self.call(*second, missing)

    def close(self) -> None:
        """Closes the idle connections; one in use is closed when its call ends."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.transport.close()

    def _take(self, method: str) -> _Connection:
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
                first = self._preferred
            if connection is None:
                return self._connect(method, first)
            if connection.transport.isOpen():
                return connection

    def _give_back(self, connection: _Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < _MAX_IDLE:
                self._idle.append(connection)
                return
        connection.transport.close()

    def _prefer_another_than(self, endpoint: ThriftEndpoint) -> None:
        with self._lock:
            if self._endpoints[self._preferred] == endpoint:
                self._preferred = (self._preferred + 1) % len(self._endpoints)

    def _connect(self, method: str, first: int) -> _Connection:
        failures: list[str] = []
        timed_out = False
        cause: Exception | None = None
        for offset in range(len(self._endpoints)):
            position = (first + offset) % len(self._endpoints)
            endpoint = self._endpoints[position]
            try:
                connection = self._open(endpoint)
            except (OSError, TException, struct.error, ValueError) as error:
                failures.append(f"{endpoint}: {reason(error, self._timeouts)}")
                timed_out, cause = timed_out or is_timeout(error), error
                continue
            with self._lock:
                self._preferred = position
            return connection
        raise MetastoreError(
            f"{method}: cannot connect to the metastore ({'; '.join(failures)}); "
            "check hive.metastore.uri and that the metastore runs",
            error_codes.TIMED_OUT if timed_out else error_codes.CONNECTION_FAILED,
        ) from cause

    def _open(self, endpoint: ThriftEndpoint) -> _Connection:
        transport = open_transport(endpoint, self._security, self._timeouts)
        try:
            client = ThriftHiveMetastore.Client(TBinaryProtocolAccelerated(transport))
            # A metastore that takes no set_ugi says so in a whole answer, and serves us all the same.
            with suppress(ttypes.MetaException, TApplicationException):
                client.set_ugi(self._username, [self._username])
        except BaseException:
            transport.close()
            raise
        return _Connection(endpoint, transport, client)


@dataclass(frozen=True, slots=True)
class _Connection:
    endpoint: ThriftEndpoint
    transport: TBufferedTransport
    client: ThriftHiveMetastore.Client
