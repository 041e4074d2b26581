"""A server with passwords, a token and TLS, as its clients see it."""

from __future__ import annotations

import getpass
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tests.hms import HiveMetastoreServer
from tests.lakeport.server.authentication.test_password_file import BCRYPT, SHA1
from tests.lakeport.server.authentication.test_web_tokens import HMAC_KEY, claims, hs256
from tests.lakeport.server.clients import Client, RunningServer, read, running_server
from tests.paths import PROJECT

pytestmark = pytest.mark.slow


TOKEN = "a-token-of-some-length"
OTHER_TOKEN = "another-token-of-some-length"
STORE_PASSWORD = "what-the-store-has"
_RULES = {
    "procedures": [{"user": getpass.getuser(), "privileges": ["EXECUTE"]}],
    "impersonation": [
        {"original_user": "alice", "new_user": "greta|system_.*"},
        {"original_user": "carol", "new_user": "erin"},
    ],
}


@dataclass(frozen=True)
class Protected:
    """A server and its secrets; its catalog ``far`` asks a metastore as each user."""

    server: RunningServer
    passwords: Path
    jdbc: str
    metastore: HiveMetastoreServer


@pytest.fixture(scope="module")
def protected(
    tmp_path_factory: pytest.TempPathFactory, hive_metastore_server: HiveMetastoreServer
) -> Iterator[Protected]:
    folder = tmp_path_factory.mktemp("protected")
    _configure(folder, hive_metastore_server)
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
        yield Protected(running, passwords, running.url + trust, hive_metastore_server)


def _configure(folder: Path, metastore: HiveMetastoreServer) -> None:
    """Rules about who may act as whom, and a catalog of a metastore that is asked as each user."""
    catalogs, rules = folder / "warehouse" / "catalogs", folder / "rules.json"
    catalogs.mkdir(parents=True)
    rules.write_text(json.dumps(_RULES), "utf-8")
    (folder / "warehouse" / "access-control.properties").write_text(
        f"access-control.name=file\nsecurity.config-file={rules}\n", "utf-8"
    )
    (catalogs / "far.properties").write_text(
        f"connector.name=hive\nhive.metastore.uri={metastore.uri}\nhive.metastore.thrift.impersonation.enabled=true\n",
        "utf-8",
    )


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


def test_others_come_in_after_a_call_in_the_same_thread(spark: SparkSession, protected: Protected) -> None:
    """What tools ask about functions and types runs in the thread of the connection, which serves the next one."""
    for _ in range(3):
        client = Client(spark, protected.jdbc, "alice", "password")
        assert read(client.java.getMetaData().getFunctions(None, None, "upp%"))
        assert read(client.java.getMetaData().getTypeInfo())
        client.java.close()


def test_a_signed_token_is_a_password_of_its_user(spark: SparkSession, protected: Protected) -> None:
    others = [
        ("alice", hs256(claims(sub="frank"))),
        ("frank", hs256(claims(sub="frank", exp=1))),
        ("frank", hs256(claims(sub="frank")) + "x"),
        # Hive would take it for frank.
        ("frank@other", hs256(claims(sub="frank@other"))),
    ]
    for user, token in others * 3:
        assert "Error validating the login" in refusal(spark, protected.jdbc, user, token)
    for user, password in (("frank", hs256(claims(sub="frank"))), ("alice", "password")):
        client = Client(spark, protected.jdbc, user, password)
        assert client.rows("SELECT current_user()") == [(user,)]
        client.java.close()


@pytest.mark.parametrize(
    ("user", "password", "other", "words"),
    [
        ("alice", "password", "bob", "Failed to validate proxy privilege of alice for bob"),
        ("bob", "user123", "greta", "Failed to validate proxy privilege of bob for greta"),
        # Hive takes it for herself, and rules know no such user.
        ("alice", "password", "ALICE", "User alice cannot impersonate user ALICE"),
    ],
)
def test_a_user_is_no_other(
    spark: SparkSession, protected: Protected, user: str, password: str, other: str, words: str
) -> None:
    assert words in refusal(spark, f"{protected.jdbc};hive.server2.proxy.user={other}", user, password)


def test_users_reach_a_metastore_under_their_names(spark: SparkSession, protected: Protected, tmp_path: Path) -> None:
    """Those of passwords, those whom rules let them act as, and the ``USE`` in a URL of JDBC."""
    log = protected.metastore.log
    if log is None:
        pytest.skip("this metastore's log is elsewhere")
    name, url = f"db_{uuid4().hex[:12]}", protected.jdbc
    alice, bob = Client(spark, url, "alice", "password"), Client(spark, url, "bob", "user123")
    alice.rows(f"CREATE SCHEMA far.{name} LOCATION '{tmp_path}'")
    assert bob.rows(f"SHOW TABLES IN far.{name}") == []
    greta = Client(spark, url.replace("/;", f"/far.{name};") + ";hive.server2.proxy.user=greta", "alice", "password")
    assert greta.rows("SELECT current_user(), current_catalog()") == [("greta", "far")]
    as_erin = f"{protected.server.connect_url}/;user_id=erin;token={TOKEN}"
    assert "erin" in asked(as_erin, f"DROP SCHEMA far.{name}", "SELECT current_user()")
    told = set(re.findall(rf"ugi=(\S+)\s.*{name}", log.read_text("utf-8")))
    assert told == {"alice", "bob", "greta", "erin"}
    for client in (alice, bob, greta):
        client.java.close()


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
    for text in sys.argv[2:]:
        rows = session.sql(text).collect()
    print(rows[0][0], flush=True)
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


def asked(url: str, *statements: str) -> str:
    """What a client of Spark Connect prints of its last statement."""
    command = [sys.executable, "-c", ASK, url, *(statements or ("SELECT current_user()",))]
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
