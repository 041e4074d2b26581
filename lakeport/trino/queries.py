"""Translates queries from Trino's SQL to Spark's: equal parts are kept, different ones rewritten, others refused.

sqlglot parses and writes. It translates for many engines and ignores some differences, such as the NULLs of
``array_agg`` or the outer rows of ``LEFT JOIN UNNEST``; so the supported parts of a query are listed here.
"""

from __future__ import annotations

import re
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError
from sqlglot.expressions import Expr

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from lakeport.error_codes import UNSUPPORTED_TRINO_SQL
from lakeport.trino.columns_of import ColumnsOf
from lakeport.trino.functions import FUNCTION_RULES, SAME_FUNCTIONS, SAME_NAMES
from lakeport.trino.relations import RELATION_RULES
from lakeport.trino.rules import Rule, UntranslatableError
from lakeport.trino.types import keep_kind, keep_kinds, with_types

__all__ = ["translate_query"]

_SAME_CLASSES = (
    "Alias And Array Between Boolean CTE Case Column ColumnDef Cube DPipe DataType DataTypeParam Distinct Dot "
    "Escape Except Exists Filter GT GTE Group GroupingSets Having HexString Identifier In Intersect "
    "Interval IgnoreNulls Is JSONPath LT LTE Lambda Lateral Limit "
    "LimitOptions Literal Mod Neg Not Null NullSafeEQ NullSafeNEQ Offset Or Order Ordered Paren Rollup Select Star "
    "Subquery TableAlias Tuple Union Unnest Values Var Where WindowSpec"
)
_SAME = frozenset(_SAME_CLASSES.split())
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")


def translate_query(text: str, columns_of: ColumnsOf) -> str:
    """A query in Spark's SQL, under ``spark.sql.ansi.enabled``.

    Args:
        text: One query in Trino's SQL.
        columns_of: Returns the types of a table's columns; unknown types are refused where they matter.

    Raises:
        InvalidArgumentError: It is not a query in Trino's SQL.
        NotSupportedError: A part of it is unknown, or may mean something else in Spark; the message names the part and
            what to write instead.
    """
    try:
        parsed = sqlglot.parse_one(_with_plain_decimals(text), dialect="trino")
    except ParseError as error:
        raise _not_parsed(error) from error
    except SqlglotError as error:
        raise InvalidArgumentError(f"not valid in Trino's SQL: {str(error).splitlines()[0]}") from error
    if not isinstance(parsed, exp.Query | exp.Values):
        raise _refused(parsed, f"of Trino's statements, {type(parsed).__name__.upper()} is not translated", "")
    try:
        query = with_types(parsed, columns_of)
        keep_kinds(query)
        for node in reversed(list(query.walk(bfs=False))):
            _translate(node)
        return str(query.sql(dialect="spark", identify=True, unsupported_level=ErrorLevel.RAISE))
    except UntranslatableError as error:
        raise _refused(error.node, error.why, error.instead) from error
    except SqlglotError as error:
        reason = str(error).splitlines()[0]
        raise NotSupportedError(f"the query is not translated: {reason}", UNSUPPORTED_TRINO_SQL) from error


def _with_plain_decimals(text: str) -> str:
    """``DECIMAL '1.5'`` as ``1.5``, of the same type, in the same place; sqlglot makes it a cast to DECIMAL(38, 0)."""
    for first, second in pairwise(Dialect.get_or_raise("trino").tokenize(text)):
        number = second.text
        if first.token_type.name == "DECIMAL" and second.token_type.name == "STRING" and _NUMBER.fullmatch(number):
            plain = number.lstrip("+-") + ("" if "." in number else ".")
            shown = f"(-{plain})" if number.startswith("-") else plain
            text = text[: first.start] + shown.ljust(second.end + 1 - first.start) + text[second.end + 1 :]
    return text


