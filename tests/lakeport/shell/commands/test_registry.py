"""The shell's own commands, those that need no Spark."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from lakeport.shell.commands.registry import COMMANDS, KEYS, run_command
from lakeport.shell.completion.names import NameCache
from lakeport.shell.display import Display
from lakeport.shell.shell_session import LeaveShell, ShellSession
from tests.lakeport.memory_session import memory_session, put
from tests.paths import PROJECT


@pytest.fixture
def shell() -> Iterator[tuple[ShellSession, io.BytesIO]]:
    with memory_session() as (session, connector):
        put(connector, "trips", pa.table({"id": pa.array([1], pa.int64()), "day": ["x"]}), "day")
        put(connector, "tours", pa.table({"a": [1]}))
        out = io.BytesIO()
        names = NameCache(session)
        yield ShellSession(session, Display(out), names, run_command, debug=False), out
        names.close()


def said(shell: tuple[ShellSession, io.BytesIO], text: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Everything that is printed by some input."""
    shell[1].seek(0)
    shell[1].truncate()
    shell[0].run_input(text)
    captured = capsys.readouterr()
    return shell[1].getvalue().decode() + captured.out + captured.err


def test_what_there_is(shell: tuple[ShellSession, io.BytesIO], capsys: pytest.CaptureFixture[str]) -> None:
    assert said(shell, "\\l", capsys) == " catalog | connector\n---------+-----------\n mem     | memory\n(1 row)\n"
    assert said(shell, "\\dn mem", capsys).splitlines()[3:] == [" default", " s", "(2 rows)"]
    assert said(shell, "\\dn mem.inf*", capsys).splitlines()[3:] == [" information_schema", "(1 row)"]
    system = [" default", " information_schema", " s", " system", "(4 rows)"]
    assert said(shell, "\\dnS mem", capsys).splitlines()[3:] == system
    about = [f" {name}" for name in ("columns", "schemata", "tables", "views")]
    assert said(shell, "\\dt mem.information_schema.*", capsys).splitlines()[3:] == [*about, "(4 rows)"]
    assert " mem     | system             | metadata" in said(shell, "\\dtS mem.*.*", capsys)
    assert "metadata" not in said(shell, "\\dt mem.*.*", capsys)
    assert said(shell, "\\dt mem.s.tr*", capsys).splitlines()[3:] == [" trips", "(1 row)"]
    assert "USE a" not in said(shell, "\\dt", capsys)
    shell[0].begin_in("mem", "s")
    assert said(shell, "\\dt", capsys).splitlines()[3:] == [" tours", " trips", "(2 rows)"]
    lines = said(shell, "\\d trips", capsys).splitlines()
    assert lines[0] == "Table mem.s.trips"
    assert "bigint" in lines[3]
    assert lines[4].endswith("partition key")
    assert "Partition keys: day" in lines
    assert "did you mean" in said(shell, "\\d trps", capsys)
    assert "no schema defalt in catalog mem; did you mean default?" in said(shell, "\\dt mem.defalt.*", capsys)
    assert said(shell, "\\c", capsys) == "mem.s\n"


