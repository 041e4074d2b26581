"""One spelling for what can be written in several ways, after results have their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.functions.parameters import PAIRED
from lakeport.duckdb.refusal import refused

__all__ = ["SPELLINGS", "respell", "rows_as_queries"]

_PARTS = {
    "YEAR": "year", "YEARS": "year", "QUARTER": "quarter", "MONTH": "month", "MONTHS": "month", "WEEK": "weekofyear",
    "DAY": "day", "DAYS": "day", "DAYOFWEEK": "dayofweek", "DOW": "dayofweek", "DAYOFWEEK_ISO": "dayofweek_iso",
    "DOY": "dayofyear", "HOUR": "hour", "HOURS": "hour", "MINUTE": "minute", "MINUTES": "minute",
    "YEAROFWEEK": "lakeport_year_of_week",
}  # fmt: skip
_INTS = 2**31
_INTERVALS = {"make_dt_interval": "lakeport_time_later", "make_ym_interval": "lakeport_months_later"}


def _is_null(given: list[Expr]) -> Expr:
    return exp.Paren(this=exp.Is(this=exp.Paren(this=given[0]), expression=exp.Null()))


def _is_not_null(given: list[Expr]) -> Expr:
    return exp.Not(this=_is_null(given))


def _coalesced(given: list[Expr]) -> Expr:
    return exp.Coalesce(this=given[0], expressions=given[1:])


def _substring(given: list[Expr]) -> Expr:
    return exp.Substring(this=given[0], start=given[1], length=given[2] if len(given) > 2 else None)


def _date_part(given: list[Expr]) -> Expr:
    """The part is written out."""
    part, value = given
    if not (isinstance(part, exp.Literal) and part.is_string):
        raise refused(part, "a part of a date that is not written out")
    return _part_of(exp.Extract(this=exp.var(part.name), expression=value))


def _forall(given: list[Expr]) -> Expr:
    """No element is there that does not pass."""
    array, function = given
    if not isinstance(function, exp.Lambda):
        raise refused(function, "a function that is not written as parameter -> value")
    function.set("this", exp.Not(this=exp.paren(function.this, copy=False)))
    return exp.Not(this=exp.Exists(this=array, expression=function))


SPELLINGS: Mapping[str, tuple[tuple[int, ...], Callable[[list[Expr]], Expr]]] = {
    "nvl": ((2,), _coalesced),
    "ifnull": ((2,), _coalesced),
    "nvl2": ((3,), lambda given: exp.If(this=_is_not_null(given[:1]), true=given[1], false=given[2])),
    "isnull": ((1,), _is_null),
    "isnotnull": ((1,), _is_not_null),
    "equal_null": ((2,), lambda given: exp.Paren(this=exp.NullSafeEQ(this=given[0], expression=given[1]))),
    "zeroifnull": ((1,), lambda given: _coalesced([given[0], exp.Literal.number(0)])),
    "nullifzero": ((1,), lambda given: exp.Nullif(this=given[0], expression=exp.Literal.number(0))),
    "substr": ((2, 3), _substring),
    "forall": ((2,), _forall),
    **PAIRED,
    "date_part": ((2,), _date_part),
    "mean": ((1,), lambda given: exp.Avg(this=given[0])),
    "std": ((1,), lambda given: exp.Stddev(this=given[0])),
    "some": ((1,), lambda given: exp.LogicalOr(this=given[0])),
    "negative": ((1,), lambda given: exp.Neg(this=exp.paren(given[0]))),
    "positive": ((1,), lambda given: exp.paren(given[0])),
    "now": ((0,), lambda _: exp.CurrentTimestamp()),
    "every": ((1,), lambda given: exp.LogicalAnd(this=given[0])),
}
"""Other ways to write functions: how many arguments they take, and the same of them."""


_FILTERED = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance,
             exp.VariancePop, exp.CountIf, exp.LogicalAnd, exp.LogicalOr, exp.Median, exp.ArrayAgg,
             exp.ArrayUniqueAgg)  # fmt: skip


def rows_as_queries(tree: Expr) -> Expr:
    """Writes rows that are written out as a union of queries; returns the changed statement."""
    for values in list(tree.find_all(exp.Values)):
        alias = values.args.get("alias")
        made = _rows(values, [] if alias is None else [one.name for one in alias.columns])
        if values is tree:
            return made
        name = exp.TableAlias(this=exp.to_identifier("lakeport_values") if alias is None else alias.this)
        values.replace(exp.Subquery(this=made, alias=name))
    return tree


def _rows(values: exp.Values, names: list[str]) -> exp.Query:
    rows = [one.expressions if isinstance(one, exp.Tuple) else [one] for one in values.expressions]
    names = names or [f"col{at}" for at, _ in enumerate(rows[0], start=1)]
    if any(len(row) != len(names) for row in rows):
        raise refused(values, "rows of different lengths")
    queries: list[exp.Query] = [
        exp.Select(expressions=[exp.alias_(one, name) for one, name in zip(row, names, strict=True)]) for row in rows
    ]
    while len(queries) > 1:
        pairs = zip(queries[::2], queries[1::2], strict=False)
        left = queries[-1:] if len(queries) % 2 else []
        queries = [*(exp.Union(this=one, expression=other, distinct=False) for one, other in pairs), *left]
    return queries[0]


def _filtered(node: exp.Filter) -> Expr:
    """An aggregate over the rows that pass a condition, as one over NULL for others."""
    aggregate, condition = node.this, node.expression.this
    if not isinstance(aggregate, _FILTERED):
        raise refused(node, "FILTER of this function")
    inner = aggregate.this
    if isinstance(inner, exp.Distinct):
        if len(inner.expressions) > 1:
            raise refused(node, "FILTER of several values")
        inner = inner.expressions[0]
    value = exp.Literal.number(1) if isinstance(inner, exp.Star) else inner.copy()
    inner.replace(exp.Case(ifs=[exp.If(this=condition, true=value)]))
    return aggregate


_RESPELLED = (exp.Anonymous, exp.Add, exp.Extract, exp.RegexpLike, exp.StrPosition, exp.Filter, exp.CountIf, exp.Concat,
              exp.Cast)  # fmt: skip


def respell(tree: Expr) -> None:
    """Writes a statement with fewer kinds of expressions; changes it.

    Raises:
        NotSupportedError: A function is called in a way that there is not.
    """
    for node in list(tree.find_all(*_RESPELLED)):
        if isinstance(node, exp.Anonymous):
            node.set("expressions", [_plain_int(one) for one in node.expressions])
        made = _respelled(node)
        if made is not None:
            node.replace(made)


def _respelled(node: Expr) -> Expr | None:
    if isinstance(node, exp.Extract):
        made = _part_of(node)
        return None if made is node else made
    if isinstance(node, exp.Add):
        return _later(node)
    if isinstance(node, exp.Filter):
        return _filtered(node)
    if isinstance(node, exp.CountIf):
        # That of DuckDB is NULL where all values are.
        return exp.Count(this=exp.Case(ifs=[exp.If(this=node.this, true=exp.Literal.number(1))]))
    if isinstance(node, exp.Cast):
        return _seconds(node)
    if type(node) is exp.Concat:  # not ConcatWs, which is a Concat, too
        parts = node.expressions
        return _text(parts) if all(isinstance(one, exp.Literal) and one.is_string for one in parts) else None
    if isinstance(node, exp.RegexpLike):
        return _call("rlike", node.this, node.expression)
    if isinstance(node, exp.StrPosition):
        start = node.args.get("position")
        return _call("locate", node.args["substr"], node.this, *([] if start is None else [start]))
    counts, make = SPELLINGS.get(node.name.lower(), ((), None))
    if make is None:
        return None
    given = list(node.expressions)
    if len(given) not in counts:
        raise refused(node, f"the function takes {' or '.join(map(str, counts))} arguments")
    return make(given)


def _part_of(node: exp.Extract) -> Expr:
    part = _PARTS.get(node.this.name.upper())
    return node if part is None else _call(part, node.expression)


def _later(node: exp.Add) -> Expr | None:
    """A time, and an interval that is computed; ``None`` for other sums."""
    function = _INTERVALS.get(node.expression.name.lower()) if isinstance(node.expression, exp.Anonymous) else None
    return None if function is None else _call(function, node.this, *node.expression.expressions)


def _seconds(node: exp.Cast) -> Expr | None:
    """``CAST(CAST(a - b AS INTERVAL SECOND) AS DECIMAL(...))``: the seconds between two times; ``None`` for others."""
    inner = node.this
    if not isinstance(inner, exp.Cast) or node.args["to"].this is not exp.DType.DECIMAL:
        return None
    unit = inner.args["to"].this
    is_seconds = isinstance(unit, exp.Interval) and str(unit.args.get("unit")).upper() == "SECOND"
    difference = inner.this.unnest()
    if not is_seconds or not isinstance(difference, exp.Sub):
        return None
    return exp.cast(_call("lakeport_seconds", difference.this, difference.expression), node.args["to"])


def _plain_int(value: Expr) -> Expr:
    """A number without a cast to int around it."""
    inner = value.this if isinstance(value, exp.Cast) and value.args["to"].this is exp.DType.INT else None
    number = inner.this if isinstance(inner, exp.Neg) else inner
    is_int = isinstance(number, exp.Literal) and number.name.isdigit() and int(number.name) < _INTS
    return inner if is_int and inner is not None else value


def _text(parts: list[Expr]) -> Expr:
    """Texts that are written out, one behind the other, as one: functions may want it."""
    return exp.Literal.string("".join(one.name for one in parts))


def _call(name: str, *given: Expr) -> Expr:
    return exp.Anonymous(this=name, expressions=list(given))
