"""Expressions that give one of several values, and casts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import EXACT, NUMBERS, Kind, digits_of, kind_of
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.chars import refuse_chars
from lakeport.duckdb.rules.comparisons import (
    DATE_TEXT,
    TIME_TEXT,
    check_compared,
    is_text,
    same_type,
)
from lakeport.duckdb.rules.conditions import check_condition
from lakeport.duckdb.rules.numbers import typed_number
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["CHOICES"]

_PLAIN_CASTS = {
    (Kind.INTEGER, Kind.INTEGER),
    (Kind.INTEGER, Kind.DOUBLE),
    (Kind.INTEGER, Kind.TEXT),
    (Kind.INTEGER, Kind.BOOLEAN),
    (Kind.FLOAT, Kind.DOUBLE),
    (Kind.INTEGER, Kind.DECIMAL),
    # Both round half up, and fail where a value is too large.
    (Kind.DECIMAL, Kind.DECIMAL),
    (Kind.DECIMAL, Kind.INTEGER),
    (Kind.DECIMAL, Kind.TEXT),
    (Kind.BOOLEAN, Kind.INTEGER),
    (Kind.BOOLEAN, Kind.TEXT),
    (Kind.DATE, Kind.TIMESTAMP),
    (Kind.TIMESTAMP, Kind.DATE),
}
# The value is given to a macro before it is cast.
_CASTS_BY_MACRO = {
    (Kind.TEXT, Kind.DOUBLE): "lakeport_text_double",
    (Kind.TEXT, Kind.DECIMAL): "lakeport_text_number",
    (Kind.TEXT, Kind.DATE): "lakeport_text_date",
    (Kind.TEXT, Kind.TIMESTAMP): "lakeport_text_time",
    (Kind.TEXT, Kind.INSTANT): "lakeport_text_instant",
    (Kind.TEXT, Kind.BOOLEAN): "lakeport_text_boolean",
    (Kind.TEXT, Kind.BINARY): "encode",
    (Kind.BINARY, Kind.TEXT): "decode",
    (Kind.DECIMAL, Kind.DOUBLE): "lakeport_decimal_double",
    (Kind.DOUBLE, Kind.DECIMAL): "lakeport_double_text_decimal",
    (Kind.DATE, Kind.TEXT): "lakeport_date_text",
    (Kind.TIMESTAMP, Kind.TEXT): "lakeport_time_text",
    (Kind.INSTANT, Kind.TEXT): "lakeport_instant_text",
    (Kind.INSTANT, Kind.DATE): "lakeport_instant_date",
    (Kind.INSTANT, Kind.TIMESTAMP): "lakeport_instant_time",
    (Kind.TIMESTAMP, Kind.INSTANT): "lakeport_time_instant",
    (Kind.DATE, Kind.INSTANT): "lakeport_time_instant",
}
_MACRO = "lakeport_macro"
_NUMBER_TEXT = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)


def _coalesce(node: Expr) -> None:
    _choose(node, [node.this, *node.expressions])


def _extreme(node: Expr) -> None:
    _coalesce(node)
    if kind_of(node) is Kind.OTHER:
        raise refused(node, "values of nested or unknown types are not compared")


def _case(node: Expr) -> None:
    results = [branch.args["true"] for branch in node.args["ifs"]]
    default = node.args.get("default")
    _choose(node, results if default is None else [*results, default])
    if node.this is not None:
        for branch in node.args["ifs"]:
            check_compared(node, [node.this, branch.this])
            refuse_chars(node, [node.this, branch.this])


def _if(node: Expr) -> None:
    if isinstance(node.parent, exp.Case):
        if node.parent.this is None:
            check_condition(node.this)
        return
    check_condition(node.this)
    otherwise = node.args.get("false")
    _choose(node, [node.args["true"], *([] if otherwise is None else [otherwise])])


def _typed_if(node: Expr) -> Expr:
    """Branches of a ``CASE`` are no values of their own."""
    return node if isinstance(node.parent, exp.Case) else typed_number(node)


def _null_if(node: Expr) -> None:
    check_compared(node, [node.this, node.expression])
    refuse_chars(node, [node.this, node.expression])
    node.type = node.this.type


def _choose(node: Expr, results: Sequence[Expr]) -> None:
    found = same_type(node, results)
    if found is not None:
        node.type = found


def _cast(node: Expr) -> None:
    source, target, given = kind_of(node.this), kind_of(node), node.this
    if given.meta.get(EXACT) is not None or (source is Kind.NULL and target not in (Kind.NULL, Kind.OTHER)):
        return
    if isinstance(given, exp.Literal) and given.is_string:
        pattern = {Kind.DATE: DATE_TEXT, Kind.TIMESTAMP: TIME_TEXT, Kind.DECIMAL: _NUMBER_TEXT}.get(target)
        fine = pattern is not None and is_text(given, pattern) and (target is not Kind.DECIMAL or _is_exact(node))
    elif isinstance(given, exp.Literal):
        # Also numbers with a suffix, such as 1L and 1.5D. Fractions are cut by Spark, and rounded by DuckDB.
        fine = target in ({*NUMBERS, Kind.TEXT} if given.name.isdigit() else {Kind.DOUBLE})
    else:
        fine = (source, target) in _PLAIN_CASTS
    if not fine and (macro := _macro(node, source, target)) is not None:
        node.meta[_MACRO] = macro
        return
    if not fine and not (source is target and source is not Kind.OTHER):
        raise refused(node, f"a cast of {source.value} to {target.value}")


def _is_exact(node: Expr) -> bool:
    """Whether a decimal has all digits of the text that it is made of."""
    digits, exponent = digits_of(node), Decimal(node.this.name).normalize().as_tuple().exponent
    return digits is not None and isinstance(exponent, int) and -exponent <= digits[1]


def _macro(node: Expr, source: Kind, target: Kind) -> str | None:
    if target is Kind.INTEGER and source in (Kind.TEXT, Kind.DOUBLE, Kind.FLOAT):
        return f"lakeport_{'text' if source is Kind.TEXT else 'double'}_{node.args['to'].this.name}"
    return _CASTS_BY_MACRO.get((source, target))


def _typed_cast(node: Expr) -> Expr:
    """Spark cuts the digits behind the point of a whole number, which DuckDB rounds."""
    macro = node.meta.get(_MACRO)
    if macro is not None:
        node.set("this", exp.Anonymous(this=macro, expressions=[node.this]))
    elif kind_of(node) is Kind.INTEGER and kind_of(node.this) is Kind.DECIMAL:
        node.set("this", exp.Anonymous(this="trunc", expressions=[node.this]))
    return node


def _tried_cast(node: Expr) -> Expr:
    """NULL where the cast fails; a text of a form that Spark alone may take is an error."""
    macro: str = node.meta.get(_MACRO, "")
    if macro.startswith("lakeport_text_"):
        node.meta[_MACRO] = macro.replace("lakeport_text_", "lakeport_try_text_")
    elif macro.startswith("lakeport_double_") and kind_of(node) is Kind.INTEGER:
        node.meta[_MACRO] = "trunc"
    return _typed_cast(node)


CHOICES: Rules = {
    exp.Coalesce: Rule(_coalesce, typed_number),
    exp.Case: Rule(_case, typed_number),
    exp.If: Rule(_if, _typed_if),
    exp.Nullif: Rule(_null_if),
    **dict.fromkeys((exp.Greatest, exp.Least), Rule(_extreme, typed_number)),
    exp.Cast: Rule(_cast, _typed_cast),
    exp.TryCast: Rule(_cast, _tried_cast),
}
