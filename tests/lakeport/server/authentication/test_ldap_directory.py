"""The properties of a directory; tests of integration ask a real one."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connector_spi.errors import InvalidArgumentError, InvalidPropertyError
from lakeport.server.authentication.ldap_directory import LdapDirectory, LdapSettings
from lakeport.server.authentication.password_file import PasswordFile
from lakeport.server.authentication.passwords import configured_passwords
from lakeport.spark.catalog.install import jvm_of
from tests.lakeport.server.authentication.test_password_file import SHA1

_BIND = "ldap.user-bind-pattern=uid=${USER},ou=people,dc=example,dc=com"


def configured(folder: Path, *lines: str) -> PasswordFile | LdapSettings | None:
    file = folder / "password-authenticator.properties"
    file.write_text("\n".join(("password-authenticator.name=ldap", *lines)) + "\n", "utf-8")
    return configured_passwords(file)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["ldap.url=ldap://localhost", _BIND], "expected ldaps://, or ldap.allow-insecure=true"),
        (["ldap.url=http://localhost", "ldap.allow-insecure=true", _BIND], "expected ldaps://"),
        (["ldap.url=ldaps://localhost"], "expected one of ldap.user-bind-pattern and ldap.bind-dn"),
        (["ldap.url=ldaps://localhost", "ldap.user-bind-pattern=uid=admin"], "everyone would be the same user"),
        (["ldap.url=ldaps://localhost", _BIND, "ldap.group-auth-pattern=(uid=${USER})"], "needs ldap.user-base-dn"),
        (["ldap.url=ldaps://localhost", "ldap.bind-dn=cn=a", "ldap.bind-password=secret"], "ldap.bind-dn needs"),
        (["ldap.url=ldaps://localhost", _BIND, "ldap.urls=x"], "ldap.urls"),
    ],
)
def test_properties_that_are_refused(tmp_path: Path, lines: list[str], reason: str) -> None:
    with pytest.raises(InvalidPropertyError, match=reason.replace("$", r"\$")) as met:
        configured(tmp_path, *lines)
    assert "secret" not in str(met.value)


def test_properties(tmp_path: Path) -> None:
    found = configured(
        tmp_path, "ldap.url=ldaps://localhost", f"{_BIND}:uid=${{USER}},ou=guests", "ldap.timeout.connect=5s"
    )
    assert isinstance(found, LdapSettings)
    assert found.patterns == ("uid=${USER},ou=people,dc=example,dc=com", "uid=${USER},ou=guests")
    assert found.timeouts == (5.0, 60.0)


def test_a_password_file_by_trinos_properties(tmp_path: Path) -> None:
    users, file = tmp_path / "users", tmp_path / "a.properties"
    users.write_text(f"alice:{SHA1}\n", "utf-8")
    file.write_text(f"password-authenticator.name=file\nfile.password-file={users}\n", "utf-8")
    found = configured_passwords(file)
    assert isinstance(found, PasswordFile)
    assert found.authenticate("alice", "password")
    with pytest.raises(InvalidArgumentError, match="does not exist"):
        configured_passwords(tmp_path / "none")


@pytest.mark.parametrize("user", ["a,ou=b", "a)(uid=*", "*", "a\\b", " a", "a ", "a\0", ""])
def test_names_that_mean_something_to_a_directory(spark: SparkSession, user: str) -> None:
    settings = LdapSettings("ldap://127.0.0.1:1", ("uid=${USER}",), None, None, None, (1.0, 1.0))
    assert not LdapDirectory(jvm_of(spark), settings).authenticate(user, "password")


def test_a_directory_that_is_not_there(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    settings = LdapSettings("ldap://127.0.0.1:1", ("uid=${USER}",), None, None, None, (1.0, 1.0))
    assert not LdapDirectory(jvm_of(spark), settings).authenticate("alice", "a-password")
    assert "ldap://127.0.0.1:1 cannot be asked" in caplog.text
    assert "a-password" not in caplog.text
