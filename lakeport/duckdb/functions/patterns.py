"""Functions of regular expressions that are written out, as far as Java and RE2 mean the same by them."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.functions.function import Function, Functions
from lakeport.duckdb.functions.regex import Regex, RegexError
from lakeport.duckdb.refusal import refused

__all__ = ["PATTERNS"]

_PLAIN_DELIMITERS = frozenset("\\^$.|?*+()[]{}")


def _regex(node: exp.Anonymous, *, finds_only: bool) -> Regex:
    try:
        return Regex.of(node.expressions[1].name, finds_only=finds_only)
    except RegexError as error:
        raise refused(node, str(error)) from error


def _check_found(node: exp.Anonymous) -> None:
    _regex(node, finds_only=True)


def _found(node: exp.Anonymous) -> Expr:
    text = exp.Literal.string(_regex(node, finds_only=True).text)
    return exp.Anonymous(this="regexp_matches", expressions=[node.expressions[0], text])


def _check_replaced(node: exp.Anonymous) -> None:
    if _regex(node, finds_only=False).may_be_empty:
        raise refused(node, "a pattern that an empty text has is replaced at other positions")
    if set(node.expressions[2].name) & {"$", "\\"}:
        raise refused(node, "groups in the new text")


def _replaced(node: exp.Anonymous) -> Expr:
    value, _, new = node.expressions
    text = exp.Literal.string(_regex(node, finds_only=False).text)
    return exp.Anonymous(this="regexp_replace", expressions=[value, text, new, exp.Literal.string("g")])


def _group(node: exp.Anonymous) -> int:
    return int(node.expressions[2].name) if len(node.expressions) > 2 else 1


def _check_extracted(node: exp.Anonymous) -> None:
    found = _regex(node, finds_only=False)
    negative = any(isinstance(one, exp.Neg) for one in node.expressions)
    if negative or _group(node) > found.groups:
        raise refused(node, f"the pattern has {found.groups} groups")


def _extracted(node: exp.Anonymous) -> Expr:
    text = exp.Literal.string(_regex(node, finds_only=False).text)
    group = exp.Literal.number(_group(node))
    return exp.Anonymous(this="regexp_extract", expressions=[node.expressions[0], text, group])


def _check_split(node: exp.Anonymous) -> None:
    delimiter = node.expressions[1].name
    plain = delimiter[1:] if len(delimiter) == 2 and delimiter[0] == "\\" and not delimiter[1].isalnum() else delimiter
    if not plain or (plain is delimiter and set(plain) & _PLAIN_DELIMITERS):
        raise refused(node, "a delimiter that is no plain text")


def _split(node: exp.Anonymous) -> Expr:
    value, delimiter = node.expressions
    plain = delimiter.name[1:] if delimiter.name[0] == "\\" else delimiter.name
    return exp.Anonymous(this="string_split", expressions=[value, exp.Literal.string(plain)])


PATTERNS: Functions = {
    **dict.fromkeys(
        ("rlike", "regexp_like", "regexp"), (Function("sS", "BOOLEAN", check=_check_found, rewrite=_found),)
    ),
    "regexp_replace": (Function("sSS", "VARCHAR", check=_check_replaced, rewrite=_replaced),),
    "regexp_extract": (
        Function("sS", "VARCHAR", check=_check_extracted, rewrite=_extracted),
        Function("sSI", "VARCHAR", check=_check_extracted, rewrite=_extracted),
    ),
    "split": (Function("sS", "ARRAY<STRING>", check=_check_split, rewrite=_split),),
}
"""Functions of regular expressions."""
