"""Texts and regular expressions of Trino."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.building import call, cast, integer, text, when
from lakeport.trino.functions.patterns import Pattern, read_pattern
from lakeport.trino.rules import Rule, UntranslatableError
from lakeport.trino.types import Kind, kind_of

__all__ = ["TEXT_NAMES", "TEXT_RULES"]

# The characters of java.lang.Character.isWhitespace, which Trino's trim removes.
_CODES = (*range(9, 14), *range(28, 33), 5760, *range(8192, 8199), *range(8200, 8203), 8232, 8233, 8287, 12288)
_WHITE_SPACE = "".join(map(chr, _CODES))
_REPLACEMENT = re.compile(r"(?:[^\\$]|\\[\\$]|\$\d(?!\d))*")


def _substring(node: Expr) -> Expr | None:
    """A start before the first character gives an empty text in Trino, and is moved to it in Spark."""
    start, length = node.args.get("start"), node.args.get("length")
    if isinstance(start, exp.Literal) and not start.is_string and start.name != "0":
        return None
    if start is None or kind_of(start) is not Kind.INTEGER:
        raise UntranslatableError(node, "the start is not known to be a whole number", "write it as a number from 1")
    size = call("CHAR_LENGTH", node.this)
    outside = exp.or_(
        exp.EQ(this=start.copy(), expression=integer(0)),
        exp.LT(this=exp.Paren(this=start.copy()), expression=exp.Neg(this=size)),
    )
    arguments = [node.this, cast(start, "INT")] + ([] if length is None else [cast(length, "INT")])
    return when(outside, text(""), call("SUBSTRING", *arguments))


def _split(node: Expr) -> Expr | None:
    limit, delimiter = node.args.get("limit"), node.args["expression"]
    if limit is None:
        return None
    return call("SPLIT", node.this, text(_quoted(node, delimiter)), cast(limit, "INT"))


def _split_part(node: Expr) -> Expr:
    """NULL where there is no such part; Spark's is empty."""
    index = node.args["part_index"]
    if not isinstance(index, exp.Literal) or not index.name.isdigit() or index.name == "0":
        raise UntranslatableError(node, "the index has to be a literal from 1", "use element_at(split(...), index)")
    parts = call("SPLIT", node.this, text(_quoted(node, node.args["delimiter"])), integer(-1))
    return call("TRY_ELEMENT_AT", parts, index)


def _quoted(node: Expr, delimiter: Expr) -> str:
    if not delimiter.is_string or not delimiter.name or "\\E" in delimiter.name:
        raise UntranslatableError(node, "the delimiter has to be a literal", "")
    return f"\\Q{delimiter.name}\\E"


def _position(node: Expr) -> Expr | None:
    if node.args.get("occurrence") is not None or node.args.get("position") is not None:
        raise UntranslatableError(node, "strpos with an instance is not translated", "")
    return None


def _replace(node: Expr) -> Expr | None:
    searched = node.args.get("expression")
    if searched is None or not searched.is_string or not searched.name:
        raise UntranslatableError(
            node, "an empty text is found everywhere in Trino, and nowhere in Spark", "search a literal"
        )
    return None


def _trim(node: Expr) -> Expr | None:
    """Trino removes all white space, Spark only blanks."""
    if node.args.get("expression") is None:
        node.set("expression", text(_WHITE_SPACE))
        node.set("position", node.args.get("position") or "BOTH")
    return None


def _concat_ws(node: Expr) -> Expr:
    return call("CONCAT_WS", *node.expressions)


def _regexp_like(node: Expr) -> Expr:
    pattern = read_pattern(node, node.args["expression"])
    return exp.RegexpLike(this=node.this.copy(), expression=text(pattern.java))


def _regexp_extract(node: Expr) -> Expr:
    """NULL without a match; Spark's is empty."""
    pattern = read_pattern(node, node.args["expression"])
    group = _group(node, pattern)
    found = exp.RegexpLike(this=node.this.copy(), expression=text(pattern.java))
    return when(found, call("REGEXP_EXTRACT", node.this, text(pattern.java), integer(group)))


