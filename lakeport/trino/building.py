"""Short ways to build parts of a translated query."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

__all__ = ["call", "cast", "integer", "is_null", "text", "when"]


def call(name: str, *values: Expr) -> Expr:
    """A call of a function of Spark, with copies of its arguments."""
    return exp.Anonymous(this=name, expressions=[value.copy() for value in values])


def cast(value: Expr, kind: str) -> Expr:
    """A cast to a type in Spark's words."""
    return exp.Cast(this=value.copy(), to=exp.DataType.build(kind, dialect="spark"))


def text(value: str) -> Expr:
    """A literal text."""
    return exp.Literal.string(value)


def integer(value: int) -> Expr:
    """A literal whole number."""
    return exp.Literal.number(value)


def when(condition: Expr, value: Expr, default: Expr | None = None) -> Expr:
    """``CASE WHEN condition THEN value ELSE default END``."""
    return exp.Case(ifs=[exp.If(this=condition, true=value)], default=default)


def is_null(value: Expr) -> Expr:
    """``value IS NULL``."""
    return exp.Is(this=value.copy(), expression=exp.Null())
