"""Hive 4.0.1 with its own ways to secure a metastore: passwords, TLS, HTTP, tokens of OAuth."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from catalog.metastore import error_codes
from catalog.metastore.security.settings import Authentication, HttpAuthentication, SecuritySettings, Verification
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from connector_spi.errors import MetastoreError
from tests.catalog.metastore.security.stores import PASSWORD, Stores, make_stores
from tests.hms import HiveMetastoreServer
from tests.integration.servers import RELEASES, running_release

RELEASE = next(release for release in RELEASES if release.version == "4.0.1")
USER, SECRET = "bob", "s3cret of bob"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    return make_stores(tmp_path_factory.mktemp("stores"))


@pytest.fixture(scope="module")
def with_password_and_tls(
    metastore_jars: Path, stores: Stores, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HiveMetastoreServer]:
    settings = {
        "metastore.authentication": "CONFIG",
        "metastore.authentication.config.username": USER,
        "metastore.authentication.config.password": SECRET,
        "metastore.execute.setugi": "false",
        "metastore.use.SSL": "true",
        "metastore.keystore.path": str(stores.keys("JKS")),
        "metastore.keystore.password": PASSWORD,
    }
    with running_release(RELEASE, metastore_jars, tmp_path_factory.mktemp("plain") / "run", settings) as server:
        yield server


def ask(uri: str, security: SecuritySettings, username: str = "") -> list[str]:
    """The databases of a metastore, asked for once."""
    config = ThriftConfig(uri=uri, username=username, max_retries=0, security=security)
    with closing(connect_thrift(config)) as metastore:
        return metastore.reads.get_databases()


def refusal(uri: str, security: SecuritySettings, username: str = "") -> MetastoreError:
    """The error of a metastore that cannot be asked."""
    with pytest.raises(MetastoreError) as caught:
        ask(uri, security, username)
    assert SECRET not in str(caught.value)
    return caught.value


def test_password_over_tls(with_password_and_tls: HiveMetastoreServer, stores: Stores) -> None:
    uri = f"thrift://localhost:{with_password_and_tls.port}"
    untrusting = SecuritySettings(authentication=Authentication.PLAIN, password=SECRET, tls=True)
    good = replace(untrusting, tls_trust=str(stores.certificate))
    assert ask(uri, good, USER) == ["default"]
    for kind in ("JKS", "PKCS12"):
        store = replace(good, tls_trust=str(stores.trust(kind)), tls_trust_password=PASSWORD)
        assert ask(uri, store, USER) == ["default"]
    assert ask(uri, replace(untrusting, tls_verification=Verification.NONE), USER) == ["default"]

    wrong = refusal(uri, replace(good, password="another"), USER)
    assert wrong.code == error_codes.AUTHENTICATION_FAILED
    assert "Error validating the login" in str(wrong)
    no_sasl = refusal(uri, replace(good, authentication=Authentication.NONE), USER)
    assert no_sasl.code == error_codes.CONNECTION_FAILED
    no_tls = refusal(uri, replace(good, tls=False), USER)
    assert no_tls.code in (error_codes.CONNECTION_FAILED, error_codes.TIMED_OUT)
    untrusted = refusal(uri, untrusting, USER)
    assert untrusted.code == error_codes.AUTHENTICATION_FAILED
    assert "trust-certificate" in str(untrusted)


def test_another_servers_certificate(
    with_password_and_tls: HiveMetastoreServer, tmp_path: Path, stores: Stores
) -> None:
    uri = f"thrift://localhost:{with_password_and_tls.port}"
    other = make_stores(tmp_path / "other")
    error = refusal(uri, SecuritySettings(tls=True, tls_trust=str(other.certificate)))
    assert error.code == error_codes.AUTHENTICATION_FAILED


def test_http(metastore_jars: Path, tmp_path: Path) -> None:
    settings = {"metastore.server.thrift.transport.mode": "http"}
    with running_release(RELEASE, metastore_jars, tmp_path / "run", settings) as server:
        uri = f"http://127.0.0.1:{server.port}/metastore"
        assert ask(uri, SecuritySettings(), "dora") == ["default"]
        config = ThriftConfig(uri=uri, username="dora", security=SecuritySettings(impersonation=True))
        with closing(connect_thrift(config)) as metastore:
            for user in ("emil", "fritz"):
                assert metastore.as_user(user).reads.get_table_names("default") == []
            # One connection serves many requests.
            assert all(metastore.reads.get_database("default") for _ in range(20))
        wrong_path = refusal(f"http://127.0.0.1:{server.port}/elsewhere", SecuritySettings())
        assert "hive.metastore.uri" in str(wrong_path)
        not_http = refusal(f"thrift://127.0.0.1:{server.port}", SecuritySettings())
        assert not_http.code == error_codes.CONNECTION_FAILED


def test_jwt_over_https(metastore_jars: Path, tmp_path: Path, stores: Stores) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    with _key_server(key) as jwks:
        settings = {
            "metastore.server.thrift.transport.mode": "http",
            "metastore.authentication": "JWT",
            "metastore.authentication.jwt.jwks.url": jwks,
            "metastore.use.SSL": "true",
            "metastore.keystore.path": str(stores.keys("JKS")),
            "metastore.keystore.password": PASSWORD,
            "metastore.keystore.type": "JKS",
            "metastore.keymanagerfactory.algorithm": "SunX509",
        }
        with running_release(RELEASE, metastore_jars, tmp_path / "run", settings) as server:
            uri = f"https://localhost:{server.port}/metastore"
            good = _jwt(key, "greta", 600)
            trust = SecuritySettings(tls_trust=str(stores.certificate), http_authentication=HttpAuthentication.BEARER)
            assert ask(uri, replace(trust, bearer_token=good)) == ["default"]
            file = tmp_path / "token"
            file.write_text(good + "\n")
            assert ask(uri, replace(trust, bearer_token_file=str(file))) == ["default"]
            others = _jwt(rsa.generate_private_key(public_exponent=65537, key_size=2048), "greta", 600)
            for token in (others, _jwt(key, "greta", -600)):
                error = refusal(uri, replace(trust, bearer_token=token))
                assert error.code == error_codes.AUTHENTICATION_FAILED
                assert token not in str(error)
            none = refusal(uri, SecuritySettings(tls_trust=str(stores.certificate)))
            assert none.code == error_codes.AUTHENTICATION_FAILED


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _jwt(key: rsa.RSAPrivateKey, subject: str, seconds: int) -> str:
    now = int(time.time())
    head = {"alg": "RS256", "typ": "JWT", "kid": "one"}
    claims = {"sub": subject, "iat": now - 1000, "exp": now + seconds, "iss": "tests"}
    body = ".".join(_encoded(json.dumps(part).encode()) for part in (head, claims))
    return f"{body}.{_encoded(key.sign(body.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


@contextmanager
def _key_server(key: rsa.RSAPrivateKey) -> Iterator[str]:
    numbers = key.public_key().public_numbers()
    public = {"kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256"}
    for name, number in (("n", numbers.n), ("e", numbers.e)):
        public[name] = _encoded(number.to_bytes((number.bit_length() + 7) // 8, "big"))
    body = json.dumps({"keys": [public]}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the base class calls it so
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class calls it so
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/jwks"
        finally:
            server.shutdown()
            thread.join()
