"""Passwords are checked as Trino checks them; the lines are those of its documentation and its tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from connector_spi.errors import InvalidArgumentError
from lakeport.server.authentication.password_file import PasswordFile

BCRYPT = "$2y$10$BqTb8hScP5DfcpmHo5PeyugxHz5Ky/qf3wrpD7SNm8sWuA3VlGqsa"
SALT = "5b4240333032306164"
SHA1 = (
    f"1000:{SALT}:f38d165fce8ce42f59d366139ef5d9e1ca1247f0e06e503ee1a611dd9ec40876"
    "bb5edb8409f5abe5504aab6628e70cfb3d3a18e99d70357d295002c3d0a308a0"
)
SHA256 = (
    f"1000:{SALT}:acac1637d8219b50218fa2e1b82156dd73701f5fa6144a9178327226a1b3448b"
    "d1fc8e56c4a8a0ac582a4b02c5368a36663a03476e2e9be7c44680920c661c0f"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "passwords"


@pytest.mark.parametrize(("line", "password"), [(BCRYPT, "user123"), (SHA1, "password"), (SHA256, "password")])
def test_a_password(path: Path, line: str, password: str) -> None:
    path.write_text(f"other:{SHA256}\n\nalice:{line}\n", "utf-8")
    passwords = PasswordFile(path)
    assert passwords.authenticate("alice", password)
    assert not passwords.authenticate("alice", password + "x")
    assert not passwords.authenticate("alice", "")
    for user in ("Alice", "bob", ""):
        assert not passwords.authenticate(user, password)


def test_bcrypt_does_not_take_what_begins_alike(path: Path) -> None:
    bcrypt = pytest.importorskip("bcrypt")
    path.write_text("alice:" + bcrypt.hashpw(b"x" * 72, bcrypt.gensalt(8)).decode(), "utf-8")
    assert PasswordFile(path).authenticate("alice", "x" * 72)
    assert not PasswordFile(path).authenticate("alice", "x" * 73)
    assert not PasswordFile(path).authenticate("alice", "x" * 72 + "\0")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no user"),
        ("alice:in the clear", "line 1 of .* is not understood"),
        (f"bob:{SHA1}\nalice:$1$abc", "line 2 of .* is not understood"),
        (f":{SHA1}", "line 1 of .*: no user"),
        (f"alice:{SHA1}\nalice:{SHA256}", "line 2 of .*: a user twice"),
        ("alice:" + BCRYPT.replace("$10$", "$07$"), "a bcrypt cost of 7; expected 8"),
        ("alice:" + SHA1.replace("1000:", "999:"), "999 iterations; expected 1000"),
        (f"alice:1000:{SALT}:f38d", "is not understood"),
    ],
)
def test_a_file_that_is_refused(path: Path, text: str, words: str) -> None:
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidArgumentError, match=words) as met:
        PasswordFile(path)
    assert not any(part in met.value.message for part in ("in the clear", BCRYPT[-20:], SALT))


def test_a_file_that_is_not_there(path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be read: No such file"):
        PasswordFile(path)


def test_a_change_counts_at_once(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.write_text(f"alice:{SHA1}", "utf-8")
    passwords = PasswordFile(path)
    assert passwords.authenticate("alice", "password")
    path.write_text(f"bob:{SHA1}\n", "utf-8")
    assert passwords.authenticate("bob", "password")
    assert not passwords.authenticate("alice", "password")
    path.write_text("bob:damaged\n", "utf-8")
    assert not passwords.authenticate("bob", "password")
    assert "no user can log in: line 1" in caplog.text
    assert "damaged" not in caplog.text
    os.remove(path)
    assert not passwords.authenticate("bob", "password")
    path.write_text(f"bob:{SHA256}\n", "utf-8")
    assert passwords.authenticate("bob", "password")
