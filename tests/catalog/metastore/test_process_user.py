"""Who runs this process."""

from __future__ import annotations

import pwd

import pytest

from catalog.metastore.process_user import process_user


def test_the_environment_tells_the_user_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    assert process_user() == "ada"


def test_a_user_id_without_a_name_is_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)

    def nobody(uid: int) -> object:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.setattr("os.getuid", lambda: 1000720000)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert process_user() == "1000720000"
