"""Kerberos for JDBC, as Hive's server has it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from py4j.java_gateway import JavaObject

from connector_spi.errors import InvalidArgumentError
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["KerberosSettings", "use_kerberos"]

_SERVICE = re.compile(r"[^/@\s]+/[^/@\s]+@[^/@\s]+")


@dataclass(frozen=True, slots=True)
class KerberosSettings:
    """The service that clients have a ticket for.

    Attributes:
        principal: ``SERVICE/HOST@REALM``.
        keytab: Its keys.

    Raises:
        InvalidArgumentError: The name is not one of a service, or there is no such file.
    """

    principal: str
    keytab: Path

    def __post_init__(self) -> None:
        if not _SERVICE.fullmatch(self.principal):
            raise InvalidArgumentError(f"the principal {self.principal}: expected SERVICE/HOST@REALM")
        if not self.keytab.is_file():
            raise InvalidArgumentError(f"the keytab {self.keytab} does not exist")


def use_kerberos(jvm: Jvm, conf: JavaObject, settings: KerberosSettings) -> None:
    """Has the Thrift server that starts next ask for tickets, and encrypt what it says.

    Args:
        jvm: The JVM; its user becomes the service.
        conf: Settings of the session that the server starts with.
        settings: The service.
    """
    given = {
        "hive.server2.authentication": "KERBEROS",
        "hive.server2.authentication.kerberos.principal": settings.principal,
        "hive.server2.authentication.kerberos.keytab": str(settings.keytab.absolute()),
        # Nothing else encrypts: Hive's driver has no TLS with Kerberos.
        "hive.server2.thrift.sasl.qop": "auth-conf",
        "hadoop.security.authentication": "kerberos",
    }
    for name, text in given.items():
        conf.setConfString(name, text)
    hadoop = jvm.cls("org.apache.hadoop.conf.Configuration")(jvm.context._jsc.hadoopConfiguration())
    hadoop.set("hadoop.security.authentication", "kerberos")
    jvm.cls("org.apache.hadoop.security.UserGroupInformation").setConfiguration(hadoop)
