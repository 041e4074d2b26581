"""All functions of Trino: those that mean the same in Spark, and translations of others."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.building import call, cast, integer, is_null, when
from lakeport.trino.functions.aggregates import AGGREGATE_NAMES, AGGREGATE_RULES, aggregate
from lakeport.trino.functions.arithmetic import ARITHMETIC_RULES
from lakeport.trino.functions.casts import CAST_RULES
from lakeport.trino.functions.collections import COLLECTION_NAMES, COLLECTION_RULES
from lakeport.trino.functions.dates import DATE_NAMES, DATE_RULES
from lakeport.trino.functions.json_texts import JSON_RULES
from lakeport.trino.functions.texts import TEXT_NAMES, TEXT_RULES
from lakeport.trino.rules import Rule, UntranslatableError

__all__ = ["FUNCTION_RULES", "SAME_FUNCTIONS", "SAME_NAMES"]

_SAME_CLASSES = (
    "Abs Acos ArrayContains ArrayDistinct ArrayFilter ArraySize ArrayToString Asin Atan Atan2 "
    "Cbrt Coalesce Concat Corr Cos Count CountIf CovarPop CovarSamp CumeDist CurrentCatalog "
    "CurrentDate CurrentSchema Day DayOfMonth DayOfYear Degrees DenseRank Encode Exp FirstValue GenerateSeries Hex "
    "Hour Lag LastValue Lead Length Levenshtein LogicalAnd LogicalOr Lower Map MapKeys MapValues Minute Month "
    "NthValue Ntile Nullif Pad PercentRank Pi Pow Quarter Radians Rank Reduce Reverse RowNumber Second Sign Sin "
    "Sqrt StartsWith Stddev StddevPop StddevSamp Sum Tan ToBase64 Transform Translate Upper Variance "
    "VariancePop Week WeekOfYear Year"
)
SAME_FUNCTIONS = frozenset(_SAME_CLASSES.split())
"""Names of sqlglot's classes."""

SAME_NAMES = frozenset({"CARDINALITY", "E", "MAP_KEYS", "MAP_VALUES"})
"""Names of functions without a class in sqlglot."""
_CHARACTERS = 256


def _anonymous(node: Expr) -> Expr | None:
    """Functions without a class in sqlglot."""
    name = node.name.upper()
    if name in SAME_NAMES:
        return None
    if name in AGGREGATE_NAMES:
        return aggregate(node)
    rule = _BY_NAME.get(name)
    if rule is None:
        raise UntranslatableError(
            node, f"the function {name.lower()} has no translation that surely means the same", ""
        )
    return rule(node)


def _grouping(node: Expr) -> Expr:
    """The bits of several columns; Spark's takes one."""
    total: Expr | None = None
    for position, column in enumerate(reversed(node.expressions)):
        bit = exp.Mul(this=cast(call("GROUPING", column), "INT"), expression=integer(2**position))
        total = bit if total is None else exp.Add(this=bit, expression=total)
    if total is None:
        raise UntranslatableError(node, "it has no columns", "")
    return exp.Paren(this=total)


def _is_nan(node: Expr) -> Expr:
    """NULL of NULL; Spark's is false."""
    return when(exp.Not(this=is_null(node.this)), call("ISNAN", node.this))


def _bits(node: Expr) -> Expr:
    """Functions of Trino, and operators of Spark, which bind less than those of numbers."""
    return exp.Paren(this=node.copy())


def _chr(node: Expr) -> None:
    """Spark takes the remainder of a division by 256."""
    [code] = node.expressions
    if not isinstance(code, exp.Literal) or int(code.name) >= _CHARACTERS:
        raise UntranslatableError(
            node, f"Spark knows characters up to {_CHARACTERS - 1} by their numbers", "write the character itself"
        )


def _if(node: Expr) -> None:
    """With two arguments it is NULL otherwise; Spark's takes three."""
    if not isinstance(node.parent, exp.Case) and node.args.get("false") is None:
        node.set("false", exp.Null())


_BY_NAME: dict[str, Rule] = {**COLLECTION_NAMES, **DATE_NAMES, **TEXT_NAMES}

FUNCTION_RULES: dict[str, Rule] = {
    "Anonymous": _anonymous,
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), _bits),
    "Chr": _chr,
    "Grouping": _grouping,
    "If": _if,
    "IsNan": _is_nan,
    **AGGREGATE_RULES,
    **ARITHMETIC_RULES,
    **CAST_RULES,
    **COLLECTION_RULES,
    **DATE_RULES,
    **JSON_RULES,
    **TEXT_RULES,
}
"""By the names of sqlglot's classes."""
