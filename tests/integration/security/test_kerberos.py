"""Hive 4.0.1 under a real Kerberos: each protection, keytabs and ticket caches, delegation tokens, impersonation."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from catalog.metastore import error_codes
from catalog.metastore.calls.retry import RetryPolicy
from catalog.metastore.factory import Metastore
from catalog.metastore.security.identity import identity_of
from catalog.metastore.security.settings import Authentication, QualityOfProtection, SecuritySettings
from catalog.metastore.thrift.connections.connection import ConnectionSettings, ThriftConnections
from catalog.metastore.thrift.connections.endpoints import parse_uris
from catalog.metastore.thrift.errors import Timeouts
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from connector_spi.errors import MetastoreError
from tests.integration.security.kdc import REALM, Kdc, running_kdc, why_no_kerberos
from tests.integration.servers import RELEASES, running_release

RELEASE = next(release for release in RELEASES if release.version == "4.0.1")
PROTECTIONS = list(QualityOfProtection)


@dataclass(frozen=True, slots=True)
class Secured:
    """A metastore under Kerberos.

    Attributes:
        kdc: Who gives tickets.
        uri: Its address.
        log: What it writes.
        jars: Of Hadoop, among others.
    """

    kdc: Kdc
    uri: str
    log: Path
    jars: Path

    def settings(self, name: str) -> SecuritySettings:
        """A user with a keytab."""
        return SecuritySettings(
            authentication=Authentication.KERBEROS,
            service_principal=f"hive/_HOST@{REALM}",
            client_principal=f"{name}@{REALM}",
            keytab=str(self.kdc.folder / f"{name}.keytab"),
        )

    def open(self, security: SecuritySettings) -> Metastore:
        """A client."""
        return connect_thrift(ThriftConfig(uri=self.uri, max_retries=0, security=security))

    def callers(self, call: str) -> list[str]:
        """Who made a call, as the metastore's audit log has it."""
        return re.findall(rf"ugi=(\S+).*cmd={call}", self.log.read_text(errors="replace"))

    def refusal(self, security: SecuritySettings) -> MetastoreError:
        """The error of a client that is not taken."""
        with closing(self.open(security)) as metastore, pytest.raises(MetastoreError) as caught:
            metastore.reads.get_databases()
        return caught.value


