"""Functions that give rows of several columns, such as ``explode(m) AS (k, v)``, as a result for each column."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.refusal import refused

__all__ = ["GENERATORS", "PART", "generators_of", "split_generators"]

GENERATORS = (exp.Explode, exp.Inline)
"""Classes of these functions."""
PART = "lakeport_part"
"""What a function is marked by that stands for one of its columns: its position, and the number of all."""


def split_generators(tree: Expr) -> None:
    """Writes each column of a function as a result of its own; changes the statement.

    Raises:
        NotSupportedError: Several names of a result that is one column.
    """
    for several in list(tree.find_all(exp.Aliases)):
        select, function, names = several.parent, several.this, several.expressions
        if not isinstance(select, exp.Select) or not isinstance(function, GENERATORS):
            raise refused(several, "several names of one result")
        made = []
        for position, name in enumerate(names):
            part = function.copy()
            part.meta[PART] = (position, len(names))
            made.append(exp.alias_(part, name.copy()))
        results = select.expressions
        at = next(number for number, one in enumerate(results) if one is several)
        select.set("expressions", [*results[:at], *made, *results[at + 1 :]])


def generators_of(select: exp.Select) -> int:
    """How many functions that give rows are among the results of a query, without those of its subqueries."""
    found = [node for one in select.expressions for node in one.find_all(*GENERATORS, exp.Unnest)]
    return sum(1 for node in found if node.parent_select is select and node.meta.get(PART, (0, 1))[0] == 0)
