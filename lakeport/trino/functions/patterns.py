"""Regular expressions of Trino (Joni, in Java's syntax) as java.util.regex has them.

They differ in line ends (only ``\\n`` in Joni, ``(?d)`` in Java), in the words of ``\\b``, and in rarer parts. So the
parts that mean the same are listed here, and others refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot.expressions import Expr

from lakeport.trino.rules import UntranslatableError

__all__ = ["Pattern", "read_pattern"]

_WORD = r"[\p{L}\p{M}\p{N}\p{Pc}]"
_BOUNDARY = f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"
_CLASS = re.compile(
    r"\[\^?(?:[^\]\[\\&^]|\\[dDwWsStnrf\\\[\]().*+?|^$/\-&{}\"'])(?:[^\]\[\\&]|\\[dDwWsStnrf\\\[\]().*+?|^$/\-&{}\"'])*\]"
)
_ESCAPE = re.compile(r"\\(?:[dDwWsStnrf]|[^\w\s])")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})\??(?![*+?{])")
_GROUP = re.compile(r"\((?:\?[:=!])?(?!\?)")
_PLAIN = re.compile(r"[^\\\[\]{}()*+?|]")


@dataclass(slots=True)
class _Group:
    """A group while it is read; the whole pattern is one too."""

    parent: int
    number: int | None = None
    branches: bool = False
    may_be_absent: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that means the same in Trino and Java.

    Args:
        java: Its text for java.util.regex.
        groups: How many capturing groups it has.
        certain: The groups that take part in every match; the others are NULL in Trino, and empty in Spark.
        looks: Whether it looks ahead or behind, so that a match may be empty.
    """

    java: str
    groups: int
    certain: frozenset[int]
    looks: bool


def read_pattern(node: Expr, literal: Expr | None) -> Pattern:
    """Reads a pattern.

    Args:
        node: The call, for the error.
        literal: The pattern.

    Raises:
        UntranslatableError: It is not a literal, or a part may mean something else in Java.
    """
    if literal is None or not literal.is_string:
        raise UntranslatableError(node, "the regular expression is not a literal", "write the pattern as a literal")
    written = literal.name
    flags = "(?diu)" if written.startswith("(?i)") else "(?d)"
    body = written.removeprefix("(?i)")
    groups, stack, made = [_Group(-1)], [0], []
    position = 0
    while position < len(body):
        part = _part(node, body, position)
        made.append(_BOUNDARY if part == r"\b" else part)
        position += len(part)
        _note(node, part, groups, stack, _QUANTIFIER.match(body, position))
    if len(stack) != 1:
        raise UntranslatableError(node, "a parenthesis of the regular expression is not closed", "")
    numbers = [group for group in groups if group.number is not None]
    certain = frozenset(group.number for group in numbers if group.number is not None and _is_certain(group, groups))
    looks = any(part in ("(?=", "(?!", r"\b") for part in made) or _BOUNDARY in made
    return Pattern(flags + "".join(made), len(numbers), certain, looks)


def _part(node: Expr, body: str, position: int) -> str:
    if body.startswith(r"\b", position):
        return r"\b"
    forms = {"\\": _ESCAPE, "[": _CLASS, "(": _GROUP, "*": _QUANTIFIER, "+": _QUANTIFIER, "?": _QUANTIFIER}
    form = {**forms, "{": _QUANTIFIER}.get(body[position], _PLAIN)
    found = form.match(body, position)
    if found is not None:
        return found.group()
    if body[position] in ")|":
        return body[position]
    raise UntranslatableError(
        node,
        f"'{body[position:]}' may mean something else in Java's regular expressions",
        "write it with plain characters, classes, groups and quantifiers",
    )


def _note(node: Expr, part: str, groups: list[_Group], stack: list[int], quantifier: re.Match[str] | None) -> None:
    if part.startswith("("):
        number = sum(group.number is not None for group in groups) + 1 if part == "(" else None
        groups.append(_Group(stack[-1], number, may_be_absent=part == "(?!"))
        stack.append(len(groups) - 1)
    elif part == "|":
        groups[stack[-1]].branches = True
    elif part == ")":
        if len(stack) == 1:
            raise UntranslatableError(node, "a parenthesis of the regular expression is not opened", "")
        closed = groups[stack.pop()]
        text = quantifier.group() if quantifier is not None else ""
        closed.may_be_absent |= text.startswith(("*", "?", "{0"))


def _is_certain(group: _Group, groups: list[_Group]) -> bool:
    current = group
    while not current.may_be_absent:
        if current.parent < 0:
            return True
        current = groups[current.parent]
        if current.branches:
            return False
    return False
