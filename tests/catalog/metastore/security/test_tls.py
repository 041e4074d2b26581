"""TLS with keys and certificates that Java's keytool made, against Python's own server side."""

from __future__ import annotations

import socket
import ssl
import subprocess
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12

from catalog.metastore.security.errors import AuthenticationError, SecureChannelError
from catalog.metastore.security.key_stores import read_key_store
from catalog.metastore.security.settings import SecuritySettings, Verification
from catalog.metastore.security.sockets import is_quiet
from catalog.metastore.security.tls import secured, tls_context
from tests.catalog.metastore.security.listening import listening
from tests.catalog.metastore.security.stores import PASSWORD, Stores, make_stores


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    return make_stores(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def client_stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    return make_stores(tmp_path_factory.mktemp("client"), "client", "EC")


def pem(stores: Stores, password: str = "") -> Path:
    """Key and certificate of a store, as another library reads it."""
    key, certificate, _ = pkcs12.load_key_and_certificates(stores.keys("PKCS12").read_bytes(), PASSWORD.encode())
    assert key is not None
    assert certificate is not None
    hiding: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password:
        hiding = serialization.BestAvailableEncryption(password.encode())
    path = stores.folder / f"key{len(password)}.pem"
    text = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hiding)
    path.write_bytes(text + certificate.public_bytes(serialization.Encoding.PEM))
    return path


def server(stores: Stores, clients: Stores | None = None) -> AbstractContextManager[int]:
    """Sends the client's name, or ``nobody``, to each who comes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem(stores))
    # Later versions tell a client of its missing certificate with the first read only.
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients.certificate)

    def say_the_name(handle: socket.socket) -> None:
        with context.wrap_socket(handle, server_side=True) as talk:
            peer = talk.getpeercert() or {}
            talk.sendall(str(peer.get("subject", "nobody")).encode())

    return listening(say_the_name)


def talk(port: int, settings: SecuritySettings, host: str = "localhost") -> str:
    with (
        closing(socket.create_connection(("127.0.0.1", port), 10)) as bare,
        closing(secured(bare, host, settings)) as ours,
    ):
        return ours.recv(1000).decode()


def trusting(path: Path, password: str = "") -> SecuritySettings:
    return SecuritySettings(tls=True, tls_trust=str(path), tls_trust_password=password)


@pytest.mark.slow
def test_trust(stores: Stores) -> None:
    with server(stores) as port:
        assert talk(port, trusting(stores.certificate)) == "nobody"
        for kind in ("JKS", "PKCS12"):
            assert talk(port, trusting(stores.trust(kind), PASSWORD)) == "nobody"
            # Java trusts the certificates of a store's own keys, too.
            assert talk(port, trusting(stores.keys(kind), PASSWORD)) == "nobody"
        assert talk(port, trusting(stores.trust("JKS"))) == "nobody"
        assert talk(port, SecuritySettings(tls=True, tls_verification=Verification.NONE)) == "nobody"


@pytest.mark.slow
def test_distrust(stores: Stores, client_stores: Stores) -> None:
    with server(stores) as port:
        for settings in (SecuritySettings(tls=True), trusting(client_stores.certificate)):
            with pytest.raises(AuthenticationError, match="trust-certificate"):
                talk(port, settings)
        good = trusting(stores.certificate)
        with pytest.raises(AuthenticationError, match="elsewhere"):
            talk(port, good, "elsewhere")
        assert talk(port, replace(good, tls_verification=Verification.CA), "elsewhere") == "nobody"


@pytest.mark.slow
def test_our_own_key(stores: Stores, client_stores: Stores) -> None:
    with server(stores, client_stores) as port:
        good = trusting(stores.certificate)
        for path, password in (
            (pem(client_stores), ""),
            (pem(client_stores, "of-the-pem"), "of-the-pem"),
            (client_stores.keys("JKS"), PASSWORD),
            (client_stores.keys("PKCS12"), PASSWORD),
        ):
            assert "client" in talk(port, replace(good, tls_key=str(path), tls_key_password=password))
        with pytest.raises(AuthenticationError, match=r"ssl\.key"):
            talk(port, good)


@pytest.mark.slow
def test_wrong_passwords_and_files(stores: Stores, client_stores: Stores, tmp_path: Path) -> None:
    hidden = pem(client_stores, "of-the-pem")
    wrong = "planted-wrong"
    for settings in (
        trusting(stores.trust("JKS"), wrong),
        trusting(stores.trust("PKCS12"), wrong),
        trusting(stores.trust("JCEKS"), PASSWORD),
        trusting(tmp_path / "nothing"),
        replace(trusting(stores.certificate), tls_key=str(hidden), tls_key_password=wrong),
        replace(trusting(stores.certificate), tls_key=str(hidden)),
        replace(trusting(stores.certificate), tls_key=str(client_stores.keys("JKS")), tls_key_password=wrong),
        replace(trusting(stores.certificate), tls_key=str(client_stores.trust("JKS")), tls_key_password=PASSWORD),
    ):
        with pytest.raises(AuthenticationError) as caught:
            tls_context(settings)
        assert wrong not in str(caught.value)
        assert "of-the-pem" not in repr(settings)


@pytest.mark.filterwarnings("ignore:PKCS#12 bundle could not be parsed as DER")
def test_damaged_stores_are_refused(stores: Stores) -> None:
    for kind in ("JKS", "PKCS12"):
        path = stores.keys(kind)
        data = path.read_bytes()
        whole = read_key_store(path, data, PASSWORD, with_keys=True)
        for size in (1, 4, 12, 40, len(data) // 2, len(data) - 1):
            with pytest.raises(AuthenticationError):
                read_key_store(path, data[:size].ljust(2, b"\x30"), PASSWORD, with_keys=True)
        for position in range(0, len(data), 197):
            changed = data[:position] + bytes([data[position] ^ 0x55]) + data[position + 1 :]
            # Bytes that say nothing may change; what is read never does.
            with suppress(AuthenticationError):
                assert read_key_store(path, changed, PASSWORD, with_keys=True) == whole


def test_the_key_of_a_jks_store_is_the_one_that_openssl_reads(client_stores: Stores) -> None:
    path = client_stores.keys("JKS")
    found = read_key_store(path, path.read_bytes(), PASSWORD, with_keys=True).keys
    key = serialization.load_der_private_key(found[0].pkcs8, None)
    der = serialization.Encoding.DER
    public = key.public_key().public_bytes(der, serialization.PublicFormat.SubjectPublicKeyInfo)
    by_openssl = subprocess.run(
        ["openssl", "x509", "-in", client_stores.certificate, "-noout", "-pubkey"], capture_output=True, check=True
    ).stdout
    expected = serialization.load_pem_public_key(by_openssl)
    assert public == expected.public_bytes(der, serialization.PublicFormat.SubjectPublicKeyInfo)


def test_a_server_without_tls() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(b"\0\0\0\5hello, this is not TLS")
        with closing(ours), pytest.raises(SecureChannelError, match="TLS"):
            secured(ours, "localhost", SecuritySettings(tls_verification=Verification.NONE))


def test_whether_the_other_side_has_hung_up() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(5)
        assert is_quiet(ours)
        assert ours.gettimeout() == 5
        theirs.close()
        assert not is_quiet(ours)
    assert not is_quiet(ours)
