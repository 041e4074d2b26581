"""SQL text with positions of errors: offsets, lines, columns, and the excerpt with a caret."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakeport.shell.output.cells import shown_width

__all__ = ["Excerpt", "SourceText", "Span"]

_TAB = "    "
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SHOWN_WIDTH = 120
"""Longer lines are cut around the position."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a statement.

    Attributes:
        start: Offset of its first character in the statement.
        stop: Offset after its last character.
    """

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The line of a span, ready to be printed.

    Attributes:
        number: The line's number in the whole text, from 1.
        column: Column of the span's first character, from 1, in characters.
        line: The line, or the part around the span; tabs are blanks, control characters are escaped.
        indent: Number of blanks before the first caret.
        carets: Number of carets.
    """

    number: int
    column: int
    line: str
    indent: int
    carets: int


@dataclass(frozen=True, slots=True)
class SourceText:
    """One statement within the user's text.

    Attributes:
        text: The whole text, of one or more statements.
        start: Offset of the statement in it.
        statement: The statement's own text.
        name: Name of the text, such as a file; ``None`` without one.
    """

    text: str
    start: int
    statement: str
    name: str | None = None

    @classmethod
    def of(cls, statement: str) -> SourceText:
        """A statement that is the whole text."""
        return cls(statement, 0, statement)

    @property
    def line(self) -> int:
        """The line of the whole text that the statement begins on, from 1."""
        return self.text.count("\n", 0, self.start) + 1

    def with_statement(self, statement: str) -> SourceText:
        """The same place with the statement as it was run, with its variables replaced."""
        rest = self.text[self.start + len(self.statement) :]
        return SourceText(f"{self.text[: self.start]}{statement}{rest}", self.start, statement, self.name)

    def span_at(self, line: int, column: int) -> Span:
        """The word at a line, from 1, and a column, from 0, of the statement; a single character if there is none."""
        lines = self.statement.split("\n")
        before = sum(len(one) + 1 for one in lines[: line - 1])
        start = min(before + column, len(self.statement))
        word = re.compile(r"\w+|`[^`]*`|\S").match(self.statement, start)
        return Span(start, word.end() if word else start + 1)

    def excerpt(self, span: Span) -> Excerpt:
        """The line that a span begins on."""
        start = min(self.start + span.start, len(self.text))
        number = self.text.count("\n", 0, start) + 1
        begin = self.text.rfind("\n", 0, start) + 1
        end = self.text.find("\n", start)
        line = self.text[begin : len(self.text) if end < 0 else end].rstrip("\r")
        column = start - begin
        stop = min(max(self.start + span.stop - begin, column + 1), max(len(line), column + 1))
        first = max(0, column - _SHOWN_WIDTH // 2) if len(line) > _SHOWN_WIDTH else 0
        last = min(len(line), first + _SHOWN_WIDTH)
        stop = min(stop, max(last, column + 1))
        head = ("..." if first else "") + _shown(line[first:column])
        marked, tail = _shown(line[column:stop]), _shown(line[stop:last]) + ("..." if last < len(line) else "")
        return Excerpt(number, column + 1, head + marked + tail, shown_width(head), max(shown_width(marked), 1))


def _shown(text: str) -> str:
    return _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text.replace("\t", _TAB))
