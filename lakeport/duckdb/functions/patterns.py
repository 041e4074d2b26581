"""Functions of regular expressions that are written out, as far as Java and RE2 mean the same by them."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.functions.function import Function, Functions
from lakeport.duckdb.functions.regex import Regex, RegexError
from lakeport.duckdb.refusal import refused

__all__ = ["PATTERNS"]

_PLAIN_DELIMITERS = frozenset("\\^$.|?*+()[]{}")
# A group, and neither another digit behind it nor a backslash, which escapes in Java.
_NEW_TEXT = re.compile(r"(?:[^$\\]|\$\d(?!\d))*")
_QUOTED = re.compile(r"\\Q((?:(?!\\E).)+)\\E", re.DOTALL)


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
    found, new = _regex(node, finds_only=False), node.expressions[2].name
    if found.may_be_empty:
        raise refused(node, "a pattern that an empty text has is replaced at other positions")
    if not _NEW_TEXT.fullmatch(new) or any(int(one) > found.groups for one in re.findall(r"\$(\d)", new)):
        raise refused(node, "other groups in the new text than $1 to $9 that the pattern has")


def _replaced(node: exp.Anonymous) -> Expr:
    value, _, new = node.expressions
    text = exp.Literal.string(_regex(node, finds_only=False).text)
    written = exp.Literal.string(re.sub(r"\$(\d)", r"\\\1", new.name))
    return exp.Anonymous(this="regexp_replace", expressions=[value, text, written, exp.Literal.string("g")])


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


def _check_all(node: exp.Anonymous) -> None:
    _check_extracted(node)
    if _regex(node, finds_only=False).may_be_empty:
        raise refused(node, "a pattern that an empty text has is found at other positions")


def _all_extracted(node: exp.Anonymous) -> Expr:
    """A group that takes no part is empty in Spark, and NULL here."""
    text = exp.Literal.string(_regex(node, finds_only=False).text)
    group = exp.Literal.number(_group(node))
    found = exp.Anonymous(this="regexp_extract_all", expressions=[node.expressions[0], text, group])
    return exp.Anonymous(this="lakeport_empty_texts", expressions=[found])


def _check_counted(node: exp.Anonymous) -> None:
    if _regex(node, finds_only=False).may_be_empty:
        raise refused(node, "a pattern that an empty text has is found at other positions")


def _counted(node: exp.Anonymous) -> Expr:
    text = exp.Literal.string(_regex(node, finds_only=False).text)
    found = exp.Anonymous(this="regexp_extract_all", expressions=[node.expressions[0], text])
    return exp.cast(exp.Anonymous(this="len", expressions=[found]), "INT")


def _check_split(node: exp.Anonymous) -> None:
    if not _delimiter(node) and _regex(node, finds_only=False).may_be_empty:
        raise refused(node, "a delimiter that an empty text has is found at other positions")
    limit = node.expressions[2] if len(node.expressions) > 2 else None
    if limit is not None and not isinstance(limit, exp.Neg):
        raise refused(node, "a number of parts")


def _delimiter(node: exp.Anonymous) -> str:
    """The plain text that a pattern means; empty for others."""
    written: str = node.expressions[1].name
    quoted = _QUOTED.fullmatch(written)
    if quoted is not None:
        return quoted[1]
    if len(written) == 2 and written[0] == "\\" and not written[1].isalnum():
        return written[1]
    return "" if set(written) & _PLAIN_DELIMITERS else written


def _split(node: exp.Anonymous) -> Expr:
    if not _delimiter(node):
        text = exp.Literal.string(_regex(node, finds_only=False).text)
        return exp.Anonymous(this="string_split_regex", expressions=[node.expressions[0], text])
    return exp.Anonymous(this="string_split", expressions=[node.expressions[0], exp.Literal.string(_delimiter(node))])


PATTERNS: Functions = {
    **dict.fromkeys(
        ("rlike", "regexp_like", "regexp"), (Function("sS", "BOOLEAN", check=_check_found, rewrite=_found),)
    ),
    "regexp_replace": (Function("sSS", "VARCHAR", check=_check_replaced, rewrite=_replaced),),
    "regexp_extract": (
        Function("sS", "VARCHAR", check=_check_extracted, rewrite=_extracted),
        Function("sSI", "VARCHAR", check=_check_extracted, rewrite=_extracted),
    ),
    "regexp_extract_all": (
        Function("sS", "ARRAY<STRING>", check=_check_all, rewrite=_all_extracted),
        Function("sSI", "ARRAY<STRING>", check=_check_all, rewrite=_all_extracted),
    ),
    "regexp_count": (Function("sS", "INT", check=_check_counted, rewrite=_counted),),
    "split": (
        Function("sS", "ARRAY<STRING>", check=_check_split, rewrite=_split),
        Function("sSI", "ARRAY<STRING>", check=_check_split, rewrite=_split),
    ),
}
"""Functions of regular expressions."""
