"""Completion in ``%lakeport`` lines and ``%%lakeport`` cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.interactiveshell import InteractiveShell
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from connector_spi.errors import ConnectorError
from lakeport.catalog_session import AnySession
from lakeport.notebook.magic_line import FORMATS, OPTIONS, read_options
from lakeport.shell.completion.completer import SqlCompleter
from lakeport.shell.completion.names import NameCache

__all__ = ["MagicCompleter", "Suggestion", "offer_in"]

_MATCHER = "lakeport_matcher"
_PATIENCE = 1.0
"""Seconds to wait for names: the menu of Tab is not refreshed later."""
_CELL = re.compile(r"\s*%%lakeport(?=\s)")
_LINE = re.compile(r"[^%\n]*%lakeport(?=\s)")
_WORD = re.compile(r"\S*\Z")
_AFTER_FORMAT = re.compile(r"(?:-f|--format)[\s=]+(\S*)\Z")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A completion at the cursor.

    Attributes:
        text: The full text.
        kind: One word, such as ``table``.
        replaced: Number of characters before the cursor that it replaces.
    """

    text: str
    kind: str
    replaced: int


class MagicCompleter:
    """Completes options and SQL of the magics.

    Args:
        session_of: Returns the session of a variable, or with ``None`` the one that the magics use; ``None`` if there
            is none.
    """

    def __init__(self, session_of: Callable[[str | None], AnySession | None]) -> None:
        self._session_of = session_of
        self._names: NameCache | None = None
        self._session: AnySession | None = None

    def suggestions(self, text: str, cursor: int) -> list[Suggestion]:
        """The completions at the cursor; none outside Lakeport's magics.

        Args:
            text: Text of the whole cell.
            cursor: Position of the cursor in it.
        """
        begin, stop = _argument(text, cursor)
        if begin is None:
            return []
        line = text[begin:stop].split("\n", 1)[0]
        try:
            options, length = read_options(line)
            if cursor < begin + length:
                return []
            if text[begin + length : cursor].strip() in ("-", "--"):
                return _options(text[begin:cursor])
            return self._sql(options.session, text[begin + length : stop], cursor - begin - length)
        except ConnectorError:
            # An unfinished option, or a closed session.
            return _options(text[begin:cursor])

    def close(self) -> None:
        """Stops fetching names."""
        if self._names is not None:
            self._names.close()
        self._names = self._session = None

    def _sql(self, variable: str | None, sql: str, cursor: int) -> list[Suggestion]:
        session = self._session_of(variable)
        if session is not self._session or session is None:
            self.close()
        if session is None:
            return []
        if self._names is None:
            self._session, self._names = session, NameCache(session, patience=_PATIENCE)
        completer = SqlCompleter(self._names, lambda: _current(session))
        found = completer.get_completions(Document(sql, cursor), CompleteEvent(completion_requested=True))
        return [Suggestion(one.text, one.display_meta_text, -one.start_position) for one in found]


def offer_in(shell: InteractiveShell, completer: MagicCompleter) -> None:
    """Adds the completer to IPython, before Python names; calling it again has no effect."""

    @context_matcher(identifier=_MATCHER, priority=100)  # type: ignore[untyped-decorator]  # IPython is an extra
    def match(context: CompletionContext) -> SimpleMatcherResult:
        before = context.full_text.split("\n")[: context.cursor_line]
        cursor = sum(len(line) + 1 for line in before) + context.cursor_position
        found = completer.suggestions(context.full_text, cursor)
        typed = context.full_text[cursor - found[0].replaced : cursor] if found else ""
        shown = [SimpleCompletion(one.text, type=one.kind) for one in found]
        return SimpleMatcherResult(completions=shown, matched_fragment=typed, suppress=True, ordered=True)

    matchers = shell.Completer.custom_matchers
    matchers[:] = [one for one in matchers if getattr(one, "matcher_identifier", "") != _MATCHER] + [match]


def _argument(text: str, cursor: int) -> tuple[int | None, int]:
    """Start and end of the argument of the magic at the cursor."""
    cell = _CELL.match(text)
    if cell is not None:
        return (cell.end() if cursor > cell.end() else None), len(text)
    begin = text.rfind("\n", 0, cursor) + 1
    line = _LINE.match(text, begin)
    stop = text.find("\n", cursor)
    return (line.end() if line is not None and cursor > line.end() else None), stop if stop >= 0 else len(text)


def _options(typed: str) -> list[Suggestion]:
    if "\n" in typed:
        return []
    value = _AFTER_FORMAT.search(typed)
    if value is not None:
        return _beginning(value[1], FORMATS, "format")
    word = _WORD.search(typed)
    return _beginning(word.group(), OPTIONS, "option") if word is not None and word.group().startswith("-") else []


def _beginning(word: str, known: Iterable[str], kind: str) -> list[Suggestion]:
    return [Suggestion(one, kind, len(word)) for one in known if one.startswith(word)]


def _current(session: AnySession) -> tuple[str | None, str | None]:
    """The current catalog and schema; this does not start the engine."""
    if not session.is_started:
        return None, None
    return session.engine.current_catalog() or None, session.engine.current_schema() or None
