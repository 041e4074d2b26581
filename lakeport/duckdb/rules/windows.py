"""Windows: aggregates over rows around one, ranks, and values of other rows."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import Kind, as_typed, kind_of
from lakeport.duckdb.macros import stable
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.aggregates import typed_average
from lakeport.duckdb.rules.comparisons import same_type
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["WINDOWS"]

_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile)
_SHARES = (exp.PercentRank, exp.CumeDist)
_NEIGHBOURS = (exp.Lag, exp.Lead)
_OF_FRAME = (exp.FirstValue, exp.LastValue, exp.NthValue, exp.First, exp.Last)
_KNOWN = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr)
_FIXED = ("UNBOUNDED", "CURRENT ROW")


def _window(node: Expr) -> None:
    if node.args.get("over") not in (None, "OVER") or node.args.get("alias") is not None:
        raise refused(node, "a window that has a name")
    function = node.this.this if isinstance(node.this, (exp.IgnoreNulls, exp.RespectNulls)) else node.this
    if not isinstance(function, (*_RANKS, *_SHARES, *_NEIGHBOURS, *_OF_FRAME, *_KNOWN)):
        raise refused(node, "this function over a window")
    if isinstance(node.this, exp.IgnoreNulls) and not isinstance(function, (*_NEIGHBOURS, *_OF_FRAME)):
        raise refused(node, "IGNORE NULLS")
    if isinstance(function, _RANKS):
        node.type = exp.DataType.build("INT")
    elif isinstance(function, _SHARES):
        node.type = exp.DataType.build("DOUBLE")
    else:
        node.type = function.type


def _typed_window(node: Expr) -> Expr:
    order = node.args.get("order")
    if order is not None:
        stable(order)
    if isinstance(node.this, exp.Avg):
        average = node.this
        made = typed_average(average, over=lambda one: _with_function(node, one))
        return _with_function(node, average) if made is average else made
    fine = isinstance(node.this, (exp.Count, exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr))
    return node if fine or kind_of(node) in (Kind.DOUBLE, Kind.OTHER, Kind.TEXT) else as_typed(node)


def _with_function(node: Expr, function: Expr) -> Expr:
    made = node.copy()
    made.set("this", function.copy())
    return made


def _frame(node: Expr) -> None:
    ends = [node.args.get("start"), node.args.get("end")]
    if node.args.get("exclude") is not None:
        raise refused(node, "rows of a frame are left out")
    for end in ends:
        moved = isinstance(end, exp.Literal) and end.name.isdigit() and str(node.args.get("kind")).upper() == "ROWS"
        if end is not None and end not in _FIXED and not moved:
            raise refused(node, "a bound of a frame that is no number of rows that is written out")


def _neighbour(node: Expr) -> None:
    offset, default = node.args.get("offset"), node.args.get("default")
    if offset is not None and not (isinstance(offset, exp.Literal) and offset.name.isdigit()):
        raise refused(node, "a distance that is not written out")
    found = node.this.type if default is None else same_type(node, [node.this, default])
    node.type = found or node.this.type


def _of_frame(node: Expr) -> None:
    window = node.parent.parent if isinstance(node.parent, (exp.IgnoreNulls, exp.RespectNulls)) else node.parent
    if not isinstance(window, exp.Window):
        raise refused(node, "the order of rows is not known without a window")
    if len([one for name, one in node.args.items() if one is not None and name != "this"]) > isinstance(
        node, exp.NthValue
    ):
        raise refused(node, "more than one argument")
    node.type = node.this.type


def _first_value(node: Expr) -> Expr:
    """``first`` is an aggregate in DuckDB."""
    kind = exp.FirstValue if isinstance(node, exp.First) else exp.LastValue
    made = kind(this=node.this)
    made.type = node.type
    return made


def _tiles(node: Expr) -> None:
    if not (isinstance(node.this, exp.Literal) and node.this.name.isdigit() and int(node.this.name)):
        raise refused(node, "a number of parts that is not written out")
    node.type = exp.DataType.build("INT")


def _inner(node: Expr) -> None:
    node.type = node.this.type


WINDOWS: Rules = {
    exp.Window: Rule(_window, _typed_window),
    exp.WindowSpec: Rule(_frame),
    **dict.fromkeys(_NEIGHBOURS, Rule(_neighbour)),
    **dict.fromkeys((exp.FirstValue, exp.LastValue, exp.NthValue), Rule(_of_frame)),
    **dict.fromkeys((exp.First, exp.Last), Rule(_of_frame, _first_value)),
    exp.Ntile: Rule(_tiles),
    **dict.fromkeys((exp.IgnoreNulls, exp.RespectNulls), Rule(_inner)),
}
