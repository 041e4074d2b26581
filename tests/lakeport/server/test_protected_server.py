"""A server with passwords, a token and TLS, as its clients see it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tests.lakeport.server.clients import Client, RunningServer, running_server
from tests.lakeport.server.test_password_file import BCRYPT, SHA1
from tests.lakeport.server.test_web_tokens import HMAC_KEY, claims, hs256
from tests.paths import PROJECT

pytestmark = pytest.mark.slow


TOKEN = "a-token-of-some-length"
OTHER_TOKEN = "another-token-of-some-length"
STORE_PASSWORD = "what-the-store-has"


@dataclass(frozen=True)
class Protected:
    """A server, and its secrets."""

    server: RunningServer
    passwords: Path
    jdbc: str


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Protected]:
    folder = tmp_path_factory.mktemp("protected")
    passwords, token, store, word = (folder / name for name in ("passwords", "token", "keys.p12", "word"))
    passwords.write_text(f"alice:{SHA1}\nbob:{BCRYPT}\nalice@other:{SHA1}\nbob/x:{SHA1}\n", "utf-8")
    token.write_text(f"carol:{TOKEN}\ndave:{OTHER_TOKEN}\n", "utf-8")
    word.write_text(STORE_PASSWORD, "utf-8")
    _make_key(store)
    (folder / "secret").write_text(HMAC_KEY, "utf-8")
    jwt = folder / "jwt.properties"
    jwt.write_text("http-server.authentication.jwt.key-file=secret\n", "utf-8")
    options = {"password-file": passwords, "connect-user-tokens": token, "keystore": store, "jwt": jwt}
    given = [text for name, path in options.items() for text in (f"--{name}", str(path))]
    with running_server(folder, *given, "--keystore-password-file", str(word)) as running:
        trust = f";sslTrustStore={store};trustStorePassword={STORE_PASSWORD}"
        yield Protected(running, passwords, running.url + trust)


def _make_key(store: Path) -> None:
    keytool = shutil.which("keytool")
    if keytool is None:
        pytest.skip("the Java here has no keytool")
    options = ["-genkeypair", "-alias", "server", "-keyalg", "EC", "-dname", "CN=localhost", "-ext", "san=ip:127.0.0.1"]
    where = ["-keystore", str(store), "-storetype", "PKCS12", "-storepass", STORE_PASSWORD]
    subprocess.run([keytool, *options, *where], check=True, capture_output=True)


def refusal(spark: SparkSession, url: str, user: str, password: str) -> str:
    """What the driver says of a connection that it does not get."""
    with pytest.raises(Py4JJavaError) as met:
        Client(spark, url, user, password)
    return str(met.value.java_exception)


def test_a_user_with_a_password_comes_in(spark: SparkSession, protected: Protected) -> None:
    for user, password in (("alice", "password"), ("bob", "user123")):
        client = Client(spark, protected.jdbc, user, password)
        assert client.rows("SELECT current_user(), count(*) FROM hive.sales.labels WHERE id < 3") == [(user, "2")]
        client.java.close()


@pytest.mark.parametrize(
    ("user", "password"),
    [
        ("alice", "user123"),
        ("carol", "password"),
        ("alice", ""),
        # Hive would take them for alice and bob.
        ("alice@other", "password"),
        ("bob/x", "password"),
    ],
)
def test_others_do_not(spark: SparkSession, protected: Protected, user: str, password: str) -> None:
    said = refusal(spark, protected.jdbc, user, password)
    assert "Error validating the login" in said or "user or password is wrong" in said
    assert "user123" not in protected.server.log.read_text("utf-8")


def test_a_user_is_no_other(spark: SparkSession, protected: Protected) -> None:
    assert "substitution is not allowed" in refusal(
        spark, protected.jdbc + ";hive.server2.proxy.user=bob", "alice", "password"
    )


def test_a_client_without_tls_gets_nothing(spark: SparkSession, protected: Protected) -> None:
    assert "Could not open client transport" in refusal(
        spark, protected.server.url.partition("/;")[0], "alice", "password"
    )


def test_secrets_are_in_no_setting_that_clients_see(spark: SparkSession, protected: Protected) -> None:
    client = Client(spark, protected.jdbc, "alice", "password")
    seen = str(client.rows("SET -v")) + str(client.rows("SET hive.server2.keystore.password"))
    command = Path(f"/proc/{protected.server.process.pid}/cmdline").read_text("utf-8")
    for word in (TOKEN, STORE_PASSWORD, HMAC_KEY):
        assert word not in seen + command + protected.server.log.read_text("utf-8")
    client.java.close()


ASK = """
import os, sys
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
try:
    session = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
    print(session.sql("SELECT current_user()").head()[0], flush=True)
except PySparkException as error:
    print(error, flush=True)
os._exit(0)
"""


@pytest.mark.spark
@pytest.mark.parametrize(
    ("suffix", "answer"),
    [
        (f";token={TOKEN}", "carol"),
        (f";token={OTHER_TOKEN}", "the token is not that of user 'carol'"),
        (f";token={TOKEN}x", "Invalid or no authentication token"),
        (";token=" + hs256(claims(sub="carol")), "carol"),
        (";token=" + hs256(claims(sub="dave")), "the token is not that of user 'carol'"),
        (";token=" + hs256(claims(sub="carol", exp=1)), "Invalid or no authentication token"),
    ],
    ids=["own", "another's", "none", "signed", "another's signed", "expired"],
)
def test_spark_connect_by_its_token(protected: Protected, suffix: str, answer: str) -> None:
    assert answer in asked(f"{protected.server.connect_url}/;user_id=carol{suffix}")


def asked(url: str) -> str:
    """What a client of Spark Connect prints."""
    command = [sys.executable, "-c", ASK, url]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=200, check=False)
    assert done.stdout, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.spark
def test_a_token_that_clients_have_in_common(tmp_path: Path) -> None:
    passwords, token = tmp_path / "passwords", tmp_path / "token"
    passwords.write_text(f"alice:{SHA1}\n", "utf-8")
    token.write_text(TOKEN + "\n", "utf-8")
    with running_server(tmp_path, "--password-file", str(passwords), "--connect-token-file", str(token)) as server:
        assert asked(f"{server.connect_url}/;user_id=erin;token={TOKEN}").strip() == "erin"
        assert "Invalid authentication token" in asked(f"{server.connect_url}/;user_id=erin;token={OTHER_TOKEN}")
