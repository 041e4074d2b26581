"""The shell in a pseudo-terminal, and its completion."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pyarrow as pa
import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from connector_spi.errors import MetastoreError
from connector_spi.metadata import ConnectorMetadata
from connector_spi.session import ConnectorSession
from connectors.memory.connector import MemoryConnector
from lakeport.shell.completion import NameCache, SqlCompleter
from tests.lakeport.memory_session import memory_session, put


def start(tmp_path: Path) -> pexpect.spawn:
    catalogs = tmp_path / "catalogs"
    catalogs.mkdir()
    (catalogs / "mem.properties").write_text("connector.name=memory\n")
    program = "import sys; from lakeport.shell.main import main; sys.exit(main())"
    return pexpect.spawn(
        sys.executable,
        ["-c", program, "shell", "--catalogs", str(catalogs)],
        encoding="utf-8",
        timeout=120,
        dimensions=(40, 120),
        env={
            **os.environ,
            "TERM": "xterm",
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "PROMPT_TOOLKIT_NO_CPR": "1",
        },
    )


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[pexpect.spawn]:
    spawned = start(tmp_path)
    yield spawned
    spawned.close(force=True)


def test_a_session_at_the_terminal(shell: pexpect.spawn, tmp_path: Path) -> None:
    shell.expect("lakeport>")
    shell.send("\\?\r")
    shell.expect("leaves the shell")
    # several lines, run by the one that ends in a semicolon
    shell.send("SELECT 40 +\r")
    shell.send("  2 AS answer;\r")
    shell.expect(r"answer\r\n-+\r\n +42\r\n\(1 row\)\r\n\d")
    _make_mistakes(shell)
    _complete_a_name(shell)
    _cancel(shell)
    shell.send("\\q\r")
    shell.expect(pexpect.EOF)
    shell.wait()
    assert shell.exitstatus == 0
    history = (tmp_path / "state" / "lakeport" / "history").read_text()
    assert "SELECT 6 * 7 AS after;" in history
    assert [file.name for file in (tmp_path / "state" / "lakeport").iterdir()] == ["history"]


def _make_mistakes(shell: pexpect.spawn) -> None:
    shell.send("SELEKT 1;\r")
    shell.expect(r"error: \[PARSE_SYNTAX_ERROR\] Syntax error at or near 'SELEKT' \(line 1, column 1\)\r\n")
    shell.send("\\nope\r")
    shell.expect(r"there is no command \\nope")


def _complete_a_name(shell: pexpect.spawn) -> None:
    shell.send("USE mem.def")
    shell.expect("default")  # in the menu
    shell.send("\t")
    time.sleep(0.5)
    shell.send(";\r")
    shell.expect(r"ok, \d")
    shell.expect(r"mem\.default>")
    shell.send("SELECT * FROM nope;\r")
    shell.expect(r"error: \[TABLE_NOT_FOUND\] no table mem\.default\.nope\r\n")


def _cancel(shell: pexpect.spawn) -> None:
    """Ctrl-C cancels the job and keeps the shell; at the prompt it drops what is typed."""
    shell.send("SELECT count(*) FROM range(1000000000000);\r")
    time.sleep(3)
    shell.sendintr()
    shell.expect("cancelled\r\n")
    shell.expect(r"mem\.default>")
    shell.send("SELECT 6 * 7 AS after;\r")
    shell.expect(r"after\r\n-+\r\n +42\r\n\(1 row\)\r\n\d")
    shell.send("SELECT 'dropped")
    shell.sendintr()
    shell.send("SELECT 'kept' AS word;\r")
    shell.expect(r"word\r\n-+\r\n kept\r\n\(1 row\)\r\n\d")


@pytest.fixture
def names() -> Iterator[tuple[NameCache, MemoryConnector]]:
    with memory_session() as (session, connector):
        put(connector, "trips", pa.table({"a": [1]}))
        put(connector, "my table", pa.table({"a": [1]}))
        cache = NameCache(session)
        yield cache, connector
        cache.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM m", ["mem", "`my table`"]),
        ("SELECT * FROM mem.", ["default", "s"]),
        ("SELECT * FROM mem.s.t", ["trips"]),
        ("SELECT * FROM MEM.S.", ["`my table`", "trips"]),
        ("SELECT * FROM s.tr", ["trips"]),
        ("SELECT * FROM tri", ["trips"]),
        ("SELECT * FROM `mem`.s.tr", ["trips"]),
        ("SELECT * FROM nope.s.", []),
        ("SELECT a FR", ["FROM"]),
        ("select a fr", ["from"]),
        ("SELECT ", []),
    ],
)
def test_completion(names: tuple[NameCache, MemoryConnector], text: str, expected: list[str]) -> None:
    completer = SqlCompleter(names[0], lambda: ("mem", "s"))
    found = completer.get_completions(Document(text), CompleteEvent(text_inserted=True))
    assert [item.text for item in found if item.text.upper() != item.text or item.text in expected] == expected


def test_a_catalog_that_fails_completes_nothing(
    names: tuple[NameCache, MemoryConnector], monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(self: ConnectorMetadata, session: ConnectorSession) -> list[str]:
        raise MetastoreError("down")

    cache, connector = names
    monkeypatch.setattr("connectors.memory.metadata.MemoryMetadata.list_schema_names", down)
    completer = SqlCompleter(cache, lambda: (None, None))
    assert list(completer.get_completions(Document("mem."), CompleteEvent())) == []
    assert connector.transactions.begun > 0
