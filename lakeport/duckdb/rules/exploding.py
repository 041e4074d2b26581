"""Elements of arrays and maps as rows: ``explode``, ``inline``, ``LATERAL VIEW`` and ``LATERAL`` subqueries."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.functions.generators import PART, generators_of
from lakeport.duckdb.kinds import is_nested
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["EXPLODING", "lateral_type"]

_TYPES = "lakeport_types"
_KINDS = (exp.Explode, exp.FUNCTION_BY_NAME["EXPLODE_OUTER"], exp.Posexplode, exp.PosexplodeOuter, exp.Inline)


def lateral_type(lateral: Expr, column: str) -> exp.DataType | None:
    """The type of a column of a ``LATERAL VIEW`` whose function was checked; ``None`` where there is no such one."""
    alias = lateral.args.get("alias")
    names = [] if alias is None else [one.name.lower() for one in alias.columns]
    types: list[exp.DataType] = lateral.meta.get(_TYPES, [])
    found = [kind for name, kind in zip(names, types, strict=False) if name == column.lower()]
    return found[0] if len(found) == 1 else None


def _exploded(node: Expr) -> None:
    """Of a NULL or an empty array there are no rows in either engine."""
    types = _types(node)
    holder = node.parent.parent if isinstance(node.parent, exp.Alias) else node.parent
    position, names = node.meta.get(PART, (0, 1))
    if isinstance(holder, exp.Lateral):
        named = len(holder.args["alias"].columns)
        if not holder.args.get("view") or named != len(types):
            raise refused(
                holder, f"a LATERAL of other than LATERAL VIEW function(...) t AS {len(types)} names of columns"
            )
        holder.meta[_TYPES] = types
    elif not isinstance(holder, exp.Select) or generators_of(holder) > 1:
        raise refused(node, "elements as rows elsewhere than once in a list of results, or in a LATERAL VIEW")
    elif names != len(types):
        raise refused(node, f"the function gives {len(types)} columns; write AS (name, ...) with as many names")
    node.meta[_TYPES] = types
    node.type = types[position]


def _types(node: Expr) -> list[exp.DataType]:
    """Types of the columns that a function gives."""
    given = node.this.type
    if isinstance(node, exp.Inline):
        if is_nested(given, exp.DType.ARRAY) and is_nested(given.expressions[0], exp.DType.STRUCT):
            return [field.args["kind"] for field in given.expressions[0].expressions]
        raise refused(node, "of what is no array of structs")
    first = [exp.DataType.build("INT")] if isinstance(node, exp.Posexplode) else []
    if is_nested(given, exp.DType.ARRAY) or is_nested(given, exp.DType.MAP):
        return [*first, *given.expressions]
    raise refused(node, "of what is no array or map")


def _lists(node: Expr, *, outer: bool) -> list[Expr]:
    """Lists in DuckDB's words, whose elements are the columns."""
    given = node.this
    if isinstance(node, exp.Inline):
        lists = [_field_of_all(given, number) for number, _ in enumerate(node.meta[_TYPES], 1)]
    elif is_nested(given.type, exp.DType.MAP):
        lists = [_call(name, given) for name in ("map_keys", "map_values")]
    else:
        lists = [given.copy()]
    size = _call("len", lists[0])
    if isinstance(node, exp.Posexplode):
        lists.insert(0, _call("range", size))
    if not outer:
        return lists
    some = exp.GT(this=size.copy(), expression=exp.Literal.number(0))
    nothing = exp.Array(expressions=[exp.Null()])
    return [exp.Case(ifs=[exp.If(this=some.copy(), true=one)], default=nothing.copy()) for one in lists]


def _field_of_all(given: Expr, number: int) -> Expr:
    """The values of a field of all structs of an array."""
    one = exp.to_identifier("lakeport_one")
    value = exp.Anonymous(this="struct_extract_at", expressions=[one, exp.Literal.number(number)])
    return exp.Anonymous(
        this="list_transform", expressions=[given.copy(), exp.Lambda(this=value, expressions=[one.copy()])]
    )


def _column(node: Expr, position: int, given: Expr) -> Expr:
    """The rows of a list as a column; DuckDB counts its elements as bigints."""
    made: Expr = _call("unnest", given)
    counts = isinstance(node, exp.Posexplode) and position == 0
    return exp.cast(made, "INT", copy=False) if counts else made


def _unnested(node: Expr) -> Expr:
    if isinstance(node.parent, exp.Lateral):
        return node
    position, _ = node.meta.get(PART, (0, 1))
    made = _column(node, position, _lists(node, outer=_is_outer(node))[position])
    made.type = node.type
    return made


def _joined(node: Expr) -> Expr:
    """As a join with the elements, which DuckDB counts side by side."""
    if isinstance(node.this, exp.Subquery):
        return node
    if node.meta.get(_TYPES) is None:
        raise refused(node, "a LATERAL of other than a subquery or LATERAL VIEW explode(...) t AS c")
    alias, function = node.args["alias"], node.this
    lists = _lists(function, outer=bool(node.args.get("outer")) or _is_outer(function))
    shown = [
        exp.alias_(_column(function, position, one), exp.to_identifier(name.name, quoted=True))
        for position, (name, one) in enumerate(zip(alias.columns, lists, strict=True))
    ]
    rows = exp.Subquery(this=exp.Select(expressions=shown))
    return exp.Join(this=exp.Lateral(this=rows, alias=exp.TableAlias(this=alias.this.copy())), kind="CROSS")


def _is_outer(node: Expr) -> bool:
    return isinstance(node, exp.ExplodeOuter)


def _call(name: str, given: Expr) -> Expr:
    return exp.Anonymous(this=name, expressions=[given.copy()])


def _fine(node: Expr) -> None:
    """Its function was checked."""


EXPLODING: Rules = {
    **dict.fromkeys(_KINDS, Rule(_exploded, _unnested)),
    exp.Lateral: Rule(_fine, _joined),
}
