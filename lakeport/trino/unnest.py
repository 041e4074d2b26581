"""Translates Trino's ``UNNEST`` into Spark's generator functions."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.rules import UntranslatableError

__all__ = ["generated_query", "unnest_as_lateral"]


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
    if (is_left and not is_true) or (not is_left and join.args.get("kind") != "CROSS"):
        raise UntranslatableError(join, "UNNEST is joined by CROSS JOIN, or LEFT JOIN ... ON TRUE, only", "")
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
    sources = unnest.expressions
    if len(sources) != 1:
        raise UntranslatableError(unnest, "UNNEST of several arrays is not translated", "unnest them one by one")
    values = names
    number = None
    if ordinality is not None and ordinality is not False:
        number = ordinality.name if isinstance(ordinality, exp.Identifier) else None
        if number is None and names:
            *values, number = names
    if not values or (ordinality and number is None):
        raise UntranslatableError(unnest, "UNNEST without names for its columns is not translated", "write AS t(x)")
    source = sources[0].copy()
    if number is None:
        call = exp.Anonymous(this="EXPLODE", expressions=[source])
        made = exp.Aliases(this=call, expressions=[exp.to_identifier(name) for name in values])
        return exp.Select(expressions=[made])
    call = exp.Anonymous(this="POSEXPLODE", expressions=[source])
    inner_names = [exp.to_identifier(name) for name in (number, *values)]
    inner = exp.Select(expressions=[exp.Aliases(this=call, expressions=inner_names)])
    columns: list[Expr] = [exp.column(name) for name in values]
    # Spark counts from 0.
    counted = exp.alias_(
        exp.Cast(
            this=exp.Add(this=exp.column(number), expression=exp.Literal.number(1)), to=exp.DataType.build("BIGINT")
        ),
        number,
    )
    return exp.Select(expressions=[*columns, counted]).from_(exp.Subquery(this=inner))


def _named(alias: Expr | None) -> Expr | None:
    return exp.TableAlias(this=alias.this.copy()) if alias is not None and alias.this else None
