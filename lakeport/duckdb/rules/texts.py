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
_INTS = 2**31
_ESCAPES = re.compile(r"\\[%_\\]")


def _like(node: Expr) -> None:
    escaped = isinstance(node.parent, exp.Escape)
    pattern = node.expression
    if kind_of(node.this) is not Kind.TEXT or not isinstance(pattern, exp.Literal):
        raise refused(node, "a pattern that is not written out")
    if not escaped and _ESCAPES.sub("", pattern.name).count("\\"):
        raise refused(node, "a backslash before other characters than %, _ and itself")
    node.type = exp.DataType.build("BOOLEAN")


def _with_escape(node: Expr) -> Expr:
    """A backslash is an escape in Spark alone."""
    if "\\" not in node.expression.name or isinstance(node.parent, exp.Escape):
        return node
    return exp.Escape(this=node, expression=exp.Literal.string("\\"))


def _escape(node: Expr) -> None:
    """Both engines fail where what is escaped needs no escape; here the query is refused."""
    by, pattern = node.expression, node.this.expression
    if not isinstance(node.this, exp.Like) or not isinstance(by, exp.Literal) or len(by.name) != 1:
        raise refused(node, "an escape that is no character that is written out")
    if re.sub(f"{re.escape(by.name)}[%_{re.escape(by.name)}]", "", pattern.name).count(by.name) or by.name in "%_":
        raise refused(node, f"'{by.name}' before other characters than %, _ and itself")
    node.type = exp.DataType.build("BOOLEAN")


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
    if kind_of(node.this) is not Kind.TEXT:
        raise refused(node, f"of {kind_of(node.this).value}, not of {Kind.TEXT.value}")
    bounds = [node.args.get("start"), node.args.get("length")]
    if bounds[0] is None or any(one is not None and not _is_int(one) for one in bounds):
        raise refused(node, "a position or length that is no int")
    node.type = exp.DataType.build(_TEXT)


def _is_int(bound: Expr) -> bool:
    number = bound.this if isinstance(bound, exp.Neg) else bound
    if isinstance(number, exp.Literal) and not number.is_string and number.name.isdigit():
        return int(number.name) < _INTS
    return bound.type is not None and bound.type.this.name in ("TINYINT", "SMALLINT", "INT")


def _written(bound: Expr) -> Expr:
    """A number without a cast to int around it."""
    is_cast = isinstance(bound, exp.Cast) and bound.args["to"].this is exp.DType.INT
    is_number = is_cast and isinstance(bound.this, exp.Literal) and bound.this.name.isdigit()
    return bound.this if is_number else bound


def _cut(node: Expr) -> Expr:
    """From position 1 on both engines mean the same, if it is written out."""
    bounds = [_written(one) for one in (node.args["start"], node.args.get("length")) if one is not None]
    numbers = [one for one in bounds if isinstance(one, exp.Literal)]
    if len(numbers) == len(bounds) and int(numbers[0].name) > 0:
        return node
    most = exp.Literal.number(_INTS - 1)
    made = exp.Anonymous(this="lakeport_substring", expressions=[node.this, *bounds, most][:3])
    made.type = node.type
    return made


TEXTS: Rules = {
    exp.Escape: Rule(_escape),
    exp.Like: Rule(_like, _with_escape),
    exp.ILike: Rule(_like_without_case, _small_letters),
    exp.Trim: Rule(_trim, _trimmed),
    exp.ConcatWs: Rule(_joined_with, _all_joined_with),
    exp.DPipe: Rule(_joined),
    exp.Concat: Rule(_joined, _concatenated),
    exp.Substring: Rule(_substring, _cut),
}