def _translate(node: Expr) -> None:
    """Translates one node, whose children are already translated."""
    kind = type(node).__name__
    rule = _RULES.get(kind)
    if rule is not None:
        made = rule(node)
        if made is not None and made is not node:
            keep_kind(made, node)
            node.replace(made)
        return
    if kind == "Anonymous" and node.name.upper() in SAME_NAMES:
        return
    if kind not in _SAME and kind not in SAME_FUNCTIONS and not isinstance(node, exp.JSONPathPart):
        what = f"the function {node.name.lower()}" if kind == "Anonymous" else "it"
        raise UntranslatableError(node, f"{what} has no translation that surely means the same in Spark", "")


def _refused(node: Expr, why: str, instead: str) -> NotSupportedError:
    try:
        part = " ".join(node.sql(dialect="trino").split())
    except ValueError:
        # sqlglot cannot write some JSON paths.
        part = type(node).__name__.upper()
    part = part if len(part) <= 100 else part[:100] + "..."
    way_out = f"; {instead}" if instead else ""
    return NotSupportedError(f"{part} is not translated from Trino's SQL: {why}{way_out}", UNSUPPORTED_TRINO_SQL)


def _not_parsed(error: ParseError) -> InvalidArgumentError:
    found = error.errors[0] if error.errors else {}
    highlight = found.get("highlight") or ""
    what = str(found.get("description") or error).partition(" but got ")[0].rstrip(".")
    near = f" at '{highlight}'" if highlight else ""
    # sqlglot's column is that of the last character, from 1.
    position = f" (line {found['line']}, pos {max(found['col'] - len(highlight), 0)})" if found.get("line") else ""
    return InvalidArgumentError(f"not valid in Trino's SQL{near}: {what}{position}")


def _like(node: Expr) -> Expr | None:
    pattern = node.args["expression"]
    is_escaped = isinstance(node.parent, exp.Escape)
    if not is_escaped and not (pattern.is_string and "\\" not in pattern.name):
        why = "a backslash in a pattern escapes in Spark, and is a character in Trino"
        raise UntranslatableError(node, why, "write ESCAPE with a character that does not occur")
    return None


def _fetch(node: Expr) -> None:
    options = node.args.get("limit_options")
    if options is not None and (options.args.get("with_ties") or options.args.get("percent")):
        raise UntranslatableError(node, "Spark counts rows, and leaves equal ones out", "compare rank() in a subquery")


def _struct(node: Expr) -> Expr | None:
    if isinstance(node.parent, exp.Cast):
        return None
    raise UntranslatableError(node, "only Spark names the fields of a row", "write CAST(ROW(...) AS ROW(x type))")


def _any(node: Expr) -> Expr | None:
    """``= ANY`` is ``IN``, and ``<> ALL`` is ``NOT IN``."""
    quantified = node.args["expression"]
    if isinstance(quantified, exp.Any) and isinstance(node, exp.EQ):
        return exp.In(this=node.this.copy(), query=_subquery(quantified))
    if isinstance(quantified, exp.All) and isinstance(node, exp.NEQ):
        return exp.Not(this=exp.In(this=node.this.copy(), query=_subquery(quantified)))
    return None


def _subquery(node: Expr) -> Expr:
    inner = node.this.unnest() if isinstance(node.this, exp.Subquery | exp.Paren) else node.this
    return exp.Subquery(this=inner.copy())


def _quantified(node: Expr) -> Expr | None:
    if isinstance(node.parent, exp.EQ if isinstance(node, exp.Any) else exp.NEQ):
        return None
    raise UntranslatableError(node, "of these, = ANY and <> ALL are translated", "compare with a min or max")


_RULES: dict[str, Rule] = {
    "All": _quantified,
    "Any": _quantified,
    "EQ": _any,
    "Fetch": _fetch,
    "Like": _like,
    "NEQ": _any,
    "Struct": _struct,
    **FUNCTION_RULES,
    **RELATION_RULES,
}
