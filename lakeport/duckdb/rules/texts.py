"""Texts."""

from __future__ import annotations

import re
from functools import reduce

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import Kind, kind_of
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["TEXTS"]

_TEXT = "VARCHAR"
_ESCAPES = re.compile(r"\\[%_\\]")


def _like(node: Expr) -> None:
    escaped = isinstance(node.parent, exp.Escape)
    pattern = node.expression
    if kind_of(node.this) is not Kind.TEXT or not isinstance(pattern, exp.Literal):
        raise refused(node, "a pattern that is not written out")
    if "\\" in pattern.name and (escaped or _ESCAPES.sub("", pattern.name).count("\\")):
        raise refused(node, "a backslash before other characters than %, _ and itself")
    node.type = exp.DataType.build("BOOLEAN")


def _with_escape(node: Expr) -> Expr:
    """A backslash is an escape in Spark alone."""
    if "\\" not in node.expression.name:
        return node
    return exp.Escape(this=node, expression=exp.Literal.string("\\"))


def _like_without_case(node: Expr) -> None:
    """``ILike`` compares small letters."""
    pattern = node.expression
    if not isinstance(pattern, exp.Literal) or "\\" in pattern.name or not pattern.name.isascii():
        raise refused(node, "a pattern that is not written out, or has other than ASCII characters")
    _like(node)


def _small_letters(node: Expr) -> Expr:
    small = exp.Anonymous(this="lakeport_lower_0", expressions=[node.this])
    return exp.Like(this=small, expression=exp.Literal.string(node.expression.name.lower()))


def _trim(node: Expr) -> None:
    set_of = node.expression
    if kind_of(node.this) is not Kind.TEXT or (set_of is not None and kind_of(set_of) is not Kind.TEXT):
        raise refused(node, f"of {kind_of(node.this).value}, not of {Kind.TEXT.value}")
    node.type = exp.DataType.build(_TEXT)


def _trimmed(node: Expr) -> Expr:
    """Spark takes away spaces alone, and no other blanks."""
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
    return exp.Anonymous(this=name, expressions=[node.this, node.expression or exp.Literal.string(" ")])


def _joined_with(node: Expr) -> None:
    if any(kind_of(one) not in (Kind.TEXT, Kind.NULL) for one in node.expressions):
        raise refused(node, "values of other types than string are joined to a text")
    node.type = exp.DataType.build(_TEXT)


def _all_joined_with(node: Expr) -> Expr:
    if len(node.expressions) == 1:
        # Of no values it is an empty text.
        empty = exp.Anonymous(this="left", expressions=[*node.expressions, exp.Literal.number(0)])
        empty.type = node.type
        return empty
    return exp.Anonymous(this="concat_ws", expressions=node.expressions)


def _joined(node: Expr) -> None:
    parts = node.expressions if isinstance(node, exp.Concat) else [node.this, node.expression]
    if any(kind_of(one) is not Kind.TEXT for one in parts):
        raise refused(node, "values of other types than string are joined to a text")
    node.type = exp.DataType.build(_TEXT)


def _concatenated(node: Expr) -> Expr:
    """By ``||``, which is NULL where a part is, as Spark's function; DuckDB's leaves such parts out."""
    return exp.Paren(this=reduce(lambda left, right: exp.DPipe(this=left, expression=right), node.expressions))


def _substring(node: Expr) -> None:
    bounds = [one for one in (node.args.get("start"), node.args.get("length")) if one is not None]
    if kind_of(node.this) is not Kind.TEXT:
        raise refused(node, f"of {kind_of(node.this).value}, not of {Kind.TEXT.value}")
    if not bounds or not all(isinstance(one, exp.Literal) and one.name.isdigit() for one in bounds):
        raise refused(node, "the position or length is not written out as a number")
    if bounds[0].name.strip("0") == "":
        raise refused(node, "position 0 is the first character in Spark, and before it in DuckDB")
    node.type = exp.DataType.build(_TEXT)


TEXTS: Rules = {
    exp.Like: Rule(_like, _with_escape),
    exp.ILike: Rule(_like_without_case, _small_letters),
    exp.Trim: Rule(_trim, _trimmed),
    exp.ConcatWs: Rule(_joined_with, _all_joined_with),
    exp.DPipe: Rule(_joined),
    exp.Concat: Rule(_joined, _concatenated),
    exp.Substring: Rule(_substring),
}
