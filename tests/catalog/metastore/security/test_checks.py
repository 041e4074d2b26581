"""Settings that do not fit are refused before anything is connected."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.metastore.security.kerberos import service_name
from catalog.metastore.security.settings import Authentication, HttpAuthentication, SecuritySettings
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from catalog.metastore.wrappers.impersonation import PerUser
from connector_spi.errors import InvalidPropertyError

BEARER = SecuritySettings(http_authentication=HttpAuthentication.BEARER, bearer_token="t")
PLAIN = SecuritySettings(authentication=Authentication.PLAIN, password="p")
KERBEROS = {"authentication": Authentication.KERBEROS}


@pytest.mark.parametrize(
    ("uri", "security", "words"),
    [
        ("thrift://h", BEARER, "http"),
        ("http://h", BEARER, "https"),
        ("http://h,https://h", BEARER, "https"),
        ("https://h", PLAIN, "http.client.authentication.type"),
        ("https://h", SecuritySettings(tls=True), "https"),
        ("https://h", SecuritySettings(http_authentication=HttpAuthentication.BEARER), "bearer-token"),
        ("https://h", SecuritySettings(http_authentication=HttpAuthentication.BASIC), "basic.username"),
        ("https://h,thrift://h", SecuritySettings(), "mixes"),
        ("thrift://h/path", SecuritySettings(), "thrift://host:port"),
        ("thrift://u:pw@h", SecuritySettings(), "thrift://host:port"),
        ("thrift://h", SecuritySettings(authentication=Authentication.PLAIN), "hive.metastore.password"),
        ("thrift://h", SecuritySettings(authentication=Authentication.KERBEROS), "service.principal"),
        ("thrift://h", SecuritySettings(authentication=Authentication.TOKEN), "delegation-token"),
        (
            "thrift://h",
            SecuritySettings(authentication=Authentication.TOKEN, delegation_token="no token"),
            "delegation-token",
        ),
        (
            "thrift://h",
            SecuritySettings(
                authentication=Authentication.KERBEROS, service_principal="s", keytab="k", credential_cache="c"
            ),
            "both set",
        ),
        (
            "thrift://h",
            SecuritySettings(authentication=Authentication.PLAIN, password="p", impersonation=True),
            "impersonation",
        ),
    ],
)
def test_refused(uri: str, security: SecuritySettings, words: str) -> None:
    with pytest.raises(InvalidPropertyError, match=words) as caught:
        connect_thrift(ThriftConfig(uri=uri, security=security))
    assert "pw" not in str(caught.value)


def test_taken() -> None:
    for uri, security in (
        ("http://localhost", BEARER),
        ("http://[::1]:80/x", BEARER),
        ("https://h/x,https://i/y", BEARER),
        ("thrift://h", PLAIN),
        ("http://h", SecuritySettings(impersonation=True)),
    ):
        connect_thrift(ThriftConfig(uri=uri, security=security)).close()


def test_principals() -> None:
    assert service_name("hive/_HOST@R", "Meta.Example") == "hive/meta.example@R"
    assert service_name("hive/other@R", "meta.example") == "hive/other@R"
    assert "_HOST" not in service_name("hive/_HOST@R", "127.0.0.1")


def test_each_user_has_clients_of_its_own(tmp_path: Path) -> None:
    metastore = connect_thrift(ThriftConfig(uri="thrift://h", security=SecuritySettings(impersonation=True)))
    assert metastore.as_user("a") is metastore.as_user("a")
    assert metastore.as_user("a") is not metastore.as_user("b")
    assert metastore.as_user("a").calls is metastore.calls
    metastore.close()
    alone = connect_thrift(ThriftConfig(uri="thrift://h"))
    assert alone.as_user("a") is alone
    alone.close()


def test_the_user_longest_unused_is_let_go() -> None:
    closed: list[str] = []

    class One:
        def __init__(self, user: str) -> None:
            self.user = user

        def close(self) -> None:
            closed.append(self.user)

    users = PerUser(One, 2)
    for user in ("a", "b", "a", "c"):
        users.of(user)
    assert closed == ["b"]
    users.close()
    assert sorted(closed) == ["a", "b", "c"]
