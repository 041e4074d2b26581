"""Names of results."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pyarrow as pa
from sqlglot import exp
from sqlglot.expressions import Expr

__all__ = ["kept_letters", "name_results"]


_DIGITS = re.compile(r"(DECIMAL\(\d+), (\d+\))")
_SHOWN_NAMES = {"rlike": "RLIKE", "regexp_like": "REGEXP_LIKE", "regexp": "REGEXP"}
# What Spark writes for an argument that is not given: the number of arguments, and the text of the last.
_SHOWN_ARGUMENTS = {"split": (3, "-1"), "substr": (3, "2147483647")}


def name_results(tree: Expr) -> None:
    """Names the results that have no name as Spark does."""
    for select in tree.find_all(exp.Select):
        for one in list(select.expressions):
            if isinstance(one, exp.Paren) and isinstance(one.unnest(), exp.Column):
                one.replace(one.unnest())
            elif isinstance(one, exp.Subquery):
                # Spark lists the outer columns in it, which are not known yet.
                one.replace(exp.alias_(one.copy(), "scalarsubquery()", quoted=True))
            elif not isinstance(one, (exp.Alias, exp.Column, exp.Star)):
                one.replace(exp.alias_(one.copy(), _name_of(one), quoted=True))


def kept_letters(tree: Expr, schemas: Iterable[pa.Schema]) -> dict[str, str]:
    """Names in the letters that tables and subqueries write them with, by the same in lower case."""
    found = {name.lower(): name for schema in schemas for name in schema.names}
    for one in reversed(list(tree.find_all(exp.Alias))):
        found[one.alias.lower()] = one.alias
    return found


def _name_of(node: Expr) -> str:
    """As ``toPrettySQL``: each operator in parentheses, and no others."""
    if isinstance(node, exp.Literal):
        return str(node.name)
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
        return "count(1)"
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Column):
        return str(node.this.name)
    if isinstance(node, exp.Dot) and not node.find(exp.Bracket):
        return str(node.name)
    plain = node.copy()
    for column in plain.find_all(exp.Column):
        column.set("table", None)
    if isinstance(plain, exp.Cast) and isinstance(plain.this, exp.Literal):
        return plain.this.name
    for call in list(plain.find_all(exp.Anonymous)):
        name = call.name.lower()
        call.set("this", _SHOWN_NAMES.get(name, name))
        shown, added = _SHOWN_ARGUMENTS.get(name, (0, ""))
        if len(call.expressions) == shown - 1:
            call.append("expressions", exp.Var(this=added))
    for match in list(plain.find_all(exp.RegexpLike)):
        match.replace(exp.Anonymous(this="RLIKE", expressions=[match.this.copy(), match.expression.copy()]))
    for literal in list(plain.find_all(exp.Literal)):
        if literal.is_string:
            literal.replace(exp.Var(this=literal.name))
    for part in list(plain.find_all(exp.Binary)):
        if part is not plain and not isinstance(part, exp.Dot) and not isinstance(part.parent, exp.Paren):
            part.replace(exp.Paren(this=part.copy()))
    text = plain.sql("spark", normalize_functions="lower").replace("`", "")
    text = _DIGITS.sub(r"\1,\2", text)
    return f"({text})" if isinstance(node, exp.Binary) else text
