"""Addresses of a metastore."""

from __future__ import annotations

import re
from dataclasses import dataclass

from connector_spi.errors import InvalidPropertyError

__all__ = ["ThriftEndpoint", "parse_uris"]

_DEFAULT_PORT = 9083
_SCHEME = r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://)?"
_HOST = r"(?:\[(?P<v6>[^\]]+)\]|(?P<host>[^:/\[\]]+))"
_URI = re.compile(_SCHEME + _HOST + r"(?::(?P<port>\d+))?/?")


@dataclass(frozen=True, slots=True)
class ThriftEndpoint:
    """One address of a metastore."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"thrift://{host}:{self.port}"


def parse_uris(text: str) -> tuple[ThriftEndpoint, ...]:
    """Reads ``thrift://host:port,thrift://host2:port2``; the port is 9083 if left out.

    Raises:
        InvalidPropertyError: The text is empty, or an address is not of this form.
    """
    endpoints = []
    for uri in filter(None, (part.strip() for part in text.split(","))):
        match = _URI.fullmatch(uri)
        port = int(match["port"] or _DEFAULT_PORT) if match else 0
        if match is None or (match["scheme"] or "thrift") != "thrift" or not 0 < port < 65536:
            raise InvalidPropertyError(f"hive.metastore.uri holds {uri!r}; expected thrift://host:port")
        endpoints.append(ThriftEndpoint(match["v6"] or match["host"], port))
    if not endpoints:
        raise InvalidPropertyError("hive.metastore.uri is empty; expected thrift://host:port, or several with commas")
    return tuple(endpoints)