def _regexp_extract_all(node: Expr) -> Expr:
    pattern = read_pattern(node, node.args["expression"])
    return call("REGEXP_EXTRACT_ALL", node.this, text(pattern.java), integer(_group(node, pattern)))


def _group(node: Expr, pattern: Pattern) -> int:
    given = node.args.get("group")
    number = 0 if given is None else int(given.name) if given.name.isdigit() else -1
    if number != 0 and number not in pattern.certain:
        why = "a group that takes no part in a match is NULL in Trino, and empty in Spark"
        if not 0 <= number <= pattern.groups:
            why = f"the pattern has {pattern.groups} groups"
        raise UntranslatableError(node, why, "take a group that is part of every match")
    return number


def _regexp_replace(node: Expr) -> Expr:
    pattern = read_pattern(node, node.args["expression"])
    replacement = node.args.get("replacement")
    new = "" if replacement is None else replacement.name
    if replacement is not None and (not replacement.is_string or not _REPLACEMENT.fullmatch(new)):
        raise UntranslatableError(node, "the replacement has to be a literal of texts and $1 to $9", "")
    if any(int(one) > pattern.groups for one in re.findall(r"(?<!\\)\$(\d)", new)):
        raise UntranslatableError(node, f"the pattern has {pattern.groups} groups", "")
    return call("REGEXP_REPLACE", node.this, text(pattern.java), text(new))


def _regexp_count(node: Expr) -> Expr:
    pattern = read_pattern(node, node.args["expression"])
    return cast(call("REGEXP_COUNT", node.this, text(pattern.java)), "BIGINT")


def _regexp_split(node: Expr) -> Expr:
    pattern = read_pattern(node, node.args["expression"])
    body = pattern.java.partition(")")[2]
    if pattern.looks or re.match(body, "") is not None:
        raise UntranslatableError(node, "a pattern that matches nothing splits in another way in Spark", "")
    return call("SPLIT", node.this, text(pattern.java), integer(-1))


def _regexp_position(node: Expr) -> Expr:
    """-1 without a match; Spark's is 0."""
    if len(node.expressions) != 2:
        raise UntranslatableError(node, "regexp_position with a start is not translated", "")
    value, literal = node.expressions
    found = call("REGEXP_INSTR", value, text(read_pattern(node, literal).java))
    return exp.Coalesce(this=call("NULLIF", found, integer(0)), expressions=[when(_is_given(value), integer(-1))])


def _is_given(value: Expr) -> Expr:
    return exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))


def _codepoint(node: Expr) -> Expr:
    return call("ASCII", *node.expressions)


def _md5(node: Expr) -> Expr:
    """Binary in Trino, hexadecimal text in Spark."""
    return call("UNHEX", call("MD5", node.this))


def _sha2(node: Expr) -> Expr:
    length = node.args.get("length")
    return call("UNHEX", call("SHA2", node.this, integer(256) if length is None else length))


def _lower_hex(node: Expr) -> Expr:
    return call("LOWER", call("HEX", node.this))


TEXT_RULES: dict[str, Rule] = {
    "ConcatWs": _concat_ws,
    "LowerHex": _lower_hex,
    "MD5Digest": _md5,
    "RegexpCount": _regexp_count,
    "RegexpExtract": _regexp_extract,
    "RegexpExtractAll": _regexp_extract_all,
    "RegexpLike": _regexp_like,
    "RegexpReplace": _regexp_replace,
    "RegexpSplit": _regexp_split,
    "Replace": _replace,
    "SHA2Digest": _sha2,
    "Split": _split,
    "SplitPart": _split_part,
    "StrPosition": _position,
    "Substring": _substring,
    "Trim": _trim,
}
"""By the names of sqlglot's classes."""

TEXT_NAMES: dict[str, Rule] = {
    "CODEPOINT": _codepoint,
    "REGEXP_POSITION": _regexp_position,
}
"""Functions without a class in sqlglot."""
