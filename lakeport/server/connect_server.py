"""Spark Connect, for clients with no Java such as ``SparkSession.builder.remote``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from catalog.access_control.security import Security
from connector_spi.errors import ExternalError, NotSupportedError
from lakeport.error_codes import SERVER_DOES_NOT_START, SERVER_WITHOUT_AUTHENTICATION
from lakeport.server.authentication.access import Access
from lakeport.server.authentication.impersonation import ImpersonationProxy
from lakeport.server.authentication.web_tokens import jwt_users
from lakeport.spark.bridge.compiled.java_classes import PACKAGE, findable
from lakeport.spark.bridge.errors import first_cause
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["ConnectServer", "connect_settings"]

_SERVICE = "org.apache.spark.sql.connect.service.SparkConnectService"
_ADDRESS = "spark.connect.grpc.binding.address"
_PORT = "spark.connect.grpc.binding.port"
_TRIES = "spark.connect.grpc.port.maxRetries"
_INTERCEPTORS = "spark.connect.grpc.interceptor.classes"
_TOKEN = "spark.connect.authenticate.token"
_USER_CLASS = "ConnectUser"


def connect_settings(host: str, port: int) -> dict[str, str]:
    """What Spark has to be started with, since Spark Connect reads it from there.

    Args:
        host: The address to listen on.
        port: The port; 0 is any free one.
    """
    # Spark would take the next ports where one is taken, which no one has asked for.
    return {_ADDRESS: host, _PORT: str(port), _TRIES: "0", _INTERCEPTORS: PACKAGE + _USER_CLASS}


class ConnectServer:
    """Spark Connect over a session; there is one in a Spark.

    Args:
        jvm: The JVM of a Spark that was started with ``connect_settings``.
        session: The ``ServedSession`` that the sessions of clients are made from.
        host: The address that it was told to listen on.
        access: What clients have to show.
        security: Knows who may act as whom.

    Raises:
        NotSupportedError: Spark was told another address.
        ExternalError: It does not start, for instance since the port is taken.
    """

    def __init__(self, jvm: Jvm, session: JavaObject, host: str, access: Access, security: Security) -> None:
        self._host = host
        self._has_token = access.has_authentication
        met = jvm.context.getConf().get(_ADDRESS, None)
        if met != host:
            raise NotSupportedError(
                f"this Spark has {_ADDRESS}={met}; expected {host}: start Spark with it", SERVER_WITHOUT_AUTHENTICATION
            )
        try:
            self._jvm = jvm
            self._service = jvm.scala_object(_SERVICE)
            self._service.sessionManager().initializeBaseSession(session.supplier())
            with findable(jvm, _USER_CLASS) as user_class, _authenticated(jvm, access.connect_token):
                _use_tokens(jvm, user_class, access, ImpersonationProxy(jvm, security))
                self._service.start(jvm.context._jsc.sc())
        except (Py4JError, PySparkException) as error:
            raise ExternalError(
                f"Spark Connect does not start on {host}:{jvm.context.getConf().get(_PORT)}: {first_cause(error)}",
                SERVER_DOES_NOT_START,
            ) from error

    @property
    def address(self) -> str:
        """What clients give to ``SparkSession.builder.remote``."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        if self._has_token:
            # PySpark's client sends a token without TLS to this name only.
            host = "localhost"
        return f"sc://{host}:{int(self._service.localPort())}"

    def open_statements(self) -> int:
        """How many operations run, or have rows that their client has not read."""
        found = self._service.listActiveExecutions()
        return int(found.toOption().get().length()) if found.isRight() else 0

    def stop(self) -> None:
        """Ends it; operations that still run are interrupted."""
        self._service.stop(self._jvm.none, self._jvm.none)


def _use_tokens(jvm: Jvm, user_class: JavaObject, access: Access, others: ImpersonationProxy) -> None:
    given = None if access.user_tokens is None else jvm.string_map(access.user_tokens.items())
    users = None if access.jwt is None else jwt_users(jvm, access.jwt)
    [use] = [one for one in jvm.items(user_class.getMethods()) if one.getName() == "use"]
    use.invoke(None, jvm.array("java.lang.Object", [given, users, others]))


@contextmanager
def _authenticated(jvm: Jvm, token: str | None) -> Iterator[None]:
    """Gives Spark the token for the start in the block: others see command lines, and settings of a running Spark."""
    conf = jvm.context._jsc.sc().conf()
    if token is not None:
        conf.set(_TOKEN, token)
    try:
        yield
    finally:
        conf.remove(_TOKEN)
