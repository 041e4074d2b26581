"""Floating-point numbers by which rows are grouped: of 0.0 and -0.0 Spark gives 0.0, and DuckDB the first it meets.

Spark's rule is ``NormalizeFloatingNumbers``. Both engines take all NaN for one value.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import Kind, kind_of
from lakeport.duckdb.refusal import refused

__all__ = ["normalize_zeros"]

_FLOATING = {Kind.FLOAT: "FLOAT", Kind.DOUBLE: "DOUBLE"}


def normalize_zeros(query: Expr) -> None:
    """Writes 0.0 for -0.0 where rows are grouped, also by ``DISTINCT`` and set operations; changes a query.

    Args:
        query: In DuckDB's words, with Spark's types.

    Raises:
        NotSupportedError: Rows are grouped by nested values that may hold such numbers.
    """
    for select in list(query.find_all(exp.Select)):
        group = select.args.get("group")
        if group is not None:
            _normalize_keys(select, group)
        if select.args.get("distinct") is not None:
            _normalize_results(select)
    for operation in list(query.find_all(exp.SetOperation)):
        if operation.args.get("distinct") is not False:
            for side in (operation.this, operation.expression):
                if isinstance(side.unnest(), exp.Select):
                    _normalize_results(side.unnest())


def _normalize_keys(select: exp.Select, group: exp.Group) -> None:
    for one in _keys(select, group):
        _check_nested(one)
    keys = [one for one in _keys(select, group) if kind_of(one) in _FLOATING and not isinstance(one, exp.Literal)]
    distinct = list({key.sql("duckdb"): key.copy() for key in keys}.values())
    for key in distinct:
        places = [group, *(select.args.get(name) for name in ("having", "qualify", "order")), *select.expressions]
        for place in places:
            for node in [] if place is None else list(_outside_of_aggregates(place)):
                if node == key:
                    node.replace(_normalized(key))


def _keys(select: exp.Select, group: exp.Group) -> Iterator[Expr]:
    yield from group.expressions
    if group.args.get("all"):
        yield from (one.unalias() for one in select.expressions if one.find(exp.AggFunc, exp.Window) is None)
    for name in ("rollup", "cube", "grouping_sets"):
        for one in group.args.get(name) or []:
            for part in one.expressions:
                yield from part.expressions if isinstance(part, exp.Tuple) else [part.unnest()]


def _outside_of_aggregates(node: Expr) -> Iterator[Expr]:
    """Parts of a query that are computed after its groups."""
    is_over_rows = isinstance(node, exp.AggFunc) and not isinstance(node, exp.Grouping)
    if is_over_rows or isinstance(node, exp.Query):
        return
    yield node
    for child in list(node.iter_expressions()):
        yield from _outside_of_aggregates(child)


def _normalize_results(select: exp.Select) -> None:
    for one in select.expressions:
        value = one.unalias()
        _check_nested(value)
        if kind_of(value) in _FLOATING and not value.meta.get("lakeport_normalized"):
            value.replace(_normalized(value))


def _check_nested(value: Expr) -> None:
    """Spark has 0.0 for -0.0 inside of arrays, maps and structs, too."""
    held = [] if value.type is None else value.type.find_all(exp.DataType)
    if kind_of(value) is Kind.OTHER and any(one.this in (exp.DType.FLOAT, exp.DType.DOUBLE) for one in held):
        raise refused(value, "groups of nested floating-point numbers")


def _normalized(value: Expr) -> Expr:
    zero = exp.cast(exp.Literal.number(0), _FLOATING[kind_of(value)])
    made = exp.Paren(this=exp.Add(this=exp.paren(value.copy()), expression=zero))
    made.type = value.type
    made.meta["lakeport_normalized"] = True
    return made