@pytest.fixture(scope="module")
def secured(metastore_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    reason = why_no_kerberos()
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("kerberos")
    with running_kdc(folder / "kdc") as kdc, pytest.MonkeyPatch.context() as patch:
        patch.setenv("KRB5_CONFIG", str(kdc.config))
        patch.delenv("KRB5CCNAME", raising=False)
        service = kdc.add("hive/localhost")
        for name in ("alice", "bob"):
            kdc.add(name)
        settings = {
            "metastore.sasl.enabled": "true",
            "metastore.kerberos.principal": f"hive/localhost@{REALM}",
            "metastore.kerberos.keytab.file": str(service),
        }
        hadoop = {
            "hadoop.security.authentication": "kerberos",
            "hadoop.rpc.protection": "authentication,integrity,privacy",
            "hadoop.proxyuser.alice.hosts": "*",
            "hadoop.proxyuser.alice.groups": "*",
        }
        # The second lets it say who calls.
        java = [f"-Djava.security.krb5.conf={kdc.config}", "-Dorg.apache.logging.log4j.level=INFO"]
        run = folder / "run"
        with running_release(RELEASE, metastore_jars, run, settings, hadoop, java) as server:
            yield Secured(kdc, f"thrift://localhost:{server.port}", run / "hms.log", metastore_jars)


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_keytabs(secured: Secured, protection: QualityOfProtection) -> None:
    with closing(secured.open(replace(secured.settings("alice"), protection=(protection,)))) as metastore:
        assert metastore.reads.get_databases() == ["default"]
        # A long question, and an answer that repeats it, go in several frames.
        assert metastore.reads.get_table("default", "x" * 200_000) is None
        assert metastore.reads.get_table_names("default") == []


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_impersonation_by_delegation_tokens(secured: Secured, protection: QualityOfProtection) -> None:
    user = f"carl-{protection.value}"
    settings = replace(secured.settings("alice"), protection=(protection,), impersonation=True)
    with closing(secured.open(settings)) as metastore:
        assert metastore.as_user(user).reads.get_databases() == ["default"]
        assert metastore.as_user(user).reads.get_database("default") is not None
        calls = metastore.calls.by_method()
    assert calls["get_delegation_token"].count == 1
    assert any(caller.startswith(user) for caller in secured.callers("get_database"))


def test_who_may_not_impersonate(secured: Secured) -> None:
    settings = replace(secured.settings("bob"), impersonation=True)
    with closing(secured.open(settings)) as metastore:
        assert metastore.reads.get_databases() == ["default"]
        with pytest.raises(MetastoreError, match="not allowed to impersonate carl"):
            metastore.as_user("carl").reads.get_databases()


def test_two_identities_at_once(secured: Secured) -> None:
    environment = dict(os.environ)
    with (
        closing(secured.open(secured.settings("alice"))) as one,
        closing(secured.open(secured.settings("bob"))) as other,
    ):
        for _ in range(2):
            for metastore in (one, other):
                assert metastore.reads.get_table_names("default") == []
    callers = {caller.split("@")[0] for caller in secured.callers("get_database")}
    assert callers >= {"alice", "bob"}
    assert dict(os.environ) == environment


def test_ticket_cache(secured: Secured, tmp_path: Path) -> None:
    gssapi = pytest.importorskip("gssapi")
    cache = f"FILE:{tmp_path}/tickets"
    keytab = secured.kdc.folder / "bob.keytab"
    tickets = gssapi.Credentials(usage="initiate", store={"client_keytab": str(keytab), "ccache": cache})
    assert tickets.lifetime > 0
    settings = replace(secured.settings("bob"), keytab="", client_principal="", credential_cache=cache)
    with closing(secured.open(settings)) as metastore:
        assert metastore.reads.get_databases() == ["default"]
    missing = secured.refusal(replace(settings, credential_cache=f"FILE:{tmp_path}/nothing"))
    assert missing.code == error_codes.AUTHENTICATION_FAILED
    assert "nothing" in str(missing)


def test_what_does_not_fit(secured: Secured) -> None:
    settings = secured.settings("alice")
    other_service = secured.refusal(replace(settings, service_principal=f"hive/elsewhere@{REALM}"))
    assert "hive.metastore.service.principal" in str(other_service)
    assert other_service.code == error_codes.AUTHENTICATION_FAILED
    others_key = secured.refusal(replace(settings, keytab=secured.settings("bob").keytab))
    assert f"alice@{REALM}" in str(others_key)
    no_sasl = secured.refusal(SecuritySettings())
    assert no_sasl.code in (error_codes.CONNECTION_FAILED, error_codes.TIMED_OUT)


def test_given_tokens(secured: Secured, tmp_path: Path) -> None:
    settings = replace(secured.settings("alice"), impersonation=True)
    timeouts = Timeouts(10, 60, 60)
    own = ThriftConnections(
        parse_uris(secured.uri), ConnectionSettings(timeouts, RetryPolicy(0)), identity_of(settings, ""), settings
    )
    with closing(own):
        text: str = own.call("get_delegation_token", lambda client: client.get_delegation_token("dora", "alice"))
    given = SecuritySettings(authentication=Authentication.TOKEN, delegation_token=text)
    with closing(secured.open(given)) as metastore:
        assert metastore.reads.get_databases() == ["default"]
    for kind in ("java", "protobuf"):
        file = tmp_path / f"tokens.{kind}"
        _write_token_file(secured.jars, text, file, kind)
        in_file = SecuritySettings(authentication=Authentication.TOKEN, delegation_token_file=str(file))
        with closing(secured.open(in_file)) as metastore:
            assert metastore.reads.get_databases() == ["default"]
    changed = text[:40] + ("A" if text[40] != "A" else "B") + text[41:]
    refused = secured.refusal(replace(given, delegation_token=changed))
    assert refused.code == error_codes.AUTHENTICATION_FAILED
    assert text not in str(refused)


def test_tokens_are_renewed_or_fetched_anew(secured: Secured) -> None:
    settings = replace(secured.settings("alice"), impersonation=True, delegation_token_ttl=0.0)
    with closing(secured.open(settings)) as metastore:
        for user in ("ernst", "frida", "ernst"):
            metastore.as_user(user).reads.get_databases()
        reads = metastore.as_user("ernst").reads
        assert reads.get_databases() == ["default"]


def _write_token_file(jars: Path, text: str, file: Path, kind: str) -> None:
    """Has Hadoop's own ``dtutil`` write it."""
    classes = f"{jars}/*:{jars}/{RELEASE.home}/lib/*"
    command = ["java", "-cp", classes, "org.apache.hadoop.security.token.DtUtilShell"]
    done = subprocess.run(
        [*command, "import", text, "-alias", "metastore", "-format", kind, str(file)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert file.exists(), done.stdout + done.stderr
