"""Spark's Thrift server, for JDBC and ODBC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from catalog.registry import CatalogRegistry
from connector_spi.errors import ExternalError, NotSupportedError
from lakeport.error_codes import SERVER_DOES_NOT_START
from lakeport.server.authentication.access import Access, KeyStore
from lakeport.server.authentication.impersonation import impersonation_settings, open_sessions_as_users
from lakeport.server.authentication.ldap_directory import LdapDirectory, LdapSettings
from lakeport.server.authentication.web_tokens import jwt_users
from lakeport.server.jdbc.operations import answer_metadata_calls
from lakeport.spark.bridge.compiled.java_classes import define_class
from lakeport.spark.bridge.errors import first_cause
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy

__all__ = ["ThriftServer"]

_THRIFT = "org.apache.spark.sql.hive.thriftserver."
_CHECK = "LakeportPasswordCheck"
_INTERFACE = "org.apache.hive.service.auth.PasswdAuthenticationProvider"
_KEY_STORE_PASSWORD = "hive.server2.keystore.password"
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
        access: What clients have to show.
        registry: The catalogs that clients ask about.

    Raises:
        ExternalError: It does not start, for instance since the port is taken.
        NotSupportedError: This Spark is of another version.
    """

    def __init__(
        self, jvm: Jvm, session: JavaObject, host: str, port: int, access: Access, registry: CatalogRegistry
    ) -> None:
        self._jvm = jvm
        self._host = host
        self._access = access
        try:
            _configure(jvm, session, {"hive.server2.thrift.bind.host": host, "hive.server2.thrift.port": str(port)})
            _authenticate(jvm, session, access)
            with _tls(session, access.key_store):
                self._server = jvm.scala_object(_THRIFT + "HiveThriftServer2").startWithSparkSession(session, False)
        except (Py4JError, PySparkException, OSError) as error:
            raise ExternalError(
                f"the Thrift server does not start on {host}:{port}: {first_cause(error)}", SERVER_DOES_NOT_START
            ) from error
        try:
            answer_metadata_calls(jvm, self.session_manager, registry)
            open_sessions_as_users(jvm, registry.security, authenticates=access.authenticates_jdbc)
        except NotSupportedError:
            self.stop()
            raise

    @property
    def session_manager(self) -> JavaObject:
        """Spark's own object that knows the clients' sessions."""
        [cli] = [one for one in self._server.getServices() if self._jvm.class_name(one) == "SparkSQLCLIService"]
        return next(one for one in cli.getServices() if self._jvm.class_name(one) == "SparkSQLSessionManager")

    @property
    def address(self) -> str:
        """What JDBC connects to."""
        services = list(self._server.getServices())
        port = next(one.getPortNumber() for one in services if self._jvm.class_name(one) == _CLI_SERVICE)
        host = f"[{self._host}]" if ":" in self._host else self._host
        tls, kerberos = self._access.key_store is not None, self._access.kerberos
        words = [*(["ssl=true"] if tls else []), *([f"principal={kerberos.principal}"] if kerberos else [])]
        return f"jdbc:hive2://{host}:{int(port)}" + (f"/;{';'.join(words)}" if words else "")

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


class PasswordCheckProxy(Proxy):
    """Looks users up in the password file or the directory.

    Args:
        jvm: The JVM.
        access: What clients have to show.
    """

    class Java:
        implements: ClassVar[list[str]] = ["java.util.function.BiPredicate"]

    def __init__(self, jvm: Jvm, access: Access) -> None:
        super().__init__(jvm)
        known = access.passwords
        self._passwords = LdapDirectory(jvm, known) if isinstance(known, LdapSettings) else known

    def test(self, user: str, password: str) -> bool:
        """Whether a user has this password."""
        return self._passwords is not None and self._passwords.authenticate(user, password)


def _configure(jvm: Jvm, session: JavaObject, address: Mapping[str, str]) -> None:
    conf = session.sessionState().conf()
    settings = {
        **address,
        "hive.server2.transport.mode": "binary",
        **impersonation_settings(jvm),
        "hive.server2.enable.doAs": "false",
        # One session for all clients would be this one.
        "spark.sql.hive.thriftServer.singleSession": "false",
    }
    for name, value in settings.items():
        conf.setConfString(name, value)
    # Derby is in Spark's client of Hive, and would leave its log in the current directory.
    jvm.cls("java.lang.System").setProperty("derby.stream.error.file", "/dev/null")


def _authenticate(jvm: Jvm, session: JavaObject, access: Access) -> None:
    """Has Hive check tickets, or passwords: it reads the name of the class from the system's properties."""
    conf = session.sessionState().conf()
    if access.kerberos is not None:
        # Without TLS nothing else encrypts.
        protection = "auth-conf" if access.key_store is None else "auth"
        given = {**access.kerberos.of_thrift_server, "hive.server2.thrift.sasl.qop": protection}
        for name, value in {**given, "hive.server2.authentication": "KERBEROS"}.items():
            conf.setConfString(name, value)
        return
    conf.setConfString("hive.server2.authentication", "CUSTOM" if access.checks_passwords else "NONE")
    if not access.checks_passwords:
        return
    check = define_class(jvm, _CHECK, beside=_INTERFACE)
    jvm.cls("java.lang.System").setProperty("hive.server2.custom.authentication.class", str(check.getName()))
    [use] = [one for one in jvm.items(check.getMethods()) if one.getName() == "use"]
    # Java asks for the user of a token by itself: Python would have to call it back for that.
    tokens = None if access.jwt is None else jwt_users(jvm, access.jwt)
    use.invoke(None, jvm.array("java.lang.Object", [PasswordCheckProxy(jvm, access), tokens]))


@contextmanager
def _tls(session: JavaObject, key_store: KeyStore | None) -> Iterator[None]:
    """Settings of TLS for the start in the block; the password is in no setting that a client could see after."""
    conf = session.sessionState().conf()
    conf.setConfString("hive.server2.use.SSL", "false" if key_store is None else "true")
    if key_store is not None:
        conf.setConfString("hive.server2.keystore.path", str(key_store.path))
        conf.setConfString(_KEY_STORE_PASSWORD, key_store.password)
    try:
        yield
    finally:
        conf.unsetConf(_KEY_STORE_PASSWORD)
