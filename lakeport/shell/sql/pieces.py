"""An unfinished statement as pieces: words, names and other tokens."""

from __future__ import annotations

from dataclasses import dataclass

from lakeport.shell.sql.statements import tokens

__all__ = ["CURSOR", "KEYWORDS", "Piece", "is_name", "may_be_alias", "pieces_of"]

_SPARK_KEYWORDS = (
    "ADD ALL ALTER ANALYZE AND ANTI ANY AS ASC BEGIN BETWEEN BY CALL CASE CAST CATALOG CATALOGS CHANGES CODEGEN "
    "COLUMN COLUMNS COMMENT COST CREATE CROSS CUBE CURRENT_DATE CURRENT_TIMESTAMP DATE DESC DESCRIBE DISTINCT DROP "
    "ELSE END EXCEPT EXISTS EXPLAIN EXTENDED EXTRACT FALSE FILTER FIRST FOR FORMATTED FROM FULL FUNCTIONS GROUP "
    "GROUPING HAVING IF ILIKE IN INNER INTERSECT INTERVAL INTO IS JOIN LAST LATERAL LEFT LIKE LIMIT MINUS NAMESPACES "
    "NATURAL NOT NULL NULLS OF OFFSET ON OR ORDER OUTER OVER PARTITION PARTITIONED PARTITIONS PIVOT PROCEDURES "
    "PROPERTIES QUALIFY RANGE RENAME RESET RIGHT RLIKE ROLLUP ROWS SCHEMA SCHEMAS SELECT SEMI SET SETS SHOW STATS "
    "TABLE TABLES TABLESAMPLE TBLPROPERTIES THEN TIMESTAMP TO TRUE UNION UNPIVOT USE USING VALUES VERSION VIEW VIEWS "
    "WHEN WHERE WINDOW WITH"
)
KEYWORDS = tuple(_SPARK_KEYWORDS.split())

_MAY_BE_ALIASES = "CATALOG CODEGEN COMMENT COST DATE RANGE STATS TIMESTAMP VERSION"
_NO_ALIAS = frozenset(KEYWORDS) - frozenset(_MAY_BE_ALIASES.split())


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a statement.

    Attributes:
        text: A word in upper case, a quoted name with its quotes, a literal or another token.
        written: The same as written.
    """

    text: str
    written: str


CURSOR = Piece("", "")
"""Marks the position of the cursor."""


def pieces_of(text: str, *, stop_at_end: bool = False) -> tuple[list[Piece], bool]:
    """The pieces of the last statement in a text, and whether a quote or a comment is open at its end.

    Args:
        text: Statements; the last one may be unfinished.
        stop_at_end: Return the first statement instead.
    """
    found: list[Piece] = []
    for token in tokens(text):
        if token.kind == "end":
            if stop_at_end:
                break
            found = []
        elif token.kind == "open":
            return found, True
        elif token.kind not in ("blank", "comment"):
            written = text[token.start : token.stop]
            found.append(Piece(written.upper() if token.kind == "word" else written, written))
    # An unfinished line comment is a blank.
    line = text.rsplit("\n", 1)[-1]
    return found, "--" in line and not stop_at_end and _ends_in_line_comment(text)


def is_name(piece: Piece) -> bool:
    """Whether it is a word or a quoted name."""
    return piece.text[:1] in ("`", "_") or piece.text[:1].isalpha()


def may_be_alias(piece: Piece) -> bool:
    """Whether it is a name that can be an alias without AS."""
    return is_name(piece) and piece.text not in _NO_ALIAS


def _ends_in_line_comment(text: str) -> bool:
    last = None
    for token in tokens(text):
        last = token
    return last is not None and last.kind == "blank" and text[last.start : last.stop].startswith("--")
