"""Joins by columns of one name, and joins behind a comma."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.rules import UntranslatableError

__all__ = ["NamedJoin", "check_joins", "named_joins"]

_OUTER = ("RIGHT", "FULL")


@dataclass(frozen=True, slots=True)
class NamedJoin:
    """A join with ``USING``, or a natural one, as it was written.

    Attributes:
        join: The join.
        using: Its columns; none where it is a natural one.
        method: ``NATURAL``, or nothing.
    """

    join: exp.Join
    using: tuple[Expr, ...]
    method: str

    def restore(self) -> None:
        """Takes the condition back that sqlglot made of it: with one a star would show the columns twice."""
        self.join.set("on", None)
        self.join.set("using", list(self.using) or None)
        self.join.set("method", self.method or None)


def named_joins(query: Expr) -> list[NamedJoin]:
    """The joins by columns of one name. Spark has them, too, with the same columns in the same order."""
    return [
        NamedJoin(join, tuple(one.copy() for one in join.args.get("using") or []), join.method)
        for join in query.find_all(exp.Join)
        if join.args.get("using") or join.method
    ]


def check_joins(query: Expr) -> None:
    """Refuses joins that Spark reads in another way.

    Raises:
        UntranslatableError: One stands behind a comma and takes what is before it in Spark, but not in Trino; or all
            columns of one of two tables are asked for that are joined by name.
    """
    for select in query.find_all(exp.Select):
        has_comma = False
        for join in select.args.get("joins") or []:
            if has_comma and (join.side in _OUTER or join.args.get("using") or join.method):
                raise UntranslatableError(
                    join,
                    "behind a comma Spark joins all that stands before it, and Trino only the table behind the comma",
                    "put what is before the comma behind it, with CROSS JOIN",
                )
            has_comma = has_comma or not any(value for key, value in join.args.items() if key != "this")
    for named in named_joins(query):
        within = named.join.find_ancestor(exp.Select)
        for one in within.expressions if within is not None else []:
            if isinstance(one, exp.Column) and one.is_star:
                raise UntranslatableError(
                    one, "Trino leaves out the columns that tables are joined by (USING), and Spark does not", "write *"
                )
