"""Addresses of a metastore."""

from __future__ import annotations

import re
from dataclasses import dataclass

from connector_spi.errors import InvalidPropertyError

__all__ = ["ThriftEndpoint", "parse_uris"]

_DEFAULT_PORTS = {"thrift": 9083, "http": 80, "https": 443}
_HTTP_PATH = "/metastore"
_SCHEME = r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://)?"
_HOST = r"(?:\[(?P<v6>[^\]]+)\]|(?P<host>[^:/\[\]@\s]+))"
_URI = re.compile(_SCHEME + _HOST + r"(?::(?P<port>\d+))?(?P<path>/[!-~]*)?")
_USER_INFO = re.compile(r"^(\w+://)?[^/]*@")


@dataclass(frozen=True, slots=True)
class ThriftEndpoint:
    """One address of a metastore.

    Attributes:
        host: Name or number.
        port: TCP port.
        scheme: ``thrift``, or ``http`` or ``https`` where Thrift's messages go in requests.
        path: Where requests go; empty for ``thrift``.
    """

    host: str
    port: int
    scheme: str = "thrift"
    path: str = ""

    @property
    def is_http(self) -> bool:
        """Whether Thrift's messages go in requests."""
        return self.scheme != "thrift"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def parse_uris(text: str) -> tuple[ThriftEndpoint, ...]:
    """Reads ``thrift://host:port,thrift://host2:port2``, also with ``http`` and ``https`` and a path.

    Left out, the port is 9083 (80 and 443 for HTTP), and the path of HTTP is ``/metastore``.

    Raises:
        InvalidPropertyError: The text is empty, an address is not of this form, or some are of HTTP and some are not.
    """
    endpoints = [_parse(uri) for uri in filter(None, (part.strip() for part in text.split(",")))]
    if not endpoints:
        raise InvalidPropertyError("hive.metastore.uri is empty; expected thrift://host:port, or several with commas")
    if len({endpoint.is_http for endpoint in endpoints}) > 1:
        raise InvalidPropertyError("hive.metastore.uri mixes addresses of HTTP with others; use two catalogs")
    return tuple(endpoints)


def _parse(uri: str) -> ThriftEndpoint:
    match = _URI.fullmatch(uri)
    scheme = (match["scheme"] or "thrift").lower() if match else ""
    path = (match["path"] or "").rstrip("/") if match else ""
    port = int(match["port"] or _DEFAULT_PORTS.get(scheme, 0)) if match else 0
    if match is None or scheme not in _DEFAULT_PORTS or not 0 < port < 65536 or (scheme == "thrift" and path):
        # Somebody may have put a password there.
        shown = _USER_INFO.sub(r"\1...@", uri)
        raise InvalidPropertyError(
            f"hive.metastore.uri holds {shown!r}; expected thrift://host:port, or http(s)://host:port/path"
        )
    return ThriftEndpoint(
        match["v6"] or match["host"], port, scheme, path or (_HTTP_PATH if scheme != "thrift" else "")
    )
