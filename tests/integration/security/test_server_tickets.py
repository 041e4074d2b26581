"""Tickets of a real Kerberos at a server: beeline shows them, and is their user."""

from __future__ import annotations

import getpass
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.beeline import beeline
from tests.integration.security.kdc import REALM, Kdc, running_kdc, why_no_kdc
from tests.lakeport.server.clients import RunningServer, running_server

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_RULES = {
    "tables": [
        {"user": getpass.getuser(), "privileges": ["SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP"]},
        {"user": "alice", "table": "labels", "privileges": ["SELECT"], "filter": "id < 2"},
        {"user": "bob-boss", "table": "labels", "privileges": ["SELECT"]},
    ],
    "procedures": [{"user": getpass.getuser(), "privileges": ["EXECUTE"]}],
    "impersonation": [{"original_user": "bob-boss", "new_user": "alice"}],
}
_TO_LOCAL = f"RULE:[2:$1-$2@$0](.*-admin@{REALM})s/-admin@.*/-boss/ DEFAULT"
_QUERY = "SELECT concat_ws(' ', current_user(), collect_list(id)) FROM hive.sales.labels WHERE id < 3"


@dataclass(frozen=True, slots=True)
class Tickets:
    """A server that wants tickets.

    Attributes:
        kdc: Who gives them.
        server: The server.
        folder: For clients.
    """

    kdc: Kdc
    server: RunningServer
    folder: Path

    def asks(self, principal: str, more: str = "") -> str:
        """What beeline prints for a user with a ticket."""
        name = principal.replace("/", "_")
        cache, keytab = self.folder / f"{name}.tickets", self.kdc.folder / f"{name}.keytab"
        subprocess.run(["kinit", "-c", str(cache), "-k", "-t", str(keytab), principal], check=True)
        url = self.server.url.replace("127.0.0.1", "localhost") + more
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KRB5CCNAME", str(cache))
            given = {"java.security.krb5.conf": str(self.kdc.config)}
            return beeline(self.folder, url, [_QUERY], java=given)


@pytest.fixture(scope="module")
def tickets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tickets]:
    reason = why_no_kdc()
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("tickets")
    rules, tokens = folder / "rules.json", folder / "tokens"
    rules.write_text(json.dumps(_RULES), "utf-8")
    tokens.write_text("carol:a-token-of-some-length\n", "utf-8")
    (folder / "core-site.xml").write_text(
        "<configuration><property><name>hadoop.security.authentication</name><value>kerberos</value></property>"
        "</configuration>"
    )
    (folder / "warehouse").mkdir()
    (folder / "warehouse" / "access-control.properties").write_text(
        f"access-control.name=file\nsecurity.config-file={rules}\n", "utf-8"
    )
    with running_kdc(folder / "kdc") as kdc, pytest.MonkeyPatch.context() as patch:
        patch.setenv("KRB5_CONFIG", str(kdc.config))
        patch.delenv("KRB5CCNAME", raising=False)
        service = kdc.add("hive/localhost")
        for name in ("alice", "bob/admin"):
            kdc.add(name)
        given = ["--kerberos-principal", f"hive/localhost@{REALM}", "--kerberos-keytab", str(service)]
        rule = ["--session", f"spark.hadoop.hadoop.security.auth_to_local={_TO_LOCAL}"]
        with running_server(folder, *given, *rule, "--connect-user-tokens", str(tokens)) as server:
            yield Tickets(kdc, server, folder)


def test_a_ticket_is_its_user(tickets: Tickets) -> None:
    assert f"/;principal=hive/localhost@{REALM}" in tickets.server.url
    assert "alice 1\n" in tickets.asks("alice")
    assert "bob-boss 1 2\n" in tickets.asks("bob/admin")


def test_passwords_do_not_count(tickets: Tickets) -> None:
    plain = beeline(tickets.folder, tickets.server.url.partition("/;")[0], [_QUERY], ["-n", "alice", "-p", "x"])
    assert "Unsupported mechanism type PLAIN" in plain


def test_a_user_is_no_other_and_is_not_overheard(tickets: Tickets) -> None:
    refusal = "Failed to validate proxy privilege of alice for bob-boss"
    assert refusal in tickets.asks("alice", ";hive.server2.proxy.user=bob-boss")
    assert "alice 1\n" in tickets.asks("bob/admin", ";hive.server2.proxy.user=alice")
    assert "No common protection layer" in tickets.asks("alice", ";saslQop=auth")
