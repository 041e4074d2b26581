"""Functions of Trino: those that mean the same in Spark, and translations of others."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.rules import Rule, UntranslatableError
from lakeport.trino.types import Kind, kind_of

__all__ = ["FUNCTION_RULES", "SAME_FUNCTIONS", "SAME_NAMES"]

_SAME_CLASSES = (
    "Abs ArrayContains ArrayDistinct ArrayFilter ArraySize ArrayToString BitwiseAnd BitwiseOr BitwiseXor Coalesce "
    "Concat Corr Count CountIf CovarPop CovarSamp CumeDist CurrentCatalog CurrentDate CurrentSchema Day DayOfYear "
    "DenseRank Exp FirstValue "
    "GenerateSeries Hour Lag LastValue Lead Length LogicalAnd LogicalOr Lower Map MapKeys MapValues Max Min Minute "
    "Month NthValue Ntile Nullif Pad PercentRank Pow Quarter Rank Reduce Reverse RowNumber Sign Sqrt StartsWith "
    "Stddev StddevPop StddevSamp Sum Transform Upper Variance VariancePop Week WeekOfYear Year"
)
SAME_FUNCTIONS = frozenset(_SAME_CLASSES.split())
"""Names of sqlglot's classes."""

SAME_NAMES = frozenset({"MAP_KEYS", "MAP_VALUES", "CBRT", "DEGREES", "RADIANS", "SIN", "COS", "TAN", "CARDINALITY"})
"""Names of functions without a class in sqlglot."""

# The characters of java.lang.Character.isWhitespace, which Trino's trim removes.
_CODES = (*range(9, 14), *range(28, 33), 5760, *range(8192, 8199), *range(8200, 8203), 8232, 8233, 8287, 12288)
_WHITE_SPACE = "".join(map(chr, _CODES))
_UNITS = {"DAY": "DAY", "WEEK": "WEEK", "MONTH": "MONTH", "QUARTER": "QUARTER", "YEAR": "YEAR"}
_MAX_ROUNDED_DIGITS = 15
_PLAIN_PATTERN = re.compile(r"[\w \-.^$+*?|()\[\],;:/@#%=<>!~\"']*|(?:\\[dwsDWS.]|[\w \-.^$+*?|()\[\]])*")
_DATE_FORMAT = re.compile(r"(?:yyyy|MM|dd|HH|mm|ss|[-/:. ])*")


def _least_or_greatest(node: Expr) -> Expr:
    """NULL if any argument is NULL; Spark ignores NULLs."""
    values = [node.this, *node.expressions]
    is_null = [exp.Is(this=value.copy(), expression=exp.Null()) for value in values]
    call = exp.Anonymous(this=type(node).__name__.upper(), expressions=[value.copy() for value in values])
    return exp.Case(ifs=[exp.If(this=exp.or_(*is_null), true=exp.Null())], default=call)


def _avg(node: Expr) -> Expr | None:
    kind = kind_of(node.this)
    if kind in (Kind.INTEGER, Kind.FLOAT):
        return None
    why = "averages of decimals have other digits in Spark" if kind is Kind.DECIMAL else "the type is not known here"
    raise UntranslatableError(node, why, f"write avg(CAST({node.this.sql(dialect='trino')} AS DOUBLE))")


def _approximate(node: Expr) -> Expr:
    raise UntranslatableError(
        node, "Spark approximates differently and returns other numbers", "use count(DISTINCT ...)"
    )


def _array_agg(node: Expr) -> Expr:
    """Keeps NULLs, and is NULL over no rows; Spark ignores NULLs, and returns an empty array."""
    value = node.this
    if isinstance(value, exp.Order | exp.Distinct) or isinstance(node.parent, exp.Filter | exp.Window):
        raise UntranslatableError(node, "array_agg with ORDER BY, DISTINCT, FILTER or OVER is not translated", "")
    struct = exp.Anonymous(this="NAMED_STRUCT", expressions=[exp.Literal.string("v"), value.copy()])
    collected = exp.Anonymous(this="COLLECT_LIST", expressions=[struct])
    field = exp.Dot(this=exp.to_identifier("e"), expression=exp.to_identifier("v"))
    values = exp.Anonymous(
        this="TRANSFORM", expressions=[collected, exp.Lambda(this=field, expressions=[exp.to_identifier("e")])]
    )
    any_row = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=any_row, true=values)])


def _substring(node: Expr) -> Expr | None:
    start = node.args.get("start")
    if isinstance(start, exp.Literal) and not start.is_string and start.name != "0":
        return None
    why = "a start of 0, or before the first character, gives an empty text in Trino, but not in Spark"
    raise UntranslatableError(node, why, "write the start as a number from 1")


