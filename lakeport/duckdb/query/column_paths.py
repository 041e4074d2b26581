"""Columns and fields of structs as queries name them, with as many parts as Spark allows."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.refusal import refused

__all__ = ["resolve_paths"]

_MOST_QUALIFIERS = 3


def resolve_paths(statement: Expr) -> None:
    """Writes columns as ``table.column`` and fields of structs as what is below a column.

    A part that names a table of the statement is the end of a qualifier; without one, the first part is a column.

    Raises:
        NotSupportedError: More than one part names a table.
    """
    aliases = {one.alias_or_name.lower() for one in statement.find_all(exp.Table)}
    aliases.update(one.name.lower() for one in statement.find_all(exp.TableAlias))
    for column in list(statement.find_all(exp.Column)):
        parts = column.parts
        ends = [at for at, one in enumerate(parts[:-1][:_MOST_QUALIFIERS]) if one.name.lower() in aliases]
        if len(ends) > 1:
            raise refused(column, "more than one part of the name may be the table; give tables other aliases")
        if isinstance(column.this, exp.Star) or len(parts) == 1:
            continue
        first = ends[0] + 1 if ends else 0
        found: Expr = exp.Column(this=parts[first], table=parts[ends[0]] if ends else None)
        for one in parts[first + 1 :]:
            found = exp.Dot(this=found, expression=one)
        column.replace(found)
