"""Arrays of an aggregate that are sorted by a comparison of their fields, as ``array_agg(x ORDER BY y)`` of Trino is.

DuckDB sorts no arrays by a function, but collects values in an order.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import LIST_ORDER

__all__ = ["mark_ordered_lists"]

# A field, whether it descends, and whether its NULLs are first.
_Key = tuple[str, bool, bool]


def mark_ordered_lists(tree: Expr) -> None:
    """Puts the order of ``array_sort(collect_list(struct), function)`` into the aggregate; changes the statement.

    Calls whose function is no comparison of fields stay as they are.
    """
    for node in list(tree.find_all(exp.Anonymous)):
        if node.name.lower() != "array_sort" or len(node.expressions) != 2:
            continue
        collected, function = node.expressions
        aggregate = collected.this if isinstance(collected, exp.Filter) else collected
        if not isinstance(aggregate, exp.ArrayAgg | exp.ArrayUniqueAgg) or not isinstance(function, exp.Lambda):
            continue
        keys = _keys_of(function)
        if isinstance(aggregate.this, exp.Struct) and keys:
            aggregate.meta[LIST_ORDER] = keys
            node.replace(collected)


def _keys_of(function: exp.Lambda) -> list[_Key]:
    """The keys by which a function compares; none if it does something else."""
    sides = [one.name for one in function.expressions]
    keys: list[_Key] = []
    rest: Expr = function.this
    while len(sides) == 2 and not _is_number(rest, 0):
        if not isinstance(rest, exp.Case) or rest.this is not None or len(rest.args["ifs"]) != 4:
            return []
        equal, left_null, right_null, before = rest.args["ifs"]
        key = _compared(before.this, sides)
        tests = [_compared(equal.this, sides), *(_is_null(one.this, side) for one, side in
                                                 zip((left_null, right_null), sides, strict=True))]  # fmt: skip
        is_order = isinstance(equal.this, exp.NullSafeEQ) and isinstance(before.this, exp.LT | exp.GT)
        if key is None or any(one != key for one in tests) or not is_order:
            return []
        if not _is_number(before.args["true"], -1) or not _is_number(rest.args.get("default"), 1):
            return []
        first = -1 if _is_number(left_null.args["true"], -1) else 1
        if not _is_number(left_null.args["true"], first) or not _is_number(right_null.args["true"], -first):
            return []
        keys.append((key, isinstance(before.this, exp.GT), first == -1))
        rest = equal.args["true"]
    return keys


def _compared(test: Expr, sides: list[str]) -> str | None:
    """The field that a comparison has on both sides."""
    if not isinstance(test, exp.Binary):
        return None
    left, right = _field(test.this, sides[0]), _field(test.expression, sides[1])
    return left if left == right else None


def _is_null(test: Expr, side: str) -> str | None:
    is_test = isinstance(test, exp.Is) and isinstance(test.expression, exp.Null)
    return _field(test.this, side) if is_test else None


def _field(value: Expr, side: str) -> str | None:
    found = value.unnest()
    if not isinstance(found, exp.Dot) or not isinstance(found.this, exp.Identifier) or found.this.name != side:
        return None
    return str(found.expression.name)


def _is_number(value: Expr | None, number: int) -> bool:
    return value is not None and value.sql("spark") == str(number)
