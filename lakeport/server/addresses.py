"""Where a server listens; other machines may not reach it, since it has no authentication."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Mapping

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from lakeport.error_codes import SERVER_WITHOUT_AUTHENTICATION

__all__ = ["LOOPBACK", "check_environment", "loopback_address"]

LOOPBACK = "127.0.0.1"
_OVERRIDES = ("HIVE_SERVER2_THRIFT_BIND_HOST", "HIVE_SERVER2_THRIFT_PORT")
"""Environment variables that win over any setting (``ThriftCLIService.init``)."""
_LAST_PORT = 65535


def loopback_address(host: str, port: int) -> str:
    """The address to listen on, which no other machine can reach; a name is looked up once, here.

    Args:
        host: An address or a name.
        port: The port; 0 is any free one.

    Returns:
        The address, such as ``127.0.0.1``.

    Raises:
        InvalidArgumentError: The host is unknown, or the port is out of range.
        NotSupportedError: The host is not loopback.
    """
    if not 0 <= port <= _LAST_PORT:
        raise InvalidArgumentError(f"port {port}: expected 0 (any free one) to {_LAST_PORT}")
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as error:
        raise InvalidArgumentError(f"host '{host}' is unknown; expected {LOOPBACK}") from error
    if not host or not all(ipaddress.ip_address(one.partition("%")[0]).is_loopback for one in found):
        raise NotSupportedError(
            f"host '{host}' can be reached from other machines, and this server has no authentication yet; expected "
            f"{LOOPBACK}: for other machines, forward its port by ssh -L",
            SERVER_WITHOUT_AUTHENTICATION,
        )
    return found[0]


def check_environment(environment: Mapping[str, str] = os.environ) -> None:
    """Refuses environment variables that would have Spark listen elsewhere than asked.

    Raises:
        NotSupportedError: One is set.
    """
    met = next((name for name in _OVERRIDES if environment.get(name)), None)
    if met is not None:
        raise NotSupportedError(
            f"the environment variable {met} is '{environment[met]}', and would win over the address that is asked "
            "for; unset it, and give --host or --thrift-port",
            SERVER_WITHOUT_AUTHENTICATION,
        )
