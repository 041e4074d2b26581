"""Completion of what is written behind ``%lakeport`` and below ``%%lakeport``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.interactiveshell import InteractiveShell
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from connector_spi.errors import ConnectorError
from lakeport.notebook.magic_line import FORMATS, OPTIONS, read_options
from lakeport.session import Session
from lakeport.shell.completion.completer import SqlCompleter
from lakeport.shell.completion.names import NameCache

__all__ = ["MagicCompleter", "Suggestion", "offer_in"]

_MATCHER = "lakeport_matcher"
_PATIENCE = 1.0
"""Seconds that names are waited for: Tab asks once, and nothing adds to its menu later."""
_CELL = re.compile(r"\s*%%lakeport(?=\s)")
_LINE = re.compile(r"[^%\n]*%lakeport(?=\s)")
_WORD = re.compile(r"\S*\Z")
_AFTER_FORMAT = re.compile(r"(?:-f|--format)[\s=]+(\S*)\Z")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What may stand at the cursor.

    Attributes:
        text: In full.
        kind: One word, such as ``table``.
        replaced: How many characters before the cursor it replaces.
    """

    text: str
    kind: str
    replaced: int


class MagicCompleter:
    """Completes options and SQL of the magics.

    Args:
        session_of: Gives the session of a variable, or with ``None`` the one that the magics use; ``None`` where there
            is none.
    """

    def __init__(self, session_of: Callable[[str | None], Session | None]) -> None:
        self._session_of = session_of
        self._names: NameCache | None = None
        self._session: Session | None = None

    def suggestions(self, text: str, cursor: int) -> list[Suggestion]:
        """What may stand at the cursor; nothing where no magic of ours is.

        Args:
            text: Of the whole cell.
            cursor: The position in it.
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
            # An option that is not finished, or a session that is closed.
            return _options(text[begin:cursor])

    def close(self) -> None:
        """Asks for no more names."""
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
    """Makes IPython ask the completer, before it looks for names of Python; once, also when called again."""

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
    """Where the argument of the magic at the cursor begins and ends."""
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


def _current(session: Session) -> tuple[str | None, str | None]:
    """Catalog and schema of names that say none; asking starts no Spark."""
    if not session.is_started:
        return None, None
    return session.engine.current_catalog(), session.engine.current_schema()
