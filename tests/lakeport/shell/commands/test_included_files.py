r"""Errors in files that ``\i`` runs say where they are."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from connector_spi.errors import TableNotFoundError
from lakeport.scan_facts import JobCounts
from lakeport.shell.commands.registry import run_command
from lakeport.shell.completion.names import NameCache
from lakeport.shell.display import Display
from lakeport.shell.runner import Runner, RunState
from lakeport.shell.shell_session import ShellSession
from tests.lakeport.memory_session import memory_session


class _Refusing(Runner):
    """Needs no Spark: every statement that says ``nope`` fails."""

    def run(self, statement: str, *_: object, **settings: object) -> None:
        self.last = RunState("reading", 0.0, JobCounts())
        if "nope" in statement:
            raise TableNotFoundError("no table 'nope'")
        if "fail" in statement:
            raise TableNotFoundError("it failed")


@pytest.fixture
def shell() -> Iterator[ShellSession]:
    with memory_session() as (session, _):
        names = NameCache(session)
        shell = ShellSession(session, Display(io.BytesIO()), names, run_command, debug=False)
        shell.runner = _Refusing(session, io.BytesIO())
        yield shell
        names.close()


@pytest.mark.parametrize(
    ("text", "place", "line"),
    [
        ("SELECT 1;\n\nSELECT *\nFROM nope;\n", "4:6", "4 | FROM nope;"),
        ("SELECT 1 \\g\nSELECT 2; SELECT * FROM nope;", "2:25", "2 | SELECT 2; SELECT * FROM nope;"),
        ("\\echo a\n-- what\n  SELECT * FROM nope", "3:17", "3 |   SELECT * FROM nope"),
        ("\\set t nope\nSELECT\n* FROM :t;", "3:8", "3 | * FROM nope;"),
        ("SELECT 1 \\G\n\\echo a\nTABLE nope \\g\n", "3:7", "3 | TABLE nope \\g"),
    ],
)
def test_a_statement(
    shell: ShellSession, capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, place: str, line: str
) -> None:
    file = tmp_path / "bad.sql"
    file.write_text(text)
    assert not shell.run_input(f"\\i {file}")
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "error[TABLE_NOT_FOUND]: no table 'nope'"
    assert shown[1].strip() == f"--> {file}:{place}"
    assert shown[3] == line


def test_an_error_without_a_place(shell: ShellSession, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "bad.sql"
    file.write_text("SELECT 1;\n\nSELECT\nfail;")
    assert not shell.run_input(f"\\i {file}")
    assert capsys.readouterr().err.splitlines()[:2] == ["error[TABLE_NOT_FOUND]: it failed", f" --> {file}:3"]


def test_a_command(shell: ShellSession, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner.sql", tmp_path / "outer.sql"
    inner.write_text("SELECT 1;\nSELECT 2; \\ehco a\n")
    outer.write_text(f"\n\n\\i {inner}\n")
    assert not shell.run_input(f"\\i {outer}")
    shown = capsys.readouterr().err.splitlines()
    assert shown[0].startswith(f"{inner}:2: error: [INVALID_ARGUMENT] there is no command \\ehco")
    assert shown[1].startswith(f"{outer}:3: error: ")


def test_what_is_typed_has_no_name(shell: ShellSession, capsys: pytest.CaptureFixture[str]) -> None:
    assert not shell.run_input("SELECT 1;\nSELECT * FROM nope;")
    assert "--> line 2, column 15" in capsys.readouterr().err
