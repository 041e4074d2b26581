"""Columns of type ``char``, whose values have blanks at their end.

Where one is compared with a text that is written out, or with another one, Spark pads the shorter side
(``ApplyCharTypePadding``); not so beside other columns, and what is computed from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import Kind, kind_of
from lakeport.duckdb.refusal import refused

__all__ = ["check_chars", "is_char", "pad_list", "pad_sides", "plain_text", "refuse_chars"]


def is_char(node: Expr) -> bool:
    """Whether the type of an expression is ``char``."""
    return isinstance(node.type, exp.DataType) and node.type.this is exp.DType.CHAR


def plain_text(node: Expr) -> exp.DataType | None:
    """The type of a result; only that of a column stays ``char``."""
    return exp.DataType.build("VARCHAR") if is_char(node) and not isinstance(node, exp.Column) else node.type


def check_chars(node: Expr, parts: Sequence[Expr]) -> None:
    """Refuses constants beside a ``char`` that are not written out.

    Raises:
        NotSupportedError: There is one, which Spark would pad.
    """
    if any(_length(one) is not None for one in parts):
        for one in parts:
            is_written = isinstance(one, exp.Literal | exp.Null)
            if kind_of(one) is Kind.TEXT and not is_written and one.find(exp.Column, exp.Query) is None:
                raise refused(node, "a char is compared with a text that is computed; write the text out")


def refuse_chars(node: Expr, parts: Iterable[Expr]) -> None:
    """Refuses comparisons of a ``char`` in other expressions than operators.

    Raises:
        NotSupportedError: One of the parts is a ``char``.
    """
    if any(_length(one) is not None for one in parts):
        raise refused(node, "a char is compared, at whose end blanks do not count; write =, <, > and their like")


def pad_sides(node: Expr) -> Expr:
    """A comparison with both sides of one length."""
    for key, part in zip(("this", "expression"), _padded([node.this, node.expression]), strict=True):
        node.set(key, part)
    return node


def pad_list(node: Expr) -> Expr:
    """``IN`` with a value and a list of one length."""
    if node.args.get("query") is None and all(isinstance(one, exp.Literal) for one in node.expressions):
        value, *listed = _padded([node.this, *node.expressions])
        node.set("this", value)
        node.set("expressions", listed)
    return node


def _padded(parts: Sequence[Expr]) -> list[Expr]:
    lengths = [_length(one) for one in parts]
    chars = [length for length in lengths if length is not None]
    texts = [one for one in parts if isinstance(one, exp.Literal) and one.is_string]
    nulls = [one for one in parts if isinstance(one, exp.Null)]
    if not chars or len(chars) + len(texts) + len(nulls) < len(parts):
        return list(parts)
    most = max(*chars, *(len(one.name) for one in texts), 0)
    return [_to_length(one, length, most) for one, length in zip(parts, lengths, strict=True)]


def _to_length(one: Expr, length: int | None, most: int) -> Expr:
    if isinstance(one, exp.Literal):
        made: Expr = exp.Literal.string(one.name.ljust(most))
    elif length is None or length == most:
        return one
    else:
        made = exp.Anonymous(this="rpad", expressions=[one.copy(), exp.Literal.number(most), exp.Literal.string(" ")])
    made.type = exp.DataType.build("VARCHAR")
    return made


def _length(node: Expr) -> int | None:
    """Characters of a column of type ``char``; ``None`` of all else."""
    if not isinstance(node, exp.Column) or not is_char(node) or node.type is None:
        return None
    [length] = node.type.expressions
    return int(length.this.name)
