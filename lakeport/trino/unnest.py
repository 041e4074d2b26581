"""Translates Trino's ``UNNEST`` into Spark's generator functions."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.building import call, cast, integer, text
from lakeport.trino.rules import UntranslatableError
from lakeport.trino.types import Kind, kind_of

__all__ = ["generated_query", "unnest_as_lateral"]

_ELEMENT = "lakeport_element"


def unnest_as_lateral(join: Expr) -> Expr | None:
    """A join with ``UNNEST(...)`` as one with a lateral subquery; ``None`` for other joins.

    sqlglot's own translation drops the rows of ``LEFT JOIN UNNEST`` without elements, and counts from 0.
    """
    unnest = join.this
    if isinstance(unnest, exp.Lateral):
        raise UntranslatableError(join, "LATERAL is not translated", "")
    if not isinstance(unnest, exp.Unnest):
        return None
    is_left = join.args.get("side") == "LEFT"
    condition = join.args.get("on")
    is_true = isinstance(condition, exp.Boolean) and condition.this is True
    is_plain = join.args.get("side") in (None, "", "LEFT") and join.args.get("kind") in (None, "", "CROSS", "INNER")
    if not is_plain or (condition is not None and not is_true) or (is_left and not is_true):
        raise UntranslatableError(join, "UNNEST is joined by a comma, CROSS JOIN, or ON TRUE, only", "")
    alias = unnest.args.get("alias")
    names = [column.name for column in alias.columns] if alias is not None else []
    lateral = exp.Lateral(this=exp.Subquery(this=_generated(unnest, names)), alias=_named(alias))
    kind = {"side": "LEFT"} if is_left else {"kind": "CROSS"}
    return exp.Join(this=lateral, on=condition.copy() if is_left and condition is not None else None, **kind)


def generated_query(unnest: Expr) -> Expr:
    """``FROM UNNEST(...) AS t(x)`` as a subquery."""
    alias = unnest.args.get("alias")
    names = [column.name for column in alias.columns] if alias is not None else []
    return exp.Subquery(this=_generated(unnest, names), alias=_named(alias))


def _generated(unnest: Expr, names: list[str]) -> Expr:
    ordinality = unnest.args.get("offset")
    values = names
    number = None
    if ordinality is not None and ordinality is not False:
        number = ordinality.name if isinstance(ordinality, exp.Identifier) else None
        if number is None and names:
            *values, number = names
    if not values or (ordinality and number is None):
        raise UntranslatableError(unnest, "UNNEST without names for its columns is not translated", "write AS t(x)")
    source, fields = _source(unnest, values)
    name = "EXPLODE" if fields is None else "INLINE"
    if number is None:
        made = exp.Aliases(this=call(name, source), expressions=[exp.to_identifier(one) for one in values])
        return exp.Select(expressions=[made])
    inner_names = [exp.to_identifier(one) for one in ((number, *values) if fields is None else (number, _ELEMENT))]
    inner = exp.Select(expressions=[exp.Aliases(this=call("POSEXPLODE", source), expressions=inner_names)])
    columns: list[Expr] = [exp.column(one) for one in values]
    if fields is not None:
        taken = zip(fields, values, strict=True)
        columns = [exp.alias_(exp.column(field, table=_ELEMENT, quoted=True), one) for field, one in taken]
    # Spark counts from 0.
    counted = exp.alias_(cast(exp.Add(this=exp.column(number), expression=integer(1)), "BIGINT"), number)
    return exp.Select(expressions=[*columns, counted]).from_(exp.Subquery(this=inner))


def _source(unnest: Expr, values: list[str]) -> tuple[Expr, list[str] | None]:
    """The one array or map to generate rows from, and the names of the fields of its elements if they are rows."""
    sources = unnest.expressions
    if len(sources) == 1:
        inner = sources[0].type.expressions if sources[0].type is not None else []
        is_rows = kind_of(sources[0]) is Kind.ARRAY and len(inner) == 1 and inner[0].this.name == "STRUCT"
        fields = [one.name for one in inner[0].expressions] if is_rows else None
        if fields is not None and len(fields) != len(values):
            raise UntranslatableError(unnest, f"the rows have {len(fields)} fields, and {len(values)} are named", "")
        return sources[0], fields
    if len(sources) != 2 or any(kind_of(one) is not Kind.ARRAY for one in sources) or len(values) != 2:
        raise UntranslatableError(
            unnest, "UNNEST of two arrays with known types is translated, not of more or of maps", "unnest one by one"
        )
    # A NULL is as good as an empty array.
    arrays = [exp.Coalesce(this=one.copy(), expressions=[call("ARRAY")]) for one in sources]
    pair = call("NAMED_STRUCT", text("x"), exp.to_identifier("x"), text("y"), exp.to_identifier("y"))
    zipped = exp.Lambda(this=pair, expressions=[exp.to_identifier("x"), exp.to_identifier("y")])
    return call("ZIP_WITH", *arrays, zipped), ["x", "y"]


def _named(alias: Expr | None) -> Expr | None:
    return exp.TableAlias(this=alias.this.copy()) if alias is not None and alias.this else None