def test_patterns_for_schemas_and_catalogs(
    shell: tuple[ShellSession, io.BytesIO], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(shell, "\\dt mem.*.*", capsys).splitlines()
    assert [[cell.strip() for cell in line.split("|")] for line in lines if "|" in line] == [
        ["catalog", "schema", "table"], ["mem", "s", "tours"], ["mem", "s", "trips"],
    ]  # fmt: skip
    assert lines[-1] == "(2 rows)"
    assert said(shell, "\\dt m*.s.tr*", capsys).splitlines()[3:] == [" mem     | s      | trips", "(1 row)"]
    assert "(0 rows)" in said(shell, "\\dt nope*.*.*", capsys)


def test_what_tables_are(shell: tuple[ShellSession, io.BytesIO], capsys: pytest.CaptureFixture[str]) -> None:
    head, _, row, _ = said(shell, "\\dt+ mem.s.trips", capsys).splitlines()[1:]
    assert [cell.strip() for cell in head.split("|")] == ["table", "type", "format", "location", "comment"]
    assert [cell.strip() for cell in row.split("|")][:2] == ["trips", "table"]
    assert "(0 rows)" in said(shell, "\\dv mem.s.*", capsys)


@pytest.mark.process
def test_the_operating_system(
    shell: tuple[ShellSession, io.BytesIO], capfd: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    assert said(shell, "\\cd inner", capfd) == f"{tmp_path}/inner\n"
    assert "cannot enter nowhere: No such file" in said(shell, "\\cd nowhere", capfd)
    assert said(shell, "\\! pwd", capfd) == f"{tmp_path}/inner\n"
    assert said(shell, "\\!echo a", capfd) == "a\n"
    assert "exit 3 ended with exit code 3" in said(shell, "\\! exit 3", capfd)


def test_the_connection(shell: tuple[ShellSession, io.BytesIO], capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(shell, "\\conninfo", capsys).splitlines()
    assert lines[1:] == [
        "Catalogs: mem",
        "Current schema: none is selected",
        "SQL dialect: spark",
        "Spark: not started",
    ]


def test_a_schema_has_to_be_known(shell: tuple[ShellSession, io.BytesIO], capsys: pytest.CaptureFixture[str]) -> None:
    assert "no schema is selected" in said(shell, "\\dt", capsys)
    assert "no catalog is selected" in said(shell, "\\dn", capsys)
    assert "names no catalog" in said(shell, "\\d trips", capsys)


def test_variables_and_settings(shell: tuple[ShellSession, io.BytesIO], capsys: pytest.CaptureFixture[str]) -> None:
    assert said(shell, "\\set a 'two words'\n\\echo <:a>", capsys) == "<two words>\n"
    assert said(shell, "\\set", capsys) == "a = two words\n"
    assert "no variable 'b'" in said(shell, "\\unset b", capsys)
    assert said(shell, "\\x\n\\x off\n\\pset null -", capsys) == "expanded is on\nexpanded is off\nnull is -\n"
    assert "format is aligned" in said(shell, "\\pset", capsys)
    assert "did you mean 'json'" in said(shell, "\\format jsn", capsys)
    assert "expected seconds" in said(shell, "\\watch never", capsys)
    assert "run one first" in said(shell, "\\watch 1", capsys)


def test_files(shell: tuple[ShellSession, io.BytesIO], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "again.sql"
    file.write_text(f"\\echo once\n\\i {file}\n")
    text = said(shell, f"\\i {file}", capsys)
    assert text.count("once") == 16
    assert "does it include itself?" in text
    assert "cannot read" in said(shell, "\\i /no/such/file", capsys)
    assert "expected \\copy (QUERY) TO 'FILE'" in said(shell, "\\copy trips", capsys)
    assert "expected one of .txt" in said(shell, "\\copy mem.s.trips TO 'x.xls'", capsys)
    assert "cannot write" in said(shell, "\\o /no/such/folder/file", capsys)


def test_leaving(shell: tuple[ShellSession, io.BytesIO]) -> None:
    with pytest.raises(LeaveShell):
        shell[0].run_input("\\q")


def test_help_and_page_tell_every_command_and_key(
    shell: tuple[ShellSession, io.BytesIO], capsys: pytest.CaptureFixture[str]
) -> None:
    text = " ".join(said(shell, "\\?", capsys).split())
    page = (PROJECT / "docs" / "shell.md").read_text(encoding="utf-8").replace("\\|", "|")
    for command in COMMANDS:
        use = f"{command.names[0]} {command.usage}".strip()
        assert " ".join(f"{use} {command.does}".split()) in text
        assert f"| `{use}` | {command.does} |" in page
    for key, does in KEYS:
        assert f"{key} {does}" in text
        assert f"| {key} | {does} |" in page


def test_help_fits_the_screen(
    shell: tuple[ShellSession, io.BytesIO], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, said(shell, "\\?", capsys).splitlines())) < 80
