"""The interactive shell: a prompt, statements of many lines, and a few commands of its own."""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import threading
import time

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.filters import has_completions
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer

from lakeport.session import Session
from lakeport.shell.completion import NameCache, SqlCompleter
from lakeport.shell.formats import write_aligned
from lakeport.shell.problems import report
from lakeport.shell.running import Runner, open_session, use_statement
from lakeport.shell.state import state_directory
from lakeport.shell.statements import split_statements
from lakeport.version import VERSION

__all__ = ["run_shell"]

_HELP = r"""Statements end with a semicolon and may take several lines.
  \?      this help
  \q      leaves the shell; so do quit, exit and Ctrl-D
  Tab     completes keywords and names; Ctrl-R searches the history
  Ctrl-C  cancels the statement that runs, or drops the one that is typed"""
_LEAVE = frozenset({"\\q", "quit", "exit"})
_MOVES = re.compile(r"\s*(USE|SET\s+CATALOG)\b", re.IGNORECASE)


def run_shell(arguments: argparse.Namespace) -> int:
    """Reads and runs statements until the user leaves."""
    with open_session(arguments.catalogs, debug=arguments.debug) as session:
        # Spark starts while the user types; what fails is told by the first statement, which tries again.
        threading.Thread(target=_warm_up, args=(session,), name="lakeport-start", daemon=True).start()
        shell = _Shell(session, debug=arguments.debug)
        try:
            use = use_statement(arguments.catalog, arguments.schema)
            if use is not None:
                shell.run(use)
            print(f"Lakeport {VERSION}. \\? for help, \\q to leave.")
            shell.loop()
        finally:
            shell.close()
    return 0


class _Shell:
    def __init__(self, session: Session, *, debug: bool) -> None:
        self._session = session
        self._debug = debug
        self._catalog: str | None = None
        self._schema: str | None = None
        self._names = NameCache(session)
        self._runner = Runner(session, sys.stdout.buffer)
        self._prompt: PromptSession[str] = PromptSession(
            history=FileHistory(str(state_directory() / "history")),
            completer=ThreadedCompleter(SqlCompleter(self._names, lambda: (self._catalog, self._schema))),
            lexer=PygmentsLexer(SqlLexer),
            multiline=True,
            key_bindings=_keys(),
            prompt_continuation=lambda width, line, wrapped: "." * (width - 1) + " ",
        )

    def loop(self) -> None:
        """Until the user leaves."""
        while True:
            try:
                text = self._prompt.prompt(self._prompt_text).strip()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            if text.rstrip("; ").lower() in _LEAVE:
                return
            if text.startswith("\\"):
                self._command(text)
                continue
            split = split_statements(text)
            for statement in (*split.statements, *([split.rest] if split.rest else [])):
                if not self.run(statement):
                    break

    def run(self, statement: str) -> bool:
        """Runs one statement and says whether that went well."""
        begun = time.monotonic()
        try:
            rows = self._runner.run(statement, write_aligned)
            if _MOVES.match(statement):
                engine = self._session.engine
                self._catalog, self._schema = engine.current_catalog(), engine.current_schema()
        except KeyboardInterrupt:
            print("cancelled", file=sys.stderr, flush=True)
            return False
        except Exception as error:
            report(error, debug=self._debug)
            return False
        took = f"{time.monotonic() - begun:.2f} s"
        print(f"ok, {took}" if rows is None else took, flush=True)
        return True

    def close(self) -> None:
        self._names.close()

    @property
    def _prompt_text(self) -> str:
        return f"{'.'.join(part for part in (self._catalog, self._schema) if part) or 'lakeport'}> "

    def _command(self, text: str) -> None:
        if text.split()[0].rstrip(";") == "\\?":
            print(_HELP, flush=True)
        else:
            print(f"error: there is no command {text.split()[0]}; \\? lists them", file=sys.stderr, flush=True)


def is_complete(text: str) -> bool:
    """Whether Enter runs the text; else it begins a new line."""
    stripped = text.strip()
    if not stripped or stripped.startswith("\\") or stripped.rstrip("; ").lower() in _LEAVE:
        return True
    split = split_statements(text)
    return not split.is_open and not split.rest


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter", filter=~has_completions)
    def _(event: KeyPressEvent) -> None:
        _enter(event)

    @keys.add("enter", filter=has_completions)
    def _(event: KeyPressEvent) -> None:
        state = event.current_buffer.complete_state
        if state is not None and state.current_completion is not None:
            event.current_buffer.complete_state = None  # Enter takes what is chosen in the menu
        else:
            _enter(event)

    return keys


def _enter(event: KeyPressEvent) -> None:
    buffer = event.current_buffer
    document: Document = buffer.document
    if is_complete(document.text) and not document.text_after_cursor.strip():
        buffer.validate_and_handle()
    else:
        buffer.newline()


def _warm_up(session: Session) -> None:
    with contextlib.suppress(Exception):
        _ = session.engine
