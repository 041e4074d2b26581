"""Trino's result types of functions, for sqlglot to annotate queries with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.expressions import Expr

__all__ = ["RESULTS", "with_result_types"]

_FIXED: dict[str, tuple[type[Expr], ...]] = {
    "BIGINT": (
        exp.ArrayPosition, exp.ArraySize, exp.Count, exp.CountIf, exp.DateDiff, exp.Day, exp.DayOfWeekIso,
        exp.DayOfYear, exp.DenseRank, exp.Extract, exp.Hour, exp.Length, exp.Minute, exp.Month, exp.Ntile,
        exp.Quarter, exp.Rank, exp.RegexpCount, exp.RowNumber, exp.Second, exp.StrPosition, exp.Week,
        exp.WeekOfYear, exp.Year, exp.YearOfWeek, exp.DayOfMonth, exp.ApproxDistinct, exp.Levenshtein,
    ),
    "INT": (exp.Grouping,),
    "DOUBLE": (
        exp.Cbrt, exp.Corr, exp.CovarPop, exp.CovarSamp, exp.CumeDist, exp.Degrees, exp.Exp, exp.Ln, exp.Log,
        exp.PercentRank, exp.Pi, exp.Pow, exp.Radians, exp.Sin, exp.Cos, exp.Tan, exp.Sqrt,
        exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.TimeToUnix,
        exp.Variance, exp.VariancePop,
    ),
    "VARCHAR": (
        exp.ArrayToString, exp.Chr, exp.ConcatWs, exp.GroupConcat, exp.Hex, exp.LowerHex, exp.JSONExtractScalar,
        exp.Pad, exp.RegexpExtract, exp.RegexpReplace, exp.Replace, exp.SplitPart, exp.TimeToStr, exp.Translate,
    ),
    "DATE": (exp.Date, exp.LastDay, exp.FromISO8601Date),
    "TIMESTAMP": (exp.StrToTime,),
    "TIMESTAMPTZ": (exp.CurrentTimestamp, exp.UnixToTime),
    "BOOLEAN": (exp.ArrayContains, exp.LogicalAnd, exp.LogicalOr, exp.RegexpLike, exp.StartsWith),
    "ARRAY(VARCHAR)": (exp.RegexpExtractAll, exp.RegexpSplit, exp.Split),
}  # fmt: skip
_AS_ARGUMENT = (
    exp.Abs, exp.AnyValue, exp.ArgMax, exp.ArgMin, exp.ArrayDistinct, exp.ArrayFilter, exp.ArraySlice, exp.ArraySort,
    exp.Ceil, exp.DateAdd, exp.DateTrunc, exp.FirstValue, exp.Floor, exp.Lag, exp.LastValue, exp.Lead, exp.NthValue,
    exp.Nullif, exp.Reverse, exp.Sign, exp.TimestampTrunc, exp.Trunc,
)  # fmt: skip
_ELEMENT = (exp.ArrayMax, exp.ArrayMin, exp.Bracket)
_BY_NAME = {
    "BIGINT": "codepoint regexp_position bitwise_left_shift",
    "BOOLEAN": "all_match any_match none_match every arrays_overlap is_finite is_infinite",
    "DOUBLE": "e",
    "VARCHAR": "to_iso8601",
}
_NAMED = {name: kind for kind, names in _BY_NAME.items() for name in names.split()}

RESULTS: tuple[type[Expr], ...] = (
    *(one for kinds in _FIXED.values() for one in kinds), *_AS_ARGUMENT, *_ELEMENT, exp.Anonymous, exp.ArrayAgg,
)  # fmt: skip
"""The classes whose types ``with_result_types`` makes certain."""

_Annotator = Callable[[object, Expr], object]


def with_result_types(rules: Mapping[type[Expr], dict[str, object]]) -> dict[type[Expr], dict[str, object]]:
    """sqlglot's type rules with Trino's results of functions.

    Args:
        rules: ``EXPRESSION_METADATA`` of a dialect.
    """
    made = dict(rules)
    for name, kinds in _FIXED.items():
        for kind in kinds:
            made[kind] = {"annotator": _always(name)}
    made.update({kind: {"annotator": _as_argument} for kind in _AS_ARGUMENT})
    made.update({kind: {"annotator": _as_element} for kind in _ELEMENT})
    made[exp.Anonymous] = {"annotator": _by_name}
    made[exp.ArrayAgg] = {"annotator": _array_of_argument}
    return made


def _always(name: str) -> _Annotator:
    def annotate(_annotator: object, node: Expr) -> object:
        node.type = exp.DataType.build(name, dialect="trino")
        return node

    return annotate


def _as_argument(_annotator: object, node: Expr) -> object:
    node.type = _type_of(node.this)
    return node


def _as_element(_annotator: object, node: Expr) -> object:
    """The type of an array's elements, or of a map's values."""
    whole = _type_of(node.this)
    inner = whole.expressions
    known = {"ARRAY": 1, "MAP": 2}.get(whole.this.name) == len(inner)
    node.type = inner[-1].copy() if known and isinstance(inner[-1], exp.DataType) else _unknown()
    return node


def _array_of_argument(_annotator: object, node: Expr) -> object:
    value = node.this
    while isinstance(value, exp.Order | exp.Distinct):
        value = value.this if isinstance(value, exp.Order) else value.expressions[0]
    node.type = exp.DataType(this=exp.DType.ARRAY, expressions=[_type_of(value)], nested=True)
    return node


def _by_name(_annotator: object, node: Expr) -> object:
    name = _NAMED.get(node.name.lower())
    node.type = exp.DataType.build(name, dialect="trino") if name is not None else _unknown()
    return node


def _type_of(node: Expr) -> exp.DataType:
    return node.type.copy() if node.type is not None else _unknown()


def _unknown() -> exp.DataType:
    return exp.DataType.build("UNKNOWN")
