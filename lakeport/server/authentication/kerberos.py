"""Kerberos for JDBC, as Hive's server has it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from connector_spi.errors import InvalidArgumentError

__all__ = ["KerberosSettings", "kerberos_settings"]

_SERVICE = re.compile(r"[^/@\s]+/[^/@\s]+@[^/@\s]+")
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_JAVA_CONFIG = "-Djava.security.krb5.conf="
_CONFIG = "KRB5_CONFIG"
"""Environment variable that MIT's library reads, as our clients of metastores do, and Java does not."""
_AUTHENTICATION = "hive.server2.authentication.kerberos."


@dataclass(frozen=True, slots=True)
class KerberosSettings:
    """The service that clients have a ticket for.

    Attributes:
        principal: ``SERVICE/HOST@REALM``; the host ``_HOST`` is this machine's name.
        keytab: Its keys.

    Raises:
        InvalidArgumentError: The name is not one of a service, or there is no such file.
    """

    principal: str
    keytab: Path

    def __post_init__(self) -> None:
        if not _SERVICE.fullmatch(self.principal):
            raise InvalidArgumentError(f"the principal '{self.principal}': expected SERVICE/HOST@REALM")
        if not self.keytab.is_file():
            raise InvalidArgumentError(f"the keytab {self.keytab} does not exist; expected a file that ktadd has made")

    @property
    def of_thrift_server(self) -> Mapping[str, str]:
        """Settings of the Thrift server."""
        return {
            _AUTHENTICATION + "principal": self.principal,
            _AUTHENTICATION + "keytab": str(self.keytab.absolute()),
        }


def kerberos_settings(given: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Settings that Spark has to be started with; Hadoop's classes read them once.

    Args:
        given: Settings that users give.
        environment: The environment.
    """
    found = {
        "spark.hadoop.hadoop.security.authentication": "kerberos",
        # MIT's rules leave a name of another realm as it is, of which Hive would cut the realm.
        "spark.hadoop.hadoop.security.auth_to_local.mechanism": "hadoop",
    }
    options = given.get(_JAVA_OPTIONS, "")
    if environment.get(_CONFIG) and _JAVA_CONFIG not in options:
        found[_JAVA_OPTIONS] = f"{options} {_JAVA_CONFIG}{environment[_CONFIG]}".strip()
    return found
