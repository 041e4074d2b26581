"""What can stand at the cursor of an unfinished SQL statement, and which tables the statement is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from lakeport.shell.statements import tokens

__all__ = ["KEYWORDS", "Expected", "Relation", "SqlContext", "sql_context"]

_SPARK_KEYWORDS = (
    "ADD ALL ALTER ANALYZE AND ANTI ANY AS ASC BEGIN BETWEEN BY CALL CASE CAST CATALOG CATALOGS CHANGES COLUMN "
    "COLUMNS COMMENT CREATE CROSS CUBE CURRENT_DATE CURRENT_TIMESTAMP DATE DESC DESCRIBE DISTINCT DROP ELSE END "
    "EXCEPT EXISTS EXPLAIN EXTENDED EXTRACT FALSE FILTER FIRST FOR FORMATTED FROM FULL FUNCTIONS GROUP GROUPING "
    "HAVING IF ILIKE IN INNER INTERSECT INTERVAL INTO IS JOIN LAST LATERAL LEFT LIKE LIMIT MINUS NAMESPACES NATURAL "
    "NOT NULL NULLS OF OFFSET ON OR ORDER OUTER OVER PARTITION PARTITIONED PARTITIONS PIVOT PROCEDURES PROPERTIES "
    "QUALIFY RANGE RENAME RESET RIGHT RLIKE ROLLUP ROWS SCHEMA SCHEMAS SELECT SEMI SET SETS SHOW STATS TABLE TABLES "
    "TABLESAMPLE TBLPROPERTIES THEN TIMESTAMP TO TRUE UNION UNPIVOT USE USING VALUES VERSION VIEW VIEWS WHEN WHERE "
    "WINDOW WITH"
)
KEYWORDS = tuple(_SPARK_KEYWORDS.split())

_PATH = re.compile(r"(?:`[^`]*`|`[^`]*$|[\w$]+|\.)*$")
_PART = re.compile(r"`([^`]*)`?|([^.`]+)|(\.)")
_CLAUSE_WORDS = (
    "SELECT FROM JOIN WHERE ON HAVING BY SET USE CALL TABLE INTO DESCRIBE DESC LIMIT WITH SHOW VALUES USING WINDOW "
    "QUALIFY FOR PARTITIONS COLUMNS VIEW TABLES SCHEMAS VIEWS SCHEMA NAMESPACE IN CATALOG CHANGES"
)
_CLAUSES = frozenset(_CLAUSE_WORDS.split())
_SCHEMA_FOLLOWS = frozenset({"TABLES", "VIEWS", "SCHEMAS", "NAMESPACES", "PROCEDURES"})
_TABLE_FOLLOWS = frozenset({"FROM", "JOIN", "INTO", "TABLE", "DESCRIBE", "DESC", "VIEW", "CHANGES"})
_NO_ALIAS = frozenset(KEYWORDS) - {"DATE", "TIMESTAMP", "VERSION", "RANGE", "STATS", "COMMENT", "CATALOG"}


class Expected(Enum):
    """What kind of name stands at the cursor."""

    NOTHING = "inside of a text or a comment"
    KEYWORD = "the next clause"
    RELATION = "a table or view, or what its name begins with"
    SCHEMA = "a schema, or the catalog before it"
    EXPRESSION = "columns and functions"
    SETTING = "a session property"
    PROCEDURE = "a procedure, or the catalog before it"


@dataclass(frozen=True, slots=True)
class Relation:
    """A table that the statement reads.

    Attributes:
        name: Its parts as written, in lower case.
        alias: What it is called in the statement; ``None`` for its own name.
    """

    name: tuple[str, ...]
    alias: str | None


@dataclass(frozen=True, slots=True)
class SqlContext:
    """The place of the cursor.

    Attributes:
        expected: What stands there.
        before: Parts of the name before the one that is typed, in lower case.
        word: The part that is typed, in lower case, without its backtick.
        written: The same as it stands before the cursor.
        relations: Tables of the statement.
    """

    expected: Expected
    before: tuple[str, ...]
    word: str
    written: str
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of the statement: a word in capitals, a quoted name with its quotes, or a sign."""

    text: str
    stop: int


