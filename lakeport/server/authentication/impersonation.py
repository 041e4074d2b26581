"""Clients that act as another user, where rules allow it: the proxy user of JDBC, and the user of Spark Connect."""

from __future__ import annotations

from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.access_control.security import Security
from connector_spi.errors import AccessDeniedError
from lakeport.server.spark_support import needed_of_spark
from lakeport.spark.bridge.compiled.java_classes import define_class, new_instance
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy

__all__ = ["ImpersonationProxy", "impersonation_settings", "open_sessions_as_users"]

_PROVIDER = "LakeportImpersonation"
_INTERFACE = "org.apache.hadoop.security.authorize.ImpersonationProvider"
_SESSIONS = "ThriftSessions"
_THRIFT_SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"


class ImpersonationProxy(Proxy):
    """Asks the access control whether one user may act as another.

    Args:
        jvm: The JVM.
        security: Knows the access control and the groups of users.
    """

    class Java:
        implements: ClassVar[list[str]] = ["java.util.function.BiPredicate"]

    def __init__(self, jvm: Jvm, security: Security) -> None:
        super().__init__(jvm)
        self._security = security

    def test(self, user: str, other: str) -> bool:
        """Whether a user may act as another one."""
        try:
            self._security.access_control.check_can_impersonate_user(self._security.identity(user), other)
        except AccessDeniedError:
            return False
        return True


def impersonation_settings(jvm: Jvm) -> dict[str, str]:
    """Settings for the start of a Thrift server by which Hive asks us about ``hive.server2.proxy.user``.

    The answer is no until ``open_sessions_as_users``. A server without authentication does not ask.
    """
    return {
        "hive.server2.allow.user.substitution": "true",
        "hadoop.security.impersonation.provider.class": str(_provider(jvm).getName()),
    }


def open_sessions_as_users(jvm: Jvm, security: Security, *, authenticates: bool) -> None:
    """Has a Thrift server that runs open each session as its user, who may be another one than logged in.

    Args:
        jvm: The JVM.
        security: Knows who may act as whom.
        authenticates: Clients have shown who they are; else they are who they say.

    Raises:
        NotSupportedError: This Spark's server opens sessions otherwise.
    """
    may = ImpersonationProxy(jvm, security)
    with needed_of_spark(jvm, "sessions of JDBC"):
        sessions = new_instance(jvm, _SESSIONS, jvm.context._jsc.sc(), may if authenticates else None)
        getattr(jvm.scala_object(_THRIFT_SERVER), "eventManager_$eq")(sessions)
        [use] = [one for one in jvm.items(_provider(jvm).getMethods()) if one.getName() == "use"]
        use.invoke(None, jvm.array("java.lang.Object", [may]))


def _provider(jvm: Jvm) -> JavaObject:
    return define_class(jvm, _PROVIDER, beside=_INTERFACE)
