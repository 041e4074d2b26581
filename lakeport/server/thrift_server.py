"""Spark's Thrift server, for JDBC and ODBC."""

from __future__ import annotations

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from connector_spi.errors import ExternalError
from lakeport.error_codes import SERVER_DOES_NOT_START
from lakeport.spark.bridge.errors import first_cause
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["ThriftServer"]

_THRIFT = "org.apache.spark.sql.hive.thriftserver."
_EVENTS_MILLIS = 1000
_CLI_SERVICE = "ThriftBinaryCLIService"
_OPEN_STATES = frozenset({"STARTED", "COMPILED", "FINISHED"})
"""Of statements whose rows a client may still read (``HiveThriftServer2.ExecutionState``); the others have ended."""


class ThriftServer:
    """Spark's Thrift server over a session.

    Args:
        jvm: The JVM.
        session: The Java session that the sessions of clients are made from.
        host: The address to listen on.
        port: The port; 0 is any free one.

    Raises:
        ExternalError: It does not start, for instance since the port is taken.
    """

    def __init__(self, jvm: Jvm, session: JavaObject, host: str, port: int) -> None:
        self._jvm = jvm
        self._host = host
        try:
            _configure(jvm, session, host, port)
            self._server = jvm.scala_object(_THRIFT + "HiveThriftServer2").startWithSparkSession(session, False)
        except (Py4JError, PySparkException) as error:
            raise ExternalError(
                f"the Thrift server does not start on {host}:{port}: {first_cause(error)}", SERVER_DOES_NOT_START
            ) from error

    @property
    def address(self) -> str:
        """What JDBC connects to."""
        services = list(self._server.getServices())
        port = next(one.getPortNumber() for one in services if self._jvm.class_name(one) == _CLI_SERVICE)
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"jdbc:hive2://{host}:{int(port)}"

    def open_statements(self) -> int:
        """How many statements run, or have rows that their client has not closed; 1 where that is not known in time."""
        thrift = self._jvm.scala_object(_THRIFT + "HiveThriftServer2")
        # Its events arrive late, and a statement that has just begun must count.
        try:
            self._jvm.context._jsc.sc().listenerBus().waitUntilEmpty(_EVENTS_MILLIS)
        except Py4JError:
            return 1
        field = thrift.listener().getClass().getDeclaredField("executionList")
        field.setAccessible(True)
        states = [str(one.state().toString()) for one in list(field.get(thrift.listener()).values())]
        return sum(state in _OPEN_STATES for state in states)

    def stop(self) -> None:
        """Ends it; statements that still run are cancelled."""
        self._server.stop()


def _configure(jvm: Jvm, session: JavaObject, host: str, port: int) -> None:
    conf = session.sessionState().conf()
    settings = {
        "hive.server2.thrift.bind.host": host,
        "hive.server2.thrift.port": str(port),
        "hive.server2.transport.mode": "binary",
        "hive.server2.authentication": "NONE",
        # Nobody has proved who he is, so that nobody is taken for the user that he names.
        "hive.server2.enable.doAs": "false",
        # One session for all clients would be this one.
        "spark.sql.hive.thriftServer.singleSession": "false",
    }
    for name, value in settings.items():
        conf.setConfString(name, value)
    # Derby is in Spark's client of Hive, and would leave its log in the current directory.
    jvm.cls("java.lang.System").setProperty("derby.stream.error.file", "/dev/null")
