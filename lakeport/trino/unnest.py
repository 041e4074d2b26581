"""Translates Trino's ``UNNEST`` into Spark's generator functions."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.building import call, cast, integer
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
        fields = _fields(sources[0])
        found = [] if fields is None else fields
        if fields is not None and len(found) != len(values):
            raise UntranslatableError(unnest, f"the rows have {len(found)} fields, and {len(values)} are named", "")
        return sources[0], fields
    columns = [column for one in sources for column in _columns(unnest, one)]
    if len(columns) != len(values):
        why = f"the arrays and maps give {len(columns)} columns, and {len(values)} are named"
        raise UntranslatableError(unnest, why, "")
    # Shorter ones end in NULL in both. A NULL is as good as an empty array.
    arrays = [exp.Coalesce(this=one, expressions=[call("ARRAY")]) for one in columns]
    return call("ARRAYS_ZIP", *arrays), [str(position) for position, _ in enumerate(arrays)]


def _columns(unnest: Expr, source: Expr) -> list[Expr]:
    """The arrays that are the columns of one of several sources."""
    kind, fields = kind_of(source), _fields(source)
    if fields is not None:
        return [exp.Dot(this=exp.paren(source.copy()), expression=exp.to_identifier(one)) for one in fields]
    if kind is Kind.ARRAY:
        return [source.copy()]
    if kind is Kind.MAP:
        return [call("MAP_KEYS", source), call("MAP_VALUES", source)]
    shown = source.sql(dialect="trino")
    raise UntranslatableError(unnest, f"the type of {shown} is not known here", "unnest one by one")


def _fields(source: Expr) -> list[str] | None:
    """The fields of the rows that are the elements of an array; ``None`` for other elements."""
    inner = source.type.expressions if source.type is not None else []
    is_rows = kind_of(source) is Kind.ARRAY and len(inner) == 1 and inner[0].this.name == "STRUCT"
    return [one.name for one in inner[0].expressions] if is_rows else None


def _named(alias: Expr | None) -> Expr | None:
    return exp.TableAlias(this=alias.this.copy()) if alias is not None and alias.this else None
