"""What is expected at the cursor of an unfinished SQL statement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from lakeport.shell.sql.pieces import CURSOR, Piece, pieces_of
from lakeport.shell.sql.scopes import TABLE_FOLLOWS, Scope, scope_at_cursor
from lakeport.shell.sql.statements import tokens

__all__ = ["Expected", "SqlContext", "sql_context"]

_REST_OF_NAME = re.compile(r"^[\w$]+")
_PART = re.compile(r"`([^`]*)`?|([^.`]+)|(\.)")
_CLAUSE_WORDS = (
    "SELECT FROM JOIN WHERE ON HAVING BY SET USE CALL TABLE INTO DESCRIBE DESC LIMIT WITH SHOW VALUES USING WINDOW "
    "QUALIFY FOR PARTITIONS COLUMNS VIEW TABLES SCHEMAS VIEWS SCHEMA NAMESPACE IN CATALOG CHANGES"
)
_CLAUSES = frozenset(_CLAUSE_WORDS.split())
_SCHEMA_FOLLOWS = frozenset({"TABLES", "VIEWS", "SCHEMAS", "NAMESPACES", "PROCEDURES"})


class Expected(Enum):
    """The kind of name that is expected at the cursor."""

    NOTHING = "inside of a text or a comment"
    KEYWORD = "the next clause"
    RELATION = "a table or view, or what its name begins with"
    SCHEMA = "a schema, or the catalog before it"
    EXPRESSION = "columns and functions"
    SETTING = "a session property"
    PROCEDURE = "a procedure, or the catalog before it"


@dataclass(frozen=True, slots=True)
class SqlContext:
    """The context of the cursor.

    Attributes:
        expected: The expected kind of name.
        before: Parts of the name before the one being typed, in lower case.
        word: The part being typed, in lower case, without its backtick.
        written: The same as written before the cursor.
        scope: Tables and other queries that can be named there.
        after: The word before the name, in upper case; empty at the start of a statement.
    """

    expected: Expected
    before: tuple[str, ...]
    word: str
    written: str
    scope: Scope = field(default_factory=Scope)
    after: str = ""


def sql_context(text: str, cursor: int) -> SqlContext:
    """The context of the cursor in a statement.

    Args:
        text: The whole input.
        cursor: Position of the cursor in it.
    """
    written = _name_before(text[:cursor])
    head = text[: cursor - len(written)]
    pieces, is_open = pieces_of(head)
    if is_open:
        return SqlContext(Expected.NOTHING, (), "", "")
    parts = [name or bare for name, bare, dot in _PART.findall(written) if not dot]
    last = "" if not written or written.endswith(".") else parts.pop()
    before = tuple(part.lower() for part in parts)
    # The name at the cursor is not yet one of the statement's tables.
    rest, _ = pieces_of(_REST_OF_NAME.sub("", text[cursor:], count=1), stop_at_end=True)
    scope = scope_at_cursor([*pieces, CURSOR, *rest])
    return SqlContext(
        expected=_expected(pieces),
        before=before,
        word=last.lower(),
        written=written[_last_dot(written) + 1 :],
        scope=scope,
        after=pieces[-1].text if pieces else "",
    )


def _name_before(text: str) -> str:
    """The name at the end of a text, as far as typed; its last part may have an open quote."""
    start: int | None = None
    for token in tokens(text):
        piece = text[token.start : token.stop]
        if token.kind != "word" and piece not in (".", "$") and piece[0] != "`":
            start = None
        elif start is None:
            start = token.start
    return "" if start is None else text[start:]


def _last_dot(written: str) -> int:
    """The position of the last dot outside of backticks; -1 without one."""
    quoted = False
    found = -1
    for index, character in enumerate(written):
        if character == "`":
            quoted = not quoted
        elif character == "." and not quoted:
            found = index
    return found


def _expected(pieces: Sequence[Piece]) -> Expected:
    words = _same_level(pieces)
    if not words:
        return Expected.KEYWORD
    last = words[-1]
    clauses = [index for index, word in enumerate(words) if word in _CLAUSES]
    if not clauses:
        return Expected.EXPRESSION if last == "(" else Expected.KEYWORD
    clause = words[clauses[-1]]
    follows = clauses[-1] == len(words) - 1
    first = words[0]
    if first == "SHOW":
        return _expected_of_show(words, follows)
    if first == "USE":
        return Expected.SCHEMA if last in ("USE", "CATALOG", "SCHEMA", "NAMESPACE") else Expected.KEYWORD
    if first == "CALL":
        return Expected.PROCEDURE if last == "CALL" else Expected.EXPRESSION
    if first in ("SET", "RESET"):
        return Expected.SETTING if len(words) == 1 else Expected.KEYWORD
    if first in ("DROP", "ALTER", "CREATE") and last in ("SCHEMA", "NAMESPACE"):
        return Expected.SCHEMA
    if clause in TABLE_FOLLOWS:
        if follows or (last == "," and clause == "FROM") or last in ("EXTENDED", "FORMATTED", "EXISTS"):
            return Expected.RELATION
        return Expected.KEYWORD
    if clause == "LIMIT":
        return Expected.KEYWORD
    return Expected.EXPRESSION


def _expected_of_show(words: Sequence[str], follows: bool) -> Expected:
    kind = words[1] if len(words) > 1 else ""
    if follows and words[-1] in ("FROM", "IN", "FOR"):
        return Expected.SCHEMA if kind in _SCHEMA_FOLLOWS else Expected.RELATION
    if words[-1] == "PARTITIONS" or (kind == "CREATE" and words[-1] in ("TABLE", "VIEW")):
        return Expected.RELATION
    return Expected.KEYWORD


def _same_level(pieces: Sequence[Piece]) -> list[str]:
    """The words before the cursor without closed parentheses, starting at the innermost open subquery."""
    levels: list[list[str]] = [[]]
    for piece in pieces:
        if piece.text == "(":
            levels.append([])
        elif piece.text == ")":
            if len(levels) > 1:
                levels.pop()
            levels[-1].append(")")
        else:
            levels[-1].append(piece.text)
    # Within the parentheses of a function, the clause of the surrounding query counts.
    words = levels.pop()
    while levels and not any(word in ("SELECT", "WITH") for word in words):
        words = [*levels.pop(), "(", *words]
    return words
