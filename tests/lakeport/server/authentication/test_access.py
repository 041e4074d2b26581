"""No way into a server is left open beside the ones that are closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from lakeport.server.authentication.access import Access, KeyStore, check_settings, secret, user_tokens
from lakeport.server.authentication.kerberos import KerberosSettings, kerberos_settings
from lakeport.server.authentication.password_file import PasswordFile
from lakeport.server.authentication.web_tokens import JwtSettings
from lakeport.shell.main import main
from tests.lakeport.server.authentication.test_password_file import SHA1

TOKEN = "a token of some length"


@pytest.fixture
def passwords(tmp_path: Path) -> Path:
    path = tmp_path / "passwords"
    path.write_text(f"alice:{SHA1}\n", "utf-8")
    return path


def test_both_ways_in_have_authentication_or_none(passwords: Path) -> None:
    for given in (Access(PasswordFile(passwords), TOKEN), Access()):
        assert not given.is_for_other_machines
        assert TOKEN not in repr(given)
    with pytest.raises(NotSupportedError, match="expected --connect-token-file"):
        Access(PasswordFile(passwords))
    with pytest.raises(NotSupportedError, match="expected --password-file"):
        Access(connect_token=TOKEN)
    with pytest.raises(InvalidArgumentError, match="has 5 characters; expected 16"):
        Access(PasswordFile(passwords), "short")


def test_tokens_of_users(passwords: Path, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"alice:{TOKEN}\n\nbob:{TOKEN} too\n", "utf-8")
    tokens = user_tokens(path)
    assert tokens == {TOKEN: "alice", TOKEN + " too": "bob"}
    assert TOKEN not in repr(Access(PasswordFile(passwords), user_tokens=tokens))
    with pytest.raises(NotSupportedError, match="a token of all and tokens of users"):
        Access(PasswordFile(passwords), TOKEN, user_tokens=tokens)
    with pytest.raises(NotSupportedError, match="expected --password-file"):
        Access(user_tokens=tokens)
    for text, words in (
        (f"alice:{TOKEN}\nbob:{TOKEN}", "line 2 of .*: expected user:token, each token once"),
        (TOKEN, "line 1 of .*: expected user:token"),
        ("alice:short", "the token in line 1 of .* has 5 characters"),
    ):
        path.write_text(text, "utf-8")
        with pytest.raises(InvalidArgumentError, match=words) as met:
            user_tokens(path)
        assert TOKEN not in met.value.message


def test_signed_tokens_are_tokens_of_users(passwords: Path) -> None:
    jwt = JwtSettings("HMAC", "c2VjcmV0", None, None, "sub")
    for given in (Access(PasswordFile(passwords), jwt=jwt), Access(jwt=jwt)):
        assert given.has_authentication
        assert given.checks_passwords
        assert "c2VjcmV0" not in repr(given)
    with pytest.raises(NotSupportedError, match="a token of all and tokens of users"):
        Access(PasswordFile(passwords), TOKEN, jwt=jwt)


def test_tickets_take_the_place_of_passwords(passwords: Path) -> None:
    kerberos = KerberosSettings("hive/host@REALM", passwords)
    jwt = JwtSettings("HMAC", "c2VjcmV0", None, None, "sub")
    for given in (Access(user_tokens={TOKEN: "alice"}, kerberos=kerberos), Access(jwt=jwt, kerberos=kerberos)):
        assert given.authenticates_jdbc
        assert not given.checks_passwords
        assert given.is_for_other_machines
    with pytest.raises(NotSupportedError, match="expected --connect-token-file"):
        Access(kerberos=kerberos)
    with pytest.raises(NotSupportedError, match="JDBC has passwords and Kerberos"):
        Access(PasswordFile(passwords), TOKEN, kerberos=kerberos)
    for name in ("hive", "hive@REALM", "hive/host", "hive/host@"):
        with pytest.raises(InvalidArgumentError, match="expected SERVICE/HOST@REALM"):
            KerberosSettings(name, passwords)
    with pytest.raises(InvalidArgumentError, match="does not exist; expected a file that ktadd"):
        KerberosSettings("hive/host@REALM", passwords.with_name("missing"))


def test_java_knows_the_realms_that_python_knows() -> None:
    options, config = "spark.driver.extraJavaOptions", {"KRB5_CONFIG": "/etc/of.conf"}
    assert kerberos_settings({options: "-Xss4m"}, config)[options] == "-Xss4m -Djava.security.krb5.conf=/etc/of.conf"
    own = {options: "-Djava.security.krb5.conf=/etc/own.conf"}
    assert options not in kerberos_settings(own, config)
    assert options not in kerberos_settings({}, {})


def test_other_machines_need_tls(passwords: Path, tmp_path: Path) -> None:
    store = KeyStore(passwords, "a secret")
    assert "a secret" not in repr(store)
    assert Access(PasswordFile(passwords), TOKEN, store).is_for_other_machines
    assert not Access(key_store=store).is_for_other_machines
    with pytest.raises(InvalidArgumentError, match=r"missing\.p12 does not exist"):
        KeyStore(tmp_path / "missing.p12", "")


def test_secrets(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n", "utf-8")
    assert secret(str(path), "NAME", {"NAME": "another"}) == TOKEN
    assert secret(None, "NAME", {"NAME": "another"}) == "another"
    assert secret(None, "NAME", {"NAME": ""}) is None
    path.write_text("\n", "utf-8")
    with pytest.raises(InvalidArgumentError, match="is empty"):
        secret(str(path), "NAME", {})
    with pytest.raises(InvalidArgumentError, match="cannot be read: Is a directory"):
        secret(str(tmp_path), "NAME", {})


def test_settings_that_get_around_it() -> None:
    check_settings({"spark.sql.ansi.enabled": "true"})
    with pytest.raises(NotSupportedError, match="expected --connect-token-file") as met:
        check_settings({"spark.connect.authenticate.token": TOKEN})
    assert TOKEN not in met.value.message


def test_the_command_refuses_half_of_it(passwords: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["server", "--password-file", str(passwords)]) == 1
    assert "[SERVER_WITHOUT_AUTHENTICATION] JDBC has authentication" in capsys.readouterr().err
    assert main(["server", "--keystore", str(passwords)]) == 1
    assert "--keystore: expected --keystore-password-file, or LAKEPORT_KEYSTORE_PASSWORD" in capsys.readouterr().err
    assert main(["server", "--kerberos-keytab", str(passwords)]) == 1
    assert "expected both of --kerberos-principal and --kerberos-keytab" in capsys.readouterr().err
    token = passwords.with_name("token")
    token.write_text(TOKEN, "utf-8")
    given = ["--password-file", str(passwords), "--connect-token-file", str(token)]
    assert main(["server", *given, "--host", "0.0.0.0"]) == 1
    assert "has no authentication with TLS" in capsys.readouterr().err


def test_a_server_without_spark_connect_needs_no_tokens(passwords: Path) -> None:
    access = Access(PasswordFile(passwords), jdbc_only=True)
    assert not access.has_authentication
