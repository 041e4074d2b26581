"""Lists of values, and texts of them."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import LIST_ORDER, Kind, is_nested, kind_of, kind_of_type
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.aggregates.common import ORDERED, aggregated
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["LISTS"]

# Of floating-point numbers the engines keep different ones of -0.0 and 0.0.
_DISTINCT = ORDERED - {Kind.FLOAT, Kind.DOUBLE}


def _collected(node: Expr) -> None:
    inner = aggregated(node)
    if isinstance(node.this, exp.Order) or kind_of(inner) is Kind.NULL or inner.type is None:
        raise refused(node, "a list in an order, or of values of no type")
    is_set = isinstance(node.this, exp.Distinct) or isinstance(node, exp.ArrayUniqueAgg)
    _check_order(node, inner)
    if is_set and not _is_told_apart(inner.type):
        raise refused(node, f"distinct values of {kind_of(inner).value}")
    if kind_of(inner) is Kind.OTHER and not inner.type.expressions:
        raise refused(node, "values of an unknown type")
    node.type = exp.DataType(this=exp.DType.ARRAY, expressions=[inner.type], nested=True)


def _is_told_apart(of: exp.DataType) -> bool:
    """Whether both engines tell the same values of a type apart."""
    if is_nested(of, exp.DType.STRUCT):
        return all(_is_told_apart(field.args["kind"]) for field in of.expressions)
    return kind_of_type(of) in _DISTINCT


def _check_order(node: Expr, inner: Expr) -> None:
    fields = {} if inner.type is None else {one.name: one.args.get("kind") for one in inner.type.expressions}
    for name, _, _ in node.meta.get(LIST_ORDER, ()):
        if name not in fields or kind_of_type(fields[name]) not in ORDERED:
            raise refused(node, f"an order by {name}, of which it is not known to be the same in both engines")


def _ordered(node: Expr, inner: Expr) -> list[Expr]:
    """The keys of the order of a list of structs."""
    return [
        exp.Ordered(
            this=exp.Anonymous(this="struct_extract", expressions=[inner.copy(), exp.Literal.string(name)]),
            desc=descends,
            nulls_first=nulls_first,
        )
        for name, descends, nulls_first in node.meta.get(LIST_ORDER, ())
    ]


def _as_list(node: Expr) -> Expr:
    """Spark leaves NULLs out, and gives an empty array of none. Rows are in their order, or as they come."""
    inner = aggregated(node)
    is_set = isinstance(node.this, exp.Distinct) or isinstance(node, exp.ArrayUniqueAgg)
    kept = exp.Not(this=exp.Is(this=exp.paren(inner.copy()), expression=exp.Null()))
    values: Expr = exp.Distinct(expressions=[inner.copy()]) if is_set else inner.copy()
    keys = _ordered(node, inner)
    if keys:
        values = exp.Order(this=values, expressions=keys)
    collected = exp.Filter(this=exp.Anonymous(this="list", expressions=[values]), expression=exp.Where(this=kept))
    made = exp.Coalesce(this=collected, expressions=[exp.Array(expressions=[])])
    made.type = node.type
    return made


def _joined(node: Expr) -> None:
    """``listagg``: both engines leave NULLs out."""
    inner = node.this.this if isinstance(node.this, exp.Order) else node.this
    separator = node.args.get("separator")
    if kind_of(inner) is not Kind.TEXT or not (separator is None or separator.is_string):
        raise refused(node, "of other than texts, or with a separator that is not written out")
    node.type = exp.DataType.build("VARCHAR")


def _with_separator(node: Expr) -> Expr:
    """DuckDB's own is a comma."""
    if node.args.get("separator") is None:
        node.set("separator", exp.Literal.string(""))
    return node


LISTS: Rules = {
    exp.GroupConcat: Rule(_joined, _with_separator),
    **dict.fromkeys((exp.ArrayAgg, exp.ArrayUniqueAgg), Rule(_collected, _as_list)),
}
