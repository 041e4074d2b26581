"""Thrift over HTTP: each message is the body of a POST, and its reply the body of the response."""

from __future__ import annotations

import base64
import http.client
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

from catalog.metastore.security.errors import AuthenticationError, SecureChannelError
from catalog.metastore.security.settings import HttpAuthentication, SecuritySettings
from catalog.metastore.security.sockets import is_quiet

__all__ = ["USER_HEADER", "HttpChannel", "request_headers"]

USER_HEADER = "x-actor-username"
"""Header with the user's name for a metastore without authentication (``HmsThriftHttpServlet`` of Hive 4)."""

_MAX_TOKEN = 1 << 16


def request_headers(settings: SecuritySettings, user: str) -> Mapping[str, str]:
    """The headers that identify the user; a token's file is read each time.

    Args:
        settings: The catalog's settings.
        user: The user's name.

    Raises:
        AuthenticationError: The token cannot be read.
    """
    headers = {"Content-Type": "application/x-thrift", "Accept": "application/x-thrift", "User-Agent": "lakeport"}
    if user:
        headers[USER_HEADER] = user.encode().decode("latin-1")
    if settings.http_authentication is HttpAuthentication.BASIC:
        pair = f"{settings.http_username}:{settings.http_password}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    elif settings.http_authentication is HttpAuthentication.BEARER:
        headers["Authorization"] = f"Bearer {_bearer_token(settings)}"
    names = {name.lower(): name for name in headers}
    for name, text in settings.http_headers:
        headers.pop(names.get(name.lower(), ""), None)
        headers[name] = text
    return headers


class HttpChannel:
    """Sends the written bytes as one request and reads the body of its response; keeps the connection open.

    Args:
        host: Name or address, for the header.
        port: TCP port.
        path: The metastore's HTTP path.
        connect: Makes a connected socket.
        headers: Returns the headers of a request.
    """

    def __init__(
        self,
        host: str,
        port: int,
        path: str,
        connect: Callable[[], socket.socket],
        headers: Callable[[], Mapping[str, str]],
    ) -> None:
        self._connection = http.client.HTTPConnection(host, port)
        self._where = f"the metastore at {host}:{port}{path}"
        self._path = path
        self._connect = connect
        self._headers = headers
        self._request = bytearray()
        self._response: http.client.HTTPResponse | None = None
        # Never automatically: that would bypass TLS and cancellation.
        self._connection.auto_open = 0

    def open(self) -> None:
        """Connects."""
        self._connection.sock = self._connect()

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def write(self, data: bytes) -> None:
        """Appends bytes to the next request."""
        self._request += data

    def flush(self) -> None:
        """Sends the request, and waits for the head of its response.

        Raises:
            AuthenticationError: The server refused the credentials.
            SecureChannelError: The response is not one to a Thrift request.
            OSError: The connection broke.
        """
        body, self._request = bytes(self._request), bytearray()
        headers = self._headers()
        if self._connection.sock is None or self._is_stale():
            self._connection.close()
            self.open()
        try:
            self._connection.request("POST", self._path, body, dict(headers))
            self._response = self._connection.getresponse()
        except http.client.HTTPException as error:
            self._connection.close()
            what = "closed the connection" if isinstance(error, http.client.RemoteDisconnected) else "is not HTTP"
            raise SecureChannelError(f"{self._where}: the response {what} ({type(error).__name__})") from None
        self._check(self._response)

    def read(self, size: int) -> bytes:
        """One to ``size`` bytes of the response; none at its end."""
        if self._response is None:
            return b""
        try:
            return self._response.read(size)
        except http.client.HTTPException as error:
            raise SecureChannelError(f"{self._where}: the response is cut short ({type(error).__name__})") from None

    def _is_stale(self) -> bool:
        """Whether bytes of the last response are unread, or the other side has closed the connection."""
        if self._response is not None and not self._response.isclosed():
            return True
        return not is_quiet(self._connection.sock)

    def _check(self, response: http.client.HTTPResponse) -> None:
        if response.status == http.client.OK:
            return
        status = f"{self._where} answers {response.status} {response.reason[:100]}"
        self._connection.close()
        if response.status in (http.client.UNAUTHORIZED, http.client.FORBIDDEN):
            raise AuthenticationError(f"{status}: check hive.metastore.http.client.authentication.type and its secrets")
        hint = "check the path in hive.metastore.uri" if response.status < 500 else "the request was not served"
        raise SecureChannelError(f"{status}: {hint}")


def _bearer_token(settings: SecuritySettings) -> str:
    token = settings.bearer_token
    if not token:
        try:
            with Path(settings.bearer_token_file).open("rb") as file:
                token = file.read(_MAX_TOKEN).decode("ascii", "replace").strip()
        except OSError as error:
            raise AuthenticationError(
                f"the bearer token cannot be read from {settings.bearer_token_file}: {error.strerror}"
            ) from error
    if not token or not (token.isascii() and token.isprintable()):
        raise AuthenticationError("the bearer token is empty or has characters that are not allowed in a token")
    return token
