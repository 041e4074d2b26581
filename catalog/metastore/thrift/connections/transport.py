"""Opens the bytes' way to a metastore: the socket, and what lies between it and Thrift's protocol."""

from __future__ import annotations

import socket
from collections.abc import Callable

from thrift.transport.TTransport import TTransportBase, TTransportException

from catalog.metastore import error_codes
from catalog.metastore.security.errors import AuthenticationError
from catalog.metastore.security.http import HttpChannel, request_headers
from catalog.metastore.security.identity import Identity
from catalog.metastore.security.sasl import ByteChannel, SaslChannel
from catalog.metastore.security.settings import SecuritySettings
from catalog.metastore.security.sockets import SocketChannel, is_quiet
from catalog.metastore.security.tls import secured
from catalog.metastore.thrift.connections.answer import ByteTransport
from catalog.metastore.thrift.connections.endpoints import ThriftEndpoint
from catalog.metastore.thrift.connections.socket_canceller import SocketCanceller
from catalog.metastore.thrift.errors import Timeouts
from connector_spi.errors import MetastoreError

__all__ = ["open_transport"]


def open_transport(
    endpoint: ThriftEndpoint,
    settings: SecuritySettings,
    timeouts: Timeouts,
    canceller: SocketCanceller,
    identity: Identity,
) -> ByteTransport:
    """Connects to an address, and proves who we are where the settings ask for it.

    Args:
        endpoint: Where.
        settings: How the connection is secured.
        timeouts: Each step until the connection stands may take ``connect`` seconds; later reads wait for ``read``.
        canceller: Makes the socket, so that a wait on it can be ended from outside.
        identity: The user, and the proof.

    Raises:
        OSError: The address cannot be reached.
        MetastoreError: Of code ``METASTORE_AUTHENTICATION_FAILED``, if one side does not believe the other.
    """
    try:
        if endpoint.is_http:
            return _HttpTransport(endpoint, settings, timeouts, canceller, identity)
        try:
            return _open_binary(endpoint, settings, timeouts, canceller, identity)
        except AuthenticationError:
            # A metastore that was restarted may have forgotten a token that we kept.
            if not identity.refused():
                raise
            canceller.release()
            return _open_binary(endpoint, settings, timeouts, canceller, identity)
    except AuthenticationError as error:
        canceller.release()
        raise _failed(error) from error
    except BaseException:
        canceller.release()
        raise


def _open_binary(
    endpoint: ThriftEndpoint,
    settings: SecuritySettings,
    timeouts: Timeouts,
    canceller: SocketCanceller,
    identity: Identity,
) -> ByteTransport:
    handle = _connected(endpoint, settings, timeouts, canceller, settings.tls)
    try:
        channel: ByteChannel = SocketChannel(handle)
        mechanism = identity.mechanism(endpoint.host)
        if mechanism is not None:
            sasl = SaslChannel(channel, mechanism, f"the metastore at {endpoint}")
            sasl.negotiate()
            channel = sasl
        handle.settimeout(timeouts.read)
    except BaseException:
        handle.close()
        raise
    return _SocketTransport(handle, channel)


def _connected(
    endpoint: ThriftEndpoint, settings: SecuritySettings, timeouts: Timeouts, canceller: SocketCanceller, tls: bool
) -> socket.socket:
    handle = canceller.connect(endpoint.host, endpoint.port, timeouts.connect)
    try:
        return secured(handle, endpoint.host, settings) if tls else handle
    except BaseException:
        handle.close()
        raise


def _failed(error: AuthenticationError) -> MetastoreError:
    return MetastoreError(str(error), error_codes.AUTHENTICATION_FAILED)


def _received(read: Callable[[int], bytes], size: int, end: str) -> bytes:
    try:
        data = read(size)
    except TimeoutError as error:
        raise _silence(error) from error
    if not data:
        raise TTransportException(TTransportException.END_OF_FILE, end)
    return data


def _silence(error: TimeoutError) -> TTransportException:
    return TTransportException(TTransportException.TIMED_OUT, "no answer in time", error)


class _SocketTransport(TTransportBase):  # type: ignore[misc]  # thrift has no types
    def __init__(self, handle: socket.socket, channel: ByteChannel) -> None:
        self._handle = handle
        self._channel = channel
        self._written = bytearray()

    def isOpen(self) -> bool:  # noqa: N802  # Thrift's name
        return is_quiet(self._handle)

    def close(self) -> None:
        self._handle.close()

    def read(self, sz: int) -> bytes:
        return _received(self._channel.read, sz, "it closed the connection")

    def write(self, buf: bytes) -> None:
        self._written += buf

    def flush(self) -> None:
        data, self._written = bytes(self._written), bytearray()
        try:
            self._channel.write(data)
        except TimeoutError as error:
            raise _silence(error) from error


class _HttpTransport(TTransportBase):  # type: ignore[misc]  # thrift has no types
    def __init__(
        self,
        endpoint: ThriftEndpoint,
        settings: SecuritySettings,
        timeouts: Timeouts,
        canceller: SocketCanceller,
        identity: Identity,
    ) -> None:
        def connect() -> socket.socket:
            canceller.release()
            handle = _connected(endpoint, settings, timeouts, canceller, endpoint.scheme == "https")
            handle.settimeout(timeouts.read)
            return handle

        self._channel = HttpChannel(
            endpoint.host, endpoint.port, endpoint.path, connect, lambda: request_headers(settings, identity.user)
        )
        self._channel.open()

    def isOpen(self) -> bool:  # noqa: N802  # Thrift's name
        return True

    def close(self) -> None:
        self._channel.close()

    def read(self, sz: int) -> bytes:
        return _received(self._channel.read, sz, "the answer is cut short")

    def write(self, buf: bytes) -> None:
        self._channel.write(buf)

    def flush(self) -> None:
        try:
            self._channel.flush()
        except AuthenticationError as error:
            raise _failed(error) from error
        except TimeoutError as error:
            raise _silence(error) from error
