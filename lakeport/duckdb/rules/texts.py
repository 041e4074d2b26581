"""Texts."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import Kind, kind_of
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules
from lakeport.duckdb.rules.times import as_int, of

__all__ = ["TEXTS"]

_TEXT = "VARCHAR"


def _like(node: Expr) -> None:
    pattern = node.expression
    if kind_of(node.this) is not Kind.TEXT or not isinstance(pattern, exp.Literal) or "\\" in pattern.name:
        raise refused(node, "a pattern that is no plain text, since a backslash is an escape in Spark alone")


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
    exp.Length: Rule(of(Kind.TEXT), as_int),
    exp.Like: Rule(_like),
    exp.DPipe: Rule(_joined),
    exp.Concat: Rule(_joined, _concatenated),
    exp.Substring: Rule(_substring),
}
