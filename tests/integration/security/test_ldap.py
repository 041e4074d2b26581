"""Passwords that a real directory knows: UnboundID's server of LDAP v3, which Maven fetches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeport.server.authentication.ldap_directory import LdapDirectory, LdapSettings
from lakeport.server.authentication.passwords import configured_passwords
from lakeport.spark.catalog.install import jvm_of
from tests.hms import free_port, java_command
from tests.integration.conftest import skip_or_fail
from tests.integration.maven import run_maven
from tests.integration.servers import why_no_servers
from tests.lakeport.server.clients import wait_for
from tests.server_process import running_process

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_ARTIFACT = "com.unboundid:unboundid-ldapsdk:6.0.11"
_SERVER = "com.unboundid.ldap.listener.InMemoryDirectoryServerTool"
_PEOPLE = "ou=people,dc=example,dc=com"
_ENTRIES = f"""\
dn: dc=example,dc=com
objectClass: top
objectClass: domain
dc: example

dn: {_PEOPLE}
objectClass: organizationalUnit
ou: people

dn: uid=alice,{_PEOPLE}
objectClass: inetOrgPerson
uid: alice
cn: Alice
sn: A
title: analyst
userPassword: the-word-of-alice

dn: uid=bob,{_PEOPLE}
objectClass: inetOrgPerson
uid: bob
cn: Bob
sn: B
userPassword: the-word-of-bob
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a directory with two users."""
    skip_or_fail(why_no_servers())
    folder = tmp_path_factory.mktemp("ldap")
    try:
        run_maven("dependency:copy", f"-Dartifact={_ARTIFACT}", f"-DoutputDirectory={folder}")
    except RuntimeError as error:
        skip_or_fail(f"no LDAP server: {error}")
    [jar] = folder.glob("unboundid-ldapsdk-*.jar")
    entries, log, port = folder / "entries.ldif", folder / "ldap.log", free_port()
    entries.write_text(_ENTRIES, "utf-8")
    start = [*java_command(folder), "-cp", str(jar), _SERVER, "--port", str(port), "--baseDN", "dc=example,dc=com"]
    with running_process([*start, "--ldifFile", str(entries)], folder, log) as process:
        wait_for(lambda: "Listening for client" in log.read_text("utf-8") or process.poll() is not None, log)
        assert process.poll() is None, log.read_text("utf-8")
        yield f"ldap://127.0.0.1:{port}"


def asked(spark: SparkSession, folder: Path, directory: str, *lines: str) -> LdapDirectory:
    file = folder / "password-authenticator.properties"
    first = ("password-authenticator.name=ldap", f"ldap.url={directory}", "ldap.allow-insecure=true")
    file.write_text("\n".join((*first, *lines)) + "\n", "utf-8")
    settings = configured_passwords(file)
    assert isinstance(settings, LdapSettings)
    return LdapDirectory(jvm_of(spark), settings)


def test_users_log_in_by_a_pattern(spark: SparkSession, directory: str, tmp_path: Path) -> None:
    users = asked(spark, tmp_path, directory, f"ldap.user-bind-pattern=uid=${{USER}},ou=guests:uid=${{USER}},{_PEOPLE}")
    assert users.authenticate("alice", "the-word-of-alice")
    assert users.authenticate("bob", "the-word-of-bob")
    for user, password in (
        ("alice", "the-word-of-bob"),
        ("alice", ""),
        ("nobody", "the-word-of-alice"),
        ("alice ", "the-word-of-alice"),
        (f"alice,{_PEOPLE}+uid=x", "the-word-of-alice"),
    ):
        assert not users.authenticate(user, password)


def test_users_of_a_search_alone(spark: SparkSession, directory: str, tmp_path: Path) -> None:
    users = asked(
        spark,
        tmp_path,
        directory,
        f"ldap.user-bind-pattern=uid=${{USER}},{_PEOPLE}",
        f"ldap.user-base-dn={_PEOPLE}",
        "ldap.group-auth-pattern=(&(uid=${USER})(title=analyst))",
    )
    assert users.authenticate("alice", "the-word-of-alice")
    assert not users.authenticate("bob", "the-word-of-bob")


def test_someone_looks_for_users(
    spark: SparkSession, directory: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    search = (
        f"ldap.user-base-dn={_PEOPLE}",
        "ldap.group-auth-pattern=(uid=${USER})",
        f"ldap.bind-dn=uid=bob,{_PEOPLE}",
    )
    users = asked(spark, tmp_path, directory, *search, "ldap.bind-password=the-word-of-bob")
    assert users.authenticate("alice", "the-word-of-alice")
    assert not users.authenticate("alice", "the-word-of-bob")
    assert not users.authenticate("nobody", "the-word-of-alice")
    wrong = asked(spark, tmp_path, directory, *search, "ldap.bind-password=another")
    assert not wrong.authenticate("alice", "the-word-of-alice")
    assert "refuses ldap.bind-dn" in caplog.text
    assert "another" not in caplog.text
