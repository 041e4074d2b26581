"""Splits SQL text into statements at semicolons outside quotes, comments and scripts (``BEGIN ... END``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

__all__ = ["InputPart", "PartKind", "SplitText", "Token", "split_input", "split_statements", "tokens"]

# As in Spark's lexer: strings have backslash escapes unless prefixed with r; comments between /* and */ nest.
_TOKEN = re.compile(
    r"""
    (?P<blank>\s+|--[^\n]*)
  | (?P<comment>/\*)
  | (?P<end>;)
  | (?P<text>[rR]'[^']*'|[rR]"[^"]*"|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`)
  | (?P<open>[rR]?['"]|`)
  | (?P<command>\\[^\n]*)
  | (?P<word>\w+)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_GO = re.compile(r"\\(?P<how>gx|[gG])(?!\w)[ \t]*;?\s*")
_CLOSES_NO_BLOCK = frozenset({"IF", "WHILE", "LOOP", "REPEAT", "FOR"})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of SQL text.

    Attributes:
        kind: ``blank``, ``comment``, ``end`` (a semicolon), ``text`` (quoted), ``open`` (an unclosed quote or
            comment), ``command`` (a backslash and the rest of its line), ``word`` or ``other``.
        start: Offset of its first character.
        stop: Offset after its last character.
    """

    kind: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class SplitText:
    """Text split into statements.

    Attributes:
        statements: Texts of the statements, stripped, without semicolons; none is only comments.
        rest: The text after the last semicolon; empty if it is only blanks and comments.
        is_open: Whether the rest ends within a quote or a comment.
    """

    statements: tuple[str, ...]
    rest: str
    is_open: bool


class PartKind(Enum):
    """Kinds of parts of the shell's input."""

    STATEMENT = "statement"
    VERTICAL = "statement whose rows are shown one column on each line"
    COMMAND = "command of the shell"
    UNFINISHED = "statement without an end"


@dataclass(frozen=True, slots=True)
class InputPart:
    """A part of the shell's input.

    Attributes:
        kind: Kind of the part.
        text: Stripped text without a terminator; a command begins with its backslash.
        start: Offset of its first character in the input.
    """

    kind: PartKind
    text: str
    start: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text, in order; an ``open`` one is the last."""
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match is not None
        kind, stop = str(match.lastgroup), match.end()
        if kind == "comment":
            stop = _end_of_comment(text, stop)
        if kind == "open" or stop < 0:
            yield Token("open", position, len(text))
            return
        yield Token(kind, position, stop)
        position = stop


def split_statements(text: str) -> SplitText:
    """Splits SQL text into statements; a script, ``BEGIN ... END``, is one."""
    statements: list[str] = []
    start = 0
    has_content = False
    script = _Script()
    for token in tokens(text):
        if token.kind == "open":
            return SplitText(tuple(statements), text[start:].strip(), True)
        if token.kind == "end" and not script.is_inside:
            if has_content:
                statements.append(text[start : token.start].strip())
            start, has_content, script = token.stop, False, _Script()
        elif token.kind not in ("blank", "comment"):
            has_content = True
            script.meet(text, token)
    return SplitText(tuple(statements), text[start:].strip() if has_content else "", False)


def split_input(text: str) -> list[InputPart]:
    r"""Splits input typed into the shell, or read by ``\i``, into statements and commands.

    A command extends from its backslash to the end of the line; after a statement, it also ends the statement:
    ``SELECT 1 \watch 2``. ``\g`` ends a statement, too; ``\gx`` and ``\G`` show its rows one column on each line.
    """
    parts: list[InputPart] = []
    start = 0
    has_content = False
    script = _Script()

    def add(kind: PartKind, begin: int, stop: int) -> None:
        blanks = len(text[begin:stop]) - len(text[begin:stop].lstrip())
        parts.append(InputPart(kind, text[begin:stop].strip(), begin + blanks))

    def finish(kind: PartKind, stop: int) -> None:
        if has_content:
            add(kind, start, stop)

    for token in tokens(text):
        if token.kind == "open":
            has_content = True
            break
        if token.kind == "command":
            go = _GO.match(text, token.start)
            if go is not None:
                finish(PartKind.STATEMENT if go.group("how") == "g" else PartKind.VERTICAL, token.start)
                # The rest of the line is the next input.
                follow = split_input(text[go.end() :])
                return parts + [replace(part, start=part.start + go.end()) for part in follow]
            finish(PartKind.STATEMENT, token.start)
            add(PartKind.COMMAND, token.start, token.stop)
            start, has_content, script = token.stop, False, _Script()
        elif token.kind == "end" and not script.is_inside:
            finish(PartKind.STATEMENT, token.start)
            start, has_content, script = token.stop, False, _Script()
        elif token.kind not in ("blank", "comment"):
            has_content = True
            script.meet(text, token)
    finish(PartKind.UNFINISHED, len(text))
    return parts


class _Script:
    """Counts the open blocks of a script while its words are read.

    ``BEGIN`` and ``CASE`` are closed by ``END``; the other compound statements end in two words, such as ``END IF``,
    and are not counted. Only a statement that begins with ``BEGIN``, or a label before it, is a script.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._words: list[str] = []
        self._is_script: bool | None = None

    @property
    def is_inside(self) -> bool:
        """Whether a semicolon here belongs to the script."""
        return bool(self._is_script) and self._depth > 0

    def meet(self, text: str, token: Token) -> None:
        """Reads the next token."""
        if self._is_script is False:
            return
        before = self._words[-1] if self._words else ""
        written = text[token.start : token.stop]
        word = written.upper() if token.kind != "text" else "'"
        if before == ".":
            word = "'"  # a field, such as t.end
        self._words = [*self._words[-2:], word] if self._is_script else [*self._words, word]
        if self._is_script is None:
            self._is_script = _begins_script(self._words)
            if not self._is_script:
                return
        if word in ("BEGIN", "CASE") and before != "END":
            self._depth += 1
        elif word == "END":
            self._depth -= 1
        elif before == "END" and word in _CLOSES_NO_BLOCK:
            self._depth += 1


def _begins_script(words: list[str]) -> bool | None:
    """``None`` while a label may still be followed by BEGIN."""
    if words[0] == "BEGIN":
        return True
    if len(words) == 1:
        return None
    if words[1] != ":":
        return False
    return None if len(words) == 2 else words[2] == "BEGIN"


def _end_of_comment(text: str, position: int) -> int:
    """The position after a comment that begins before ``position``; negative if it does not end."""
    depth = 1
    while depth:
        edge = _COMMENT_EDGE.search(text, position)
        if edge is None:
            return -1
        depth += 1 if edge.group() == "/*" else -1
        position = edge.end()
    return position