def _regexp_like(node: Expr) -> Expr | None:
    pattern = node.args["expression"]
    if pattern.is_string and _PLAIN_PATTERN.fullmatch(pattern.name):
        return None
    raise UntranslatableError(
        node,
        "regular expressions of Trino and Spark differ beyond the plain ones",
        "write a plain pattern as a literal",
    )


def _round(node: Expr) -> Expr | None:
    """Trino multiplies a double, rounds, and divides; Spark rounds its decimal text: 1.005 is 1.0 or 1.01."""
    decimals, kind = node.args.get("decimals"), kind_of(node.this)
    if kind not in (Kind.FLOAT, Kind.INTEGER):
        raise UntranslatableError(
            node,
            "the type is not known here, and rounded decimals have other digits in Spark",
            "cast the value to DOUBLE",
        )
    if decimals is None or decimals.name == "0":
        return None
    if decimals.is_string or not decimals.name.isdigit() or int(decimals.name) > _MAX_ROUNDED_DIGITS:
        raise UntranslatableError(node, f"the number of digits has to be a literal from 0 to {_MAX_ROUNDED_DIGITS}", "")
    if kind is Kind.INTEGER:
        return None
    factor = exp.Literal.number(f"1e{decimals.name}")
    rounded = _call("ROUND", exp.Mul(this=exp.Paren(this=node.this.copy()), expression=factor))
    shortened = exp.Paren(this=exp.Div(this=rounded, expression=factor.copy()))
    return exp.cast(shortened, "REAL") if node.this.type.this.name == "FLOAT" else shortened


def _logarithm(node: Expr) -> Expr:
    """Spark returns NULL where Trino returns minus infinity or NaN."""
    name, value = "LN", node.this
    if isinstance(node, exp.Log):
        base, value = node.this, node.args.get("expression")
        name = {"2": "LOG2", "10": "LOG10"}.get(base.name if isinstance(base, exp.Literal) else "", "")
        if not name or value is None:
            raise UntranslatableError(node, "log is translated for the bases 2 and 10", "write ln(x) / ln(base)")
    zero = exp.Literal.number(0)
    cases = [
        exp.If(this=exp.GT(this=value.copy(), expression=zero), true=_call(name, value)),
        exp.If(this=exp.EQ(this=value.copy(), expression=zero.copy()), true=_double("-Infinity")),
        exp.If(this=exp.LT(this=value.copy(), expression=zero.copy()), true=_double("NaN")),
    ]
    return exp.Case(ifs=cases)


def _whole(node: Expr) -> Expr | None:
    """Trino returns a double for a double; Spark a bigint, whose range is smaller."""
    kind = kind_of(node.this)
    if kind in (Kind.INTEGER, Kind.DECIMAL):
        return None
    if kind is not Kind.FLOAT:
        raise UntranslatableError(node, "the type is not known here", "cast the value to DOUBLE")
    call = exp.cast(_call(type(node).__name__.upper(), node.this), "DOUBLE")
    # From there on all doubles are whole numbers.
    small = exp.LT(this=_call("ABS", node.this), expression=exp.Literal.number("9e15"))
    return exp.Case(ifs=[exp.If(this=small, true=call)], default=node.this.copy())


def _any_value(node: Expr) -> Expr:
    """A value that is not NULL if there is one; Spark's may be NULL."""
    return exp.Anonymous(this="FIRST", expressions=[node.this.copy(), exp.true()])


def _extreme_by(node: Expr) -> Expr | None:
    if node.args.get("count") is not None:
        raise UntranslatableError(node, "several values are not translated", "")
    return None


def _day_of_week(node: Expr) -> Expr:
    """1 is Monday; Spark's WEEKDAY counts from 0."""
    return exp.Paren(this=exp.Add(this=_call("WEEKDAY", node.this), expression=exp.Literal.number(1)))


def _extract(node: Expr) -> Expr | None:
    if node.this.name.upper() not in ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE"):
        raise UntranslatableError(node, f"{node.this.name} of a time is another number in Spark", "")
    return None


def _split(node: Expr) -> Expr | None:
    if node.args.get("limit") is not None:
        raise UntranslatableError(node, "split with a limit is not translated", "")
    return None


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
        node.set("expression", exp.Literal.string(_WHITE_SPACE))
        node.set("position", node.args.get("position") or "BOTH")
    return None


def _call(name: str, *values: Expr) -> Expr:
    return exp.Anonymous(this=name, expressions=[value.copy() for value in values])


def _double(text: str) -> Expr:
    return exp.cast(exp.Literal.string(text), "DOUBLE")


def _cast_timestamp_function(node: Expr) -> Expr:
    raise UntranslatableError(node, "the type of its result, or its zone, is another one in Spark", "")