def sql_context(text: str, cursor: int) -> SqlContext:
    """Looks at the statement around the cursor.

    Args:
        text: All that is typed.
        cursor: The position in it.
    """
    path = _PATH.search(text[:cursor])
    written = path.group() if path is not None else ""
    head = text[: cursor - len(written)]
    pieces, is_open = _pieces(head)
    if is_open:
        return SqlContext(Expected.NOTHING, (), "", "", ())
    parts = [name or bare for name, bare, dot in _PART.findall(written) if not dot]
    last = "" if not written or written.endswith(".") else parts.pop()
    before = tuple(part.lower() for part in parts)
    rest, _ = _pieces(text[cursor:], stop_at_end=True)
    # The name at the cursor is none of the statement's tables yet.
    relations = _relations(pieces) + _relations(rest)
    return SqlContext(_expected(pieces), before, last.lower(), written[_last_dot(written) + 1 :], tuple(relations))


def _pieces(text: str, *, stop_at_end: bool = False) -> tuple[list[_Piece], bool]:
    """The pieces of the last statement in a text (of the first one with ``stop_at_end``), and whether it is open."""
    found: list[_Piece] = []
    for token in tokens(text):
        if token.kind == "end":
            if stop_at_end:
                break
            found = []
        elif token.kind == "open":
            return found, True
        elif token.kind not in ("blank", "comment"):
            written = text[token.start : token.stop]
            found.append(_Piece(written.upper() if token.kind == "word" else written, token.stop))
    # A line comment that has not ended yet is a blank.
    line = text.rsplit("\n", 1)[-1]
    return found, "--" in line and not stop_at_end and _ends_in_line_comment(text)


def _ends_in_line_comment(text: str) -> bool:
    last = None
    for token in tokens(text):
        last = token
    return last is not None and last.kind == "blank" and text[last.start : last.stop].startswith("--")


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


def _expected(pieces: Sequence[_Piece]) -> Expected:
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
    if clause in _TABLE_FOLLOWS:
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


def _same_level(pieces: Sequence[_Piece]) -> list[str]:
    """The words up to here without what stands in closed parentheses; from the last subquery that is open."""
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
    # Inside of the parentheses of a function the clause of the query around it counts.
    words = levels.pop()
    while levels and not any(word in ("SELECT", "WITH") for word in words):
        words = [*levels.pop(), "(", *words]
    return words


def _relations(pieces: Sequence[_Piece]) -> list[Relation]:
    found: list[Relation] = []
    index = 0
    in_from = False
    while index < len(pieces):
        word = pieces[index].text
        index += 1
        if word in _TABLE_FOLLOWS or (word == "," and in_from):
            in_from = in_from or word == "FROM"
            name, index = _name(pieces, index)
            if name:
                alias, index = _alias(pieces, index)
                found.append(Relation(name, alias))
        elif word in _CLAUSES or word == "(":
            in_from = False
    return found


def _name(pieces: Sequence[_Piece], index: int) -> tuple[tuple[str, ...], int]:
    parts: list[str] = []
    while index < len(pieces) and _is_name(pieces[index].text):
        if not parts and pieces[index].text in _NO_ALIAS:
            break
        parts.append(pieces[index].text.strip("`").lower())
        index += 1
        if index >= len(pieces) or pieces[index].text != ".":
            break
        index += 1
    return tuple(parts), index


def _alias(pieces: Sequence[_Piece], index: int) -> tuple[str | None, int]:
    if index < len(pieces) and pieces[index].text == "AS":
        index += 1
    if index < len(pieces) and _is_name(pieces[index].text) and pieces[index].text not in _NO_ALIAS:
        return pieces[index].text.strip("`").lower(), index + 1
    return None, index


def _is_name(text: str) -> bool:
    return text[0] == "`" or text[0].isalpha() or text[0] == "_"
