"""Arrays, maps and rows of Trino."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.building import call, cast, is_null, when
from lakeport.trino.rules import Rule, UntranslatableError
from lakeport.trino.types import Kind, kind_of

__all__ = ["COLLECTION_NAMES", "COLLECTION_RULES"]

_SAME = {
    "ALL_MATCH": "FORALL", "ANY_MATCH": "EXISTS", "ARRAY_UNION": "ARRAY_UNION", "ARRAYS_OVERLAP": "ARRAYS_OVERLAP",
    "JSON_ARRAY_LENGTH": "JSON_ARRAY_LENGTH", "MAP_CONCAT": "MAP_CONCAT", "MAP_ENTRIES": "MAP_ENTRIES",
    "MAP_FILTER": "MAP_FILTER", "TRANSFORM_KEYS": "TRANSFORM_KEYS", "TRANSFORM_VALUES": "TRANSFORM_VALUES",
    "ZIP_WITH": "ZIP_WITH",
}  # fmt: skip


def _element_at(node: Expr) -> Expr | None:
    if node.args.get("offset") == 1 and node.args.get("safe"):
        return call("TRY_ELEMENT_AT", node.this, *node.expressions)
    if kind_of(node.this) is not Kind.ARRAY:
        raise UntranslatableError(node, "[] fails on missing keys of maps in Trino, not in Spark", "use element_at")
    return None


def _array_sort(node: Expr) -> Expr:
    """NULLs are last in both; so are the results of a comparison."""
    return call("ARRAY_SORT", node.this, *([] if node.args.get("expression") is None else [node.args["expression"]]))


def _extreme(node: Expr) -> Expr:
    """NULL if an element is; Spark ignores NULLs."""
    element = exp.to_identifier("e")
    any_null = call("EXISTS", node.this, exp.Lambda(this=is_null(element), expressions=[element.copy()]))
    return when(exp.Not(this=any_null), call("ARRAY_MAX" if isinstance(node, exp.ArrayMax) else "ARRAY_MIN", node.this))


def _flatten(node: Expr) -> Expr:
    """NULLs among the arrays are left out; Spark's result is NULL."""
    element = exp.to_identifier("e")
    given = exp.Lambda(this=exp.Not(this=is_null(element)), expressions=[element.copy()])
    return call("FLATTEN", call("FILTER", node.this, given))


def _slice(node: Expr) -> Expr:
    return call("SLICE", node.this, *(cast(node.args[key], "INT") for key in ("start", "end")))


def _pair(node: Expr) -> Expr:
    second = node.args.get("expression")
    (other,) = node.expressions if second is None else [second]
    return call(_PAIRS[type(node).__name__], node.this, other)


def _repeat(node: Expr) -> Expr:
    return call("ARRAY_REPEAT", node.this, cast(node.args["times"], "INT"))


def _from_entries(node: Expr) -> Expr:
    return call("MAP_FROM_ENTRIES", node.this)


def _position(node: Expr) -> Expr:
    return call("ARRAY_POSITION", node.this, node.args["expression"])


def _none_match(node: Expr) -> Expr:
    return exp.Not(this=call("EXISTS", *node.expressions))


def _same(node: Expr) -> Expr:
    return call(_SAME[node.name.upper()], *node.expressions)


_PAIRS = {"ArrayExcept": "ARRAY_EXCEPT", "ArrayIntersect": "ARRAY_INTERSECT", "ArrayRemove": "ARRAY_REMOVE"}

COLLECTION_RULES: dict[str, Rule] = {
    **dict.fromkeys(_PAIRS, _pair),
    "ArrayMax": _extreme,
    "ArrayMin": _extreme,
    "ArrayPosition": _position,
    "ArraySlice": _slice,
    "ArraySort": _array_sort,
    "Bracket": _element_at,
    "Flatten": _flatten,
    "MapFromEntries": _from_entries,
    "Repeat": _repeat,
}
"""By the names of sqlglot's classes."""

COLLECTION_NAMES: dict[str, Rule] = {**dict.fromkeys(_SAME, _same), "NONE_MATCH": _none_match}
"""Functions without a class in sqlglot."""
