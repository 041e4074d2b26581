"""A refused proof is shown once to each address, and never again."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest

from catalog.metastore import error_codes
from catalog.metastore.security.settings import Authentication, HttpAuthentication, SecuritySettings
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from connector_spi.errors import MetastoreError
from tests.catalog.metastore.security.listening import listening

PLAIN = SecuritySettings(authentication=Authentication.PLAIN, password="wrong")
BEARER = SecuritySettings(http_authentication=HttpAuthentication.BEARER, bearer_token="wrong")
NO_SASL = struct.pack(">BI", 3, 2) + b"no"
NO_HTTP = b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"


@contextmanager
def refusing(answer: bytes) -> Iterator[tuple[int, list[int]]]:
    """Says the same to each who comes; the list grows with each."""
    seen: list[int] = []

    def talk(handle: socket.socket) -> None:
        seen.append(1)
        handle.recv(1000)
        handle.sendall(answer)

    with listening(talk) as port:
        yield port, seen


@pytest.mark.parametrize(
    ("scheme", "security", "answer"), [("thrift", PLAIN, NO_SASL), ("http", BEARER, NO_HTTP)], ids=["sasl", "http"]
)
def test_once_for_each_address(scheme: str, security: SecuritySettings, answer: bytes) -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(refusing(answer)) for _ in range(2)]
        # Nobody listens there: that alone would be tried again.
        with socket.create_server(("127.0.0.1", 0)) as gone:
            ports = [gone.getsockname()[1], *(port for port, _ in servers)]
        uri = ",".join(f"{scheme}://127.0.0.1:{port}" for port in ports)
        config = ThriftConfig(uri=uri, username="me", max_retries=3, security=security)
        with closing(connect_thrift(config)) as metastore, pytest.raises(MetastoreError) as caught:
            metastore.reads.get_databases()
        assert caught.value.code == error_codes.AUTHENTICATION_FAILED
        assert all(len(seen) <= 1 for _, seen in servers)
        assert sum(len(seen) for _, seen in servers) >= 1
