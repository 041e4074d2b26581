"""Where a server listens; other machines may not reach it without authentication and TLS."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Mapping

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from lakeport.error_codes import SERVER_WITHOUT_AUTHENTICATION

__all__ = ["LOOPBACK", "address_to_listen_on", "check_environment", "is_loopback"]

LOOPBACK = "127.0.0.1"
_OVERRIDES = ("HIVE_SERVER2_THRIFT_BIND_HOST", "HIVE_SERVER2_THRIFT_PORT")
"""Environment variables that win over any setting (``ThriftCLIService.init``)."""
_LAST_PORT = 65535


def address_to_listen_on(host: str, port: int, *, for_other_machines: bool = False) -> str:
    """The address to listen on; a name is looked up once, here.

    Args:
        host: An address or a name.
        port: The port; 0 is any free one.
        for_other_machines: Whether other machines may reach it.

    Returns:
        The address, such as ``127.0.0.1``.

    Raises:
        InvalidArgumentError: The host is unknown, or the port is out of range.
        NotSupportedError: The host is not loopback, and other machines must not reach it.
    """
    if not 0 <= port <= _LAST_PORT:
        raise InvalidArgumentError(f"port {port}: expected 0 (any free one) to {_LAST_PORT}")
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as error:
        raise InvalidArgumentError(f"host '{host}' is unknown; expected {LOOPBACK}") from error
    if not for_other_machines and (not host or not all(map(is_loopback, found))):
        raise NotSupportedError(
            f"host '{host}' can be reached from other machines, and this server has no authentication with TLS; "
            f"expected {LOOPBACK} (for other machines, forward its port by ssh -L), or --password-file and "
            "--keystore (or --kerberos-principal), and a token of Spark Connect",
            SERVER_WITHOUT_AUTHENTICATION,
        )
    return found[0]


def is_loopback(address: str) -> bool:
    """Whether no other machine can reach an address."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


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
