"""Pivots as the groups and aggregates that they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.expressions import Expr
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from lakeport.duckdb.kinds import Kind, kind_of
from lakeport.duckdb.refusal import refused

__all__ = ["expand_pivots"]

# Spark gives NULL where a group has no row of a value, also for a count, unless another aggregate is of a type that
# its PivotFirst does not take, such as the least of texts. Then a count is 0.
_NUMBERS = (exp.Sum, exp.Avg, exp.Count)
_AGGREGATES = (*_NUMBERS, exp.Min, exp.Max)


def expand_pivots(tree: Expr, schema: MappingSchema) -> None:
    """Puts queries with ``GROUP BY`` in place of pivots; changes the statement.

    Args:
        tree: Whose tables are those of the schema.
        schema: The columns of the tables.

    Raises:
        NotSupportedError: A pivot may mean something else here; the message names it.
    """
    for source in reversed(list(tree.find_all(exp.Table, exp.Subquery))):
        pivots = source.args.get("pivots")
        if pivots:
            source.replace(_expanded(source, pivots, schema))


def _expanded(source: Expr, pivots: Sequence[exp.Pivot], schema: MappingSchema) -> exp.Subquery:
    pivot = pivots[0]
    if pivot.args.get("unpivot"):
        raise refused(pivot, "UNPIVOT of a table")
    select = source.find_ancestor(exp.Select)
    # Spark pivots all that stands before it in the FROM.
    if len(pivots) > 1 or not isinstance(source.parent, exp.From) or (select and select.args.get("laterals")):
        raise refused(pivot, "pivots of several tables; write a subquery")
    [field] = pivot.args["fields"]
    if not isinstance(field, exp.In) or not isinstance(field.this, exp.Column) or not field.expressions:
        raise refused(pivot, "pivots by something else than one column and its values")
    plain = source.copy()
    plain.set("pivots", None)
    columns = _columns(plain, pivot, schema)
    used = {one.name.lower() for part in (field.this, *pivot.expressions) for one in part.find_all(exp.Column)}
    groups = [one for one in columns if one.alias_or_name.lower() not in used]
    by = next((one for one in columns if one.alias_or_name.lower() == field.this.name.lower()), field.this)
    made = exp.Select(expressions=[*map(_column, groups), *_results(pivot, field, kind_of(by.unalias()))])
    made.set("from_", exp.From(this=plain))
    if groups:
        made.set("group", exp.Group(expressions=[_column(one) for one in groups]))
    alias = pivot.args.get("alias") or exp.TableAlias(this=exp.to_identifier(source.alias_or_name or "lakeport_pivot"))
    return exp.Subquery(this=made, alias=alias.copy())


def _columns(plain: Expr, pivot: exp.Pivot, schema: MappingSchema) -> list[Expr]:
    """The columns of what is pivoted, with their types."""
    whole = exp.Select(expressions=[exp.Star()]).from_(plain.copy())
    try:
        typed = annotate_types(qualify(whole, dialect="spark", schema=schema), schema=schema, dialect="spark")
    except SqlglotError as error:
        raise refused(pivot, f"what is pivoted is not understood: {str(error).splitlines()[0]}") from error
    assert isinstance(typed, exp.Select)
    names = [one.alias_or_name.lower() for one in typed.selects]
    if any(one.is_star for one in typed.selects) or len(set(names)) < len(names):
        raise refused(pivot, "a pivot of columns that are not known, or of two with one name; write a subquery")
    return typed.selects


def _results(pivot: exp.Pivot, field: exp.In, kind: Kind) -> Iterator[Expr]:
    aggregates = [(one.unalias(), one.alias) for one in pivot.expressions]
    for found, alias in aggregates:
        if not isinstance(found, _AGGREGATES) or (len(aggregates) > 1 and not alias):
            raise refused(pivot, "a pivot by something else than sum, avg, min, max and count, named if there are more")
    all_numbers = all(isinstance(found, _NUMBERS) for found, _ in aggregates)
    if not all_numbers and any(isinstance(found, exp.Count) for found, _ in aggregates):
        raise refused(pivot, "a pivot with a count beside min or max")
    for value in field.expressions:
        literal, name = _value(pivot, value, kind)
        is_value = exp.EQ(this=field.this.copy(), expression=literal)
        for found, alias in aggregates:
            yield exp.alias_(_of_rows(found, is_value), f"{name}_{alias}" if len(aggregates) > 1 else name, quoted=True)


def _value(pivot: exp.Pivot, value: Expr, kind: Kind) -> tuple[Expr, str]:
    """A value, and the name of its columns: without an alias it is the value as text, in the column's type."""
    literal = value.this if isinstance(value, exp.PivotAlias) else value
    number = literal.this if isinstance(literal, exp.Neg) else literal
    if not isinstance(number, exp.Literal):
        raise refused(pivot, "a pivot by values that are not written out")
    if isinstance(value, exp.PivotAlias):
        return literal.copy(), value.args["alias"].name
    is_written = kind is Kind.TEXT if number.is_string else kind is Kind.INTEGER and number.name.isdigit()
    if not is_written:
        raise refused(pivot, f"a value of a {kind.value} has no name; write {literal.sql('spark')} AS name")
    return literal.copy(), literal.sql("spark") if literal is not number else number.name


def _of_rows(aggregate: Expr, is_value: exp.EQ) -> Expr:
    """An aggregate over the rows of a value; NULL where there are none."""
    where = exp.Where(this=is_value.copy())
    made: Expr = exp.Filter(this=aggregate.copy(), expression=where)
    if not isinstance(aggregate, exp.Count):
        return made
    rows = exp.Filter(this=exp.Count(this=exp.Star()), expression=where.copy())
    some = exp.GT(this=rows, expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=some, true=made)])


def _column(one: Expr) -> exp.Column:
    return exp.column(exp.to_identifier(one.alias_or_name, quoted=True))
