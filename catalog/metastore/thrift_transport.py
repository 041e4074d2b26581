"""Opens the bytes' way to a metastore: the socket, and what lies between it and Thrift's protocol."""

from __future__ import annotations

import socket

from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from catalog.metastore.endpoints import ThriftEndpoint
from catalog.metastore.security.settings import SecuritySettings
from catalog.metastore.thrift_errors import Timeouts

__all__ = ["open_transport"]

_BUFFER = 1 << 16


def open_transport(endpoint: ThriftEndpoint, settings: SecuritySettings, timeouts: Timeouts) -> TBufferedTransport:
    """Connects to an address, and proves who we are where the settings ask for it.

    Args:
        endpoint: Where.
        settings: How the connection is secured.
        timeouts: The connection has to stand within ``connect`` seconds; later reads wait for ``read`` seconds.

    Returns:
        An open transport with ``isOpen``, ``close``, ``read``, ``write``, ``flush``.

    Raises:
        OSError: The address cannot be reached.
        TException: The other side refuses us, or speaks otherwise.
    """
    # Not TSocket.open: it writes to the log of its own accord.
    handle = socket.create_connection((endpoint.host, endpoint.port), timeouts.connect)
    try:
        handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport = TSocket(endpoint.host, endpoint.port)
        transport.setHandle(handle)
        transport.setTimeout(timeouts.read * 1000)
    except BaseException:
        handle.close()
        raise
    return TBufferedTransport(transport, _BUFFER)
