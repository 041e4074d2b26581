"""The pieces of a statement, nested by parentheses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from lakeport.shell.sql.pieces import Piece, is_name, may_be_alias

__all__ = ["Item", "is_name_at", "is_query", "may_be_alias_at", "nested", "split_at_commas", "word_at"]

Item: TypeAlias = "Piece | tuple[Item, ...]"
"""A piece, or the items in parentheses."""

_QUERIES = frozenset({"SELECT", "WITH", "FROM", "VALUES", "TABLE"})
_DEEPEST = 50
"""Most levels of parentheses that are nested; deeper ones are flattened."""


def nested(pieces: Sequence[Piece]) -> tuple[Item, ...]:
    """Nests pieces by their parentheses.

    Parentheses that are still open at the end are flattened, unless they hold a query.
    """
    levels: list[list[Item]] = [[]]
    too_deep = 0
    for piece in pieces:
        if piece.text == "(" and len(levels) > _DEEPEST:
            too_deep += 1
        elif piece.text == "(":
            levels.append([])
        elif piece.text == ")" and too_deep:
            too_deep -= 1
        elif piece.text == ")":
            if len(levels) > 1:
                inner = tuple(levels.pop())
                levels[-1].append(inner)
        else:
            levels[-1].append(piece)
    while len(levels) > 1:
        # The text after the cursor is not in parentheses that are still open, unless they hold a query.
        rest = levels.pop()
        levels[-1] += [tuple(rest)] if is_query(rest) else rest
    return tuple(levels[0])


def split_at_commas(items: Sequence[Item]) -> list[list[Item]]:
    """The parts between the commas; one empty part if there are no items."""
    found: list[list[Item]] = [[]]
    for item in items:
        if isinstance(item, Piece) and item.text == ",":
            found.append([])
        else:
            found[-1].append(item)
    return found


def is_query(items: Sequence[Item]) -> bool:
    """Whether items are a query, and not a condition or list."""
    first = items[0] if items else None
    return is_query(first) if isinstance(first, tuple) else first is not None and first.text in _QUERIES


def word_at(items: Sequence[Item], at: int) -> str:
    """The text of a piece; empty for parentheses and past the end."""
    item = items[at] if 0 <= at < len(items) else None
    return item.text if isinstance(item, Piece) else ""


def is_name_at(items: Sequence[Item], at: int) -> bool:
    """Whether the item at a position is a name."""
    item = items[at] if at < len(items) else None
    return isinstance(item, Piece) and is_name(item)


def may_be_alias_at(items: Sequence[Item], at: int) -> bool:
    """Whether the item at a position is a name that can be an alias without AS."""
    item = items[at] if at < len(items) else None
    return isinstance(item, Piece) and may_be_alias(item)
