"""Cutting SQL text into statements at semicolons that are not inside of quotes or comments."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["SplitText", "split_statements"]

# Spark's lexer: strings know backslash escapes unless an r stands before them, comments between /* and */ nest.
_TOKEN = re.compile(
    r"""
    (?P<blank>\s+|--[^\n]*)
  | (?P<comment>/\*)
  | (?P<end>;)
  | (?P<text>[rR]'[^']*'|[rR]"[^"]*"|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`)
  | (?P<open>[rR]?['"]|`)
  | (?P<other>\w+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class SplitText:
    """Text cut into statements.

    Attributes:
        statements: Each with text before its semicolon, blanks at the ends dropped; none is only comments.
        rest: What follows the last semicolon; empty where that is only blanks and comments.
        is_open: The rest ends inside of a quote or a comment.
    """

    statements: tuple[str, ...]
    rest: str
    is_open: bool


def split_statements(text: str) -> SplitText:
    """Cuts SQL text into statements."""
    statements: list[str] = []
    start = position = 0
    says_something = False
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match is not None
        kind, position = match.lastgroup, match.end()
        if kind == "end":
            if says_something:
                statements.append(text[start : match.start()].strip())
            start, says_something = position, False
        elif kind == "comment":
            position = _end_of_comment(text, position)
            if position < 0:
                return SplitText(tuple(statements), text[start:].strip(), True)
        elif kind == "open":
            return SplitText(tuple(statements), text[start:].strip(), True)
        elif kind != "blank":
            says_something = True
    return SplitText(tuple(statements), text[start:].strip() if says_something else "", False)


def _end_of_comment(text: str, position: int) -> int:
    """The position behind a comment that begins before ``position``; negative where it does not end."""
    depth = 1
    while depth:
        edge = _COMMENT_EDGE.search(text, position)
        if edge is None:
            return -1
        depth += 1 if edge.group() == "/*" else -1
        position = edge.end()
    return position