def _date_add(node: Expr) -> Expr:
    unit = _date_unit(node)
    value = node.args["expression"]
    if unit in ("DAY", "WEEK"):
        days = (
            value.copy()
            if unit == "DAY"
            else exp.Mul(this=exp.Paren(this=value.copy()), expression=exp.Literal.number(7))
        )
        return exp.Anonymous(
            this="DATE_ADD",
            expressions=[node.this.copy(), exp.Cast(this=exp.Paren(this=days), to=exp.DataType.build("INT"))],
        )
    factor = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}[unit]
    months = exp.Mul(this=exp.Paren(this=value.copy()), expression=exp.Literal.number(factor))
    return exp.Anonymous(
        this="ADD_MONTHS",
        expressions=[node.this.copy(), exp.Cast(this=exp.Paren(this=months), to=exp.DataType.build("INT"))],
    )


def _date_diff(node: Expr) -> Expr:
    unit = _date_unit(node)
    if unit != "DAY" or kind_of(node.args["expression"]) is not Kind.DATE:
        raise UntranslatableError(
            node, "date_diff is translated only for days between dates", "cast both sides to DATE"
        )
    days = exp.Anonymous(this="DATEDIFF", expressions=[node.this.copy(), node.args["expression"].copy()])
    return exp.Cast(this=days, to=exp.DataType.build("BIGINT"))


def _date_trunc(node: Expr) -> Expr:
    unit = _date_unit(node)
    return exp.Anonymous(this="TRUNC", expressions=[node.this.copy(), exp.Literal.string(unit)])


def _date_unit(node: Expr) -> str:
    if kind_of(node.this) is not Kind.DATE:
        raise UntranslatableError(node, "it is translated for dates only", "cast the value to DATE")
    given = node.args.get("unit")
    unit = given.name.upper() if given is not None else "DAY"
    if unit not in _UNITS:
        raise UntranslatableError(node, f"the unit {unit} is not translated for dates", "")
    return unit


def _date_format(node: Expr) -> Expr | None:
    pattern = node.args.get("format")
    if pattern is None or not pattern.is_string or kind_of(node.this) not in (Kind.DATE, Kind.TIMESTAMP):
        raise UntranslatableError(node, "the pattern or the type of the value is not known here", "")
    # sqlglot keeps patterns in Python's letters.
    spark = pattern.name
    for theirs, ours in (("%Y", "yyyy"), ("%m", "MM"), ("%d", "dd"), ("%H", "HH"), ("%M", "mm"), ("%S", "ss")):
        spark = spark.replace(theirs, ours)
    if not _DATE_FORMAT.fullmatch(spark):
        raise UntranslatableError(node, "the pattern holds more than %Y %m %d %H %i %s and - / : .", "")
    return exp.Anonymous(this="DATE_FORMAT", expressions=[node.this.copy(), exp.Literal.string(spark)])


def _element_at(node: Expr) -> Expr | None:
    if node.args.get("offset") == 1 and node.args.get("safe"):
        return exp.Anonymous(
            this="TRY_ELEMENT_AT", expressions=[node.this.copy(), *(one.copy() for one in node.expressions)]
        )
    if kind_of(node.this) is not Kind.ARRAY:
        raise UntranslatableError(node, "[] fails on missing keys of maps in Trino, not in Spark", "use element_at")
    return None


def _anonymous(node: Expr) -> Expr | None:
    """Functions without a class in sqlglot."""
    name = node.name.upper()
    if name in SAME_NAMES:
        return None
    renamed = {"ANY_MATCH": "EXISTS", "ALL_MATCH": "FORALL"}.get(name)
    if renamed is None:
        raise UntranslatableError(
            node, f"the function {name.lower()} has no translation that surely means the same", ""
        )
    return exp.Anonymous(this=renamed, expressions=[one.copy() for one in node.expressions])


FUNCTION_RULES: dict[str, Rule] = {
    "Anonymous": _anonymous,
    "AnyValue": _any_value,
    "ArgMax": _extreme_by,
    "ArgMin": _extreme_by,
    "ApproxDistinct": _approximate,
    "ApproxQuantile": _approximate,
    "ArrayAgg": _array_agg,
    "Avg": _avg,
    "Bracket": _element_at,
    "Ceil": _whole,
    "CurrentTimestamp": _cast_timestamp_function,
    "DateAdd": _date_add,
    "DateDiff": _date_diff,
    "DateTrunc": _date_trunc,
    "DayOfWeekIso": _day_of_week,
    "Extract": _extract,
    "Floor": _whole,
    "Greatest": _least_or_greatest,
    "Least": _least_or_greatest,
    "Ln": _logarithm,
    "Log": _logarithm,
    "RegexpLike": _regexp_like,
    "Replace": _replace,
    "Round": _round,
    "Split": _split,
    "StrPosition": _position,
    "Substring": _substring,
    "TimeToStr": _date_format,
    "TimestampTrunc": _date_trunc,
    "Trim": _trim,
}
"""By the names of sqlglot's classes."""
