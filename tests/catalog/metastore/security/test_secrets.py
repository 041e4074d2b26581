"""No secret of a catalog's security shows up in an error, a log, a warning or a representation."""

from __future__ import annotations

import logging
import socket
import traceback
from collections.abc import Mapping
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from catalog.metastore.kinds import metastore_kinds
from catalog.metastore.security.properties import SECURITY_PROPERTIES
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift, thrift_config
from connector_spi.errors import ConnectorError
from connector_spi.properties import parse_properties
from tests.catalog.metastore.security.listening import listening

MARK = "PLANTED"
SECRETS = {
    "hive.metastore.password": f"{MARK}-password",
    "hive.metastore.client.delegation-token": f"{MARK}-token",
    "hive.metastore.thrift.client.ssl.key-password": f"{MARK}-key-password",
    "hive.metastore.thrift.client.ssl.trust-certificate-password": f"{MARK}-trust-password",
    "hive.metastore.http.client.auth.basic.password": f"{MARK}-basic",
    "hive.metastore.http.client.bearer-token": f"{MARK}-bearer",
    "hive.metastore.http.client.additional-headers": f"x-secret:{MARK}-header",
}
TOKEN = "AARQTEFOVEVEBFBMQU5URUQVSElWRV9ERUxFR0FUSU9OX1RPS0VOAA"
KINDS: Mapping[str, Mapping[str, str]] = {
    "none": {},
    "plain": {"hive.metastore.authentication.type": "PLAIN"},
    "token": {"hive.metastore.authentication.type": "TOKEN"},
    "bad headers": {"hive.metastore.http.client.additional-headers": f"{MARK} no colon"},
    "kerberos": {"hive.metastore.authentication.type": "KERBEROS", "hive.metastore.service.principal": "hive/_HOST@R"},
    "tls": {"hive.metastore.thrift.client.ssl.enabled": "true"},
    "basic": {
        "hive.metastore.http.client.authentication.type": "BASIC",
        "hive.metastore.http.client.auth.basic.username": "u",
    },
    "bearer": {"hive.metastore.http.client.authentication.type": "BEARER"},
}


def server(answer: bytes) -> AbstractContextManager[int]:
    """Says the same to whoever comes, and hangs up."""

    def talk(handle: socket.socket) -> None:
        said = handle.recv(65536)
        # What is sent back may hold the secrets.
        handle.sendall(answer or said)

    return listening(talk)


def shown(error: BaseException) -> str:
    """All that anybody prints of an error."""
    chain = [error]
    while (inner := chain[-1].__cause__ or chain[-1].__context__) is not None:
        chain.append(inner)
    return "".join(traceback.format_exception(error)) + "".join(f"{one!r}{one}{one.args}" for one in chain)


def test_every_property_that_holds_a_secret_is_known_as_one() -> None:
    secret = {prop.name for prop in SECURITY_PROPERTIES if prop.sensitive}
    assert secret == set(SECRETS)
    assert all(
        prop.sensitive for prop in metastore_kinds().properties if prop.name.endswith(("password", "-token", "headers"))
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "answer",
    [b"", b"\0\0\0\5hello", b"\5\0\0\0\0", b"\3\0\0\0\2no", b"HTTP/1.1 401 No\r\n\r\n", b"HTTP/1.1 500 No\r\n\r\n"],
)
def test_failures(
    kind: str, answer: bytes, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    scheme = "http" if kind in ("basic", "bearer") else "thrift"
    texts: list[str] = []
    with server(answer) as port:
        given = {
            "hive.metastore.uri": f"{scheme}://127.0.0.1:{port}",
            "hive.metastore.username": "me",
            "hive.metastore.thrift.client.max-retries": "0",
            "hive.metastore.thrift.client.connect-timeout": "2s",
            "hive.metastore.thrift.client.read-timeout": "2s",
            **SECRETS,
            **KINDS[kind],
        }
        for token in (SECRETS["hive.metastore.client.delegation-token"], TOKEN):
            try:
                values = parse_properties(
                    metastore_kinds().properties,
                    {**given, "hive.metastore.client.delegation-token": token},
                    lambda name: f"a.properties: {name}",
                )
                config = thrift_config(values)
                texts += [repr(values), repr(config), str(config), repr(config.security)]
                with closing(connect_thrift(config)) as metastore:
                    texts += [repr(metastore), metastore.description]
                    metastore.reads.get_databases()
            except ConnectorError as error:
                texts.append(shown(error))
            else:
                pytest.fail("that should not have worked")
    texts += [record.getMessage() for record in caplog.records]
    texts += capfd.readouterr()
    everything = "\n".join(texts)
    for secret in (*SECRETS.values(), MARK, TOKEN, "UExBTlRFR", "UExBTlRFRA"):
        assert secret not in everything


def test_stores_with_wrong_passwords(tmp_path: Path) -> None:
    store = tmp_path / "store"
    for content in (b"\xfe\xed\xfe\xed\0\0\0\2\0\0\0\0" + b"x" * 20, b"\x30\x82\0\0", b"-----BEGIN CERTIFICATE-----\n"):
        store.write_bytes(content)
        given = {
            "hive.metastore.thrift.client.ssl.enabled": "true",
            "hive.metastore.thrift.client.ssl.trust-certificate": str(store),
            "hive.metastore.thrift.client.ssl.key": str(store),
            "hive.metastore.thrift.client.ssl.trust-certificate-password": f"{MARK}-1",
            "hive.metastore.thrift.client.ssl.key-password": f"{MARK}-2",
            "hive.metastore.thrift.client.max-retries": "0",
        }
        with server(b"") as port:
            given["hive.metastore.uri"] = f"thrift://127.0.0.1:{port}"
            config = thrift_config(parse_properties(metastore_kinds().properties, given, lambda name: name))
            with closing(connect_thrift(config)) as metastore, pytest.raises(ConnectorError) as caught:
                metastore.reads.get_databases()
        assert MARK not in shown(caught.value)
        assert str(store) in str(caught.value)


def test_another_catalog_of_the_same_metastore_gets_all_of_it() -> None:
    given = {
        "hive.metastore.uri": "thrift://h:1",
        "hive.metastore.authentication.type": "plain",
        "hive.metastore.client.sasl.qop": "auth-conf, auth",
        "hive.metastore.thrift.delegation-token.cache-ttl": "5m",
        "hive.metastore.thrift.impersonation.enabled": "true",
        **SECRETS,
        "hive.metastore.http.client.additional-headers": r"a:b\,c\:d,e:f:g",
    }
    values = parse_properties(metastore_kinds().properties, given, str)
    config = thrift_config(values)
    assert config.security.http_headers == (("a", "b,c:d"), ("e", "f:g"))
    again = thrift_config(
        parse_properties(metastore_kinds().properties, dict(values.texts(metastore_kinds().properties)), str)
    )
    assert again == config
    assert ThriftConfig(uri="thrift://h:1").security != config.security
