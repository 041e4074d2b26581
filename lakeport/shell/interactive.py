"""The interactive shell: its prompt, its keys, and the engine starting in the background."""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.filters import has_completions
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.styles import DynamicStyle
from pygments.lexers.sql import SqlLexer

from lakeport.catalog_session import AnySession
from lakeport.engine import ENGINES
from lakeport.shell.commands.registry import arguments_of_commands, run_command
from lakeport.shell.completion.completer import Argument, ShellCompleter, SqlCompleter
from lakeport.shell.completion.names import NameCache
from lakeport.shell.display import Display
from lakeport.shell.history import ShellHistory
from lakeport.shell.output.formats import FORMATS
from lakeport.shell.output.settings import ShellSettings
from lakeport.shell.output.themes import prompt_style
from lakeport.shell.running import open_session
from lakeport.shell.shell_session import LeaveShell, ShellSession
from lakeport.shell.sql.statements import PartKind, split_input
from lakeport.shell.state import state_directory
from lakeport.version import VERSION

__all__ = ["is_complete", "run_shell"]

_COMMANDS = {"quit": "\\q", "exit": "\\q", "help": "\\?", "?": "\\?"}
"""Words that new users type, and the commands they mean."""


def run_shell(arguments: argparse.Namespace) -> int:
    """Reads and runs statements until the user leaves."""
    with open_session(
        arguments.catalogs,
        debug=arguments.debug,
        session_properties=arguments.session_properties,
        engine_settings=arguments.engine_settings,
        dialect=arguments.dialect,
        engine=arguments.engine,
        server=arguments.server,
    ) as session:
        shell = _Shell(session, debug=arguments.debug)
        try:
            shell.begin(arguments)
            print(f"Lakeport {VERSION} on {session.engine.title}. \\? for help, \\q to leave.")
            shell.loop()
        finally:
            shell.close()
    return 0


class _Shell:
    def __init__(self, session: AnySession, *, debug: bool) -> None:
        self._session = session
        self._display = Display(sys.stdout.buffer)
        self._names = NameCache(session, self._names_arrived)
        self._shell = ShellSession(session, self._display, self._names, run_command, debug=debug)
        self._is_warming_up = False
        values = {
            Argument.FORMAT: FORMATS,
            Argument.ENGINE: ENGINES,
            Argument.SETTING: [name for name, _ in ShellSettings().items()],
            Argument.SWITCH: ("on", "off", "auto"),
        }
        sql = SqlCompleter(self._names, lambda: self._shell.current)
        completer = ThreadedCompleter(ShellCompleter(sql, arguments_of_commands(), values))
        self._prompt: PromptSession[str] = PromptSession(
            history=ShellHistory(state_directory() / "history"),
            completer=completer,
            complete_while_typing=True,
            auto_suggest=AutoSuggestFromHistory(),
            lexer=PygmentsLexer(SqlLexer),
            style=DynamicStyle(lambda: prompt_style(self._display.settings.theme)),
            include_default_pygments_style=False,
            multiline=True,
            enable_open_in_editor=True,
            search_ignore_case=True,
            key_bindings=_keys(),
            prompt_continuation=lambda width, line, wrapped: "." * (width - 1) + " ",
        )
        # The engine starts while the user types, after the first prompt is drawn.
        self._prompt.app.after_render += lambda app: self._warm_up()

    def begin(self, arguments: argparse.Namespace) -> None:
        """Selects the catalog and the theme of the command line."""
        self._display.settings = self._display.settings.with_text("theme", arguments.theme)
        self._shell.begin_in(arguments.catalog, arguments.schema)

    def loop(self) -> None:
        """Runs inputs until the user leaves."""
        while True:
            draft, self._shell.draft = self._shell.draft, ""
            try:
                text = self._prompt.prompt(self._prompt_text, default=draft).strip()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            try:
                self._shell.run_input(_COMMANDS.get(_word(text), text))
            except LeaveShell:
                return
            if text and not text.startswith("\\"):
                self._shell.typed = text

    def close(self) -> None:
        """Releases the shell's resources."""
        self._display.close()
        self._names.close()

    @property
    def _prompt_text(self) -> str:
        return f"{'.'.join(part for part in self._shell.current if part) or 'lakeport'}> "

    def _warm_up(self) -> None:
        if self._is_warming_up:
            return
        self._is_warming_up = True
        catalog, schema = self._shell.current
        if catalog is not None and catalog in self._session.catalogs.names():
            self._names.schemas(catalog)
            if schema is not None:
                self._names.tables(catalog, schema)
        # The first statement retries, and reports a failure.
        threading.Thread(target=_start_engine, args=(self._session,), name="lakeport-start", daemon=True).start()

    def _names_arrived(self) -> None:
        """Refreshes the menu when late names arrive; called in another thread."""
        app = self._prompt.app
        loop = app.loop
        if loop is None or not app.is_running:
            return

        def refresh() -> None:
            buffer = app.current_buffer
            state = buffer.complete_state
            if state is None and not buffer.text:
                # Nothing is typed: these are the names that are asked for beforehand.
                return
            if state is None or state.current_completion is None:
                buffer.start_completion(select_first=False)

        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(refresh)


def is_complete(text: str) -> bool:
    """Whether Enter runs the text; else it begins a new line."""
    stripped = text.strip()
    if not stripped or _word(text) in _COMMANDS:
        return True
    parts = split_input(text)
    return not parts or parts[-1].kind is not PartKind.UNFINISHED


def _word(text: str) -> str:
    return text.strip().rstrip("; ").lower()


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter", filter=~has_completions)
    def _(event: KeyPressEvent) -> None:
        _enter(event)

    @keys.add("enter", filter=has_completions)
    def _(event: KeyPressEvent) -> None:
        state = event.current_buffer.complete_state
        if state is not None and state.current_completion is not None:
            event.current_buffer.complete_state = None  # Enter accepts the selection of the menu
        else:
            _enter(event)

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline()

    return keys


def _enter(event: KeyPressEvent) -> None:
    buffer = event.current_buffer
    document: Document = buffer.document
    if is_complete(document.text) and not document.text_after_cursor.strip():
        buffer.validate_and_handle()
    else:
        buffer.newline()


def _start_engine(session: AnySession) -> None:
    with contextlib.suppress(Exception):
        session.engine.start()
