"""The shell in a pseudo-terminal: keys go in, and the screen is what a user would see."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pyarrow.parquet as pq
import pytest

from tests.lakeport.shell.screens import SCREENS, played, shell_over_samples, shown_screens
from tests.lakeport.shell.terminal import Terminal, terminal


@pytest.fixture(scope="module")
def shell() -> Iterator[Terminal]:
    """One shell for the module: its tests run in their order."""
    with shell_over_samples() as started:
        yield started


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("name", SCREENS)
def test_the_screens_of_the_page_are_what_the_shell_shows(shell: Terminal, name: str) -> None:
    if name == "pager" and shutil.which("less") is None:
        pytest.skip("less is not installed")
    assert played(name, shell) == shown_screens()[name]


@pytest.mark.slow
@pytest.mark.spark
def test_what_was_copied_is_there(shell: Terminal) -> None:
    folder = Path(shell.process.cwd)
    assert pq.read_table(folder / "visits.parquet").num_rows == 5
    assert [file.name for file in folder.glob("*.part")] == []


@pytest.mark.slow
@pytest.mark.spark
def test_a_table_fits_the_screen_that_was_made_narrow(shell: Terminal) -> None:
    shell.resize(40, 26)
    shell.run("SELECT repeat('x', 60) AS t, 3 * 4115 AS n;", "1 row")
    [row] = [line for line in shell.text().split("\n") if "12345" in line]
    shell.resize(90, 26)
    assert row.endswith("x… | 12345")
    assert len(row) <= 40


@pytest.mark.slow
@pytest.mark.spark
def test_files_of_statements_output_and_editor(shell: Terminal) -> None:
    folder = Path(shell.process.cwd)
    (folder / "some.sql").write_text(
        "-- one statement, one command, one script\n"
        "SELECT 'from' || ' a file' AS t;\n\\echo between\nBEGIN\n  DECLARE n INT DEFAULT 20;\n"
        "  SET n = n + 1;\n  SELECT n * 2 AS doubled;\nEND;\n"
    )
    shell.run("\\i some.sql", r"from a file\n.*\nbetween\n(?s:.*) 42")
    shell.run(
        "\\o out.csv\r\\format csv\rSELECT 1 AS a, NULL AS b;\r\\o\r\\format aligned", "to out.csv(?s:.*)is aligned"
    )
    assert (folder / "out.csv").read_text() == "a,b\n1,\n"
    shell.run("SELECT 'first' AS word;", "first")
    shell.clear()
    shell.send("\\e\r")
    shell.wait_for(r"SELECT 'second' AS word;$")
    shell.send("\r")
    shell.wait_for(r" second\n")


@pytest.mark.slow
@pytest.mark.spark
def test_ctrl_c_drops_what_is_typed_and_ctrl_d_leaves(shell: Terminal) -> None:
    shell.clear()
    shell.send("SELECT 'dropped")
    shell.wait_for("dropped")
    shell.send("\x03")
    shell.run("SELECT 'kept' AS word;", r" kept\n\(1 row")
    shell.run("CALL hive.system.nope(password => 'swordfish');", "nope")
    shell.clear()
    shell.send("\x04")
    shell.process.expect_exact([pexpect.EOF])
    shell.process.wait()
    assert shell.process.exitstatus == 0
    state = Path(shell.process.cwd, "state", "lakeport")
    history = (state / "history").read_text()
    assert "SELECT 'kept' AS word;" in history
    assert "swordfish" not in history
    assert stat.S_IMODE(os.stat(state / "history").st_mode) == 0o600
    assert [file.name for file in state.iterdir()] == ["history"]


@pytest.mark.slow
def test_the_history_of_another_session_is_searched(tmp_path: Path) -> None:
    """No Spark is needed for a prompt; the shell is ended before there is one."""
    (tmp_path / "state" / "lakeport").mkdir(parents=True)
    (tmp_path / "state" / "lakeport" / "history").write_text("\n# 2024-01-01 00:00:00\n+SELECT 'found again';\n")
    with terminal(["--schema", "s", "--catalog", "mem", "--catalogs", str(_catalogs(tmp_path))], tmp_path, {}) as shell:
        shell.wait_for(r"mem\.s> *$")
        shell.send("\x12again")
        shell.wait_for(r"mem\.s> SELECT 'found again';")
        shell.send("\x1b[C\x03")
        shell.wait_for(r"mem\.s> *$")
        shell.send("\\l\r")
        shell.wait_for(r" mem +\| memory")
        shell.send("help\r")
        shell.wait_for(r"(?s)catalogs.*\n:$")
        shell.send("G")
        shell.wait_for(r"Ctrl-X Ctrl-E")
        shell.send("q")
        shell.wait_for(r"mem\.s> *$")
        shell.send("\\q\r")


def _catalogs(folder: Path) -> Path:
    catalogs = folder / "catalogs"
    catalogs.mkdir()
    (catalogs / "mem.properties").write_text("connector.name=memory\n")
    return catalogs
