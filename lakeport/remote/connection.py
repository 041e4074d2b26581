"""Connects to a server of Spark Connect."""

from __future__ import annotations

import getpass
import logging
import re
import socket
from typing import TYPE_CHECKING

from connector_spi.errors import ExternalError, InvalidArgumentError, NotSupportedError
from lakeport.error_codes import LIBRARY_NOT_INSTALLED, SERVER_NOT_REACHED

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

__all__ = ["check_libraries", "connect_to_server", "shown_address"]

_PORT = 15002
"""Of Spark Connect, where an address has none."""
_PATIENCE_SECONDS = 10.0
_ADDRESS = re.compile(r"sc://[^/;:\s]+(?::\d+)?(?:/;\S*|/)?")


def check_libraries() -> None:
    """Looks for the libraries that a client of Spark Connect needs.

    Raises:
        NotSupportedError: One is missing; says how to install them.
    """
    try:
        import pyspark.sql.connect.session  # noqa: F401 - it looks for them itself
    except ImportError as error:
        raise NotSupportedError(
            "--server needs the libraries of Spark Connect: pip install 'lakeport[client]' "
            f"({str(error).partition(chr(10))[0]})",
            LIBRARY_NOT_INSTALLED,
        ) from error


def connect_to_server(address: str) -> SparkSession:
    """A session of its own at a server.

    Args:
        address: ``sc://HOST:PORT``, with parameters as Spark Connect has them (``/;user_id=me``). Without a user it is
            that of this process; a token is best left to ``SPARK_CONNECT_AUTHENTICATE_TOKEN`` of the environment.

    Raises:
        InvalidArgumentError: It is no such address.
        ExternalError: The server is not there, or refuses the client.
    """
    if not _ADDRESS.fullmatch(address):
        raise InvalidArgumentError(
            f"the server {shown_address(address)}: expected sc://HOST:PORT, as the server prints"
        )
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.session import SparkSession

    _check_reachable(address)
    # The client's own lines about each error repeat what is raised.
    logging.getLogger("pyspark.sql.connect.logging").setLevel(logging.CRITICAL)
    session = None
    try:
        session = SparkSession.builder.remote(_with_user(address)).create()
        session.version  # noqa: B018 - the first call finds out whether the server is there
        return session
    except PySparkException as error:
        if session is not None:
            session.stop()
        reason = (error.getMessage() or str(error)).strip().partition("\n")[0]
        raise ExternalError(
            f"the server {shown_address(address)} cannot be used: {reason}", SERVER_NOT_REACHED
        ) from error


def shown_address(address: str) -> str:
    """An address without its parameters, one of which may be a token."""
    return address.partition(";")[0].rstrip("/")


def _check_reachable(address: str) -> None:
    """Looks whether something listens: the client itself would try again for minutes."""
    host, _, port = shown_address(address).removeprefix("sc://").partition(":")
    try:
        with socket.create_connection((host, int(port or _PORT)), _PATIENCE_SECONDS):
            return
    except (OSError, ValueError, OverflowError) as error:
        raise ExternalError(
            f"the server {shown_address(address)} cannot be used: {error}", SERVER_NOT_REACHED
        ) from error


def _with_user(address: str) -> str:
    if "user_id=" in address:
        return address
    start, _, parameters = address.partition("/;")
    given = f";{parameters}" if parameters else ""
    return f"{start.rstrip('/')}/;user_id={getpass.getuser()}{given}"
