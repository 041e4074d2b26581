"""What aggregates of several kinds have in common."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import Kind, kind_of
from lakeport.duckdb.refusal import refused

__all__ = ["ORDERED", "aggregated", "check_kind"]

ORDERED = frozenset(kind for kind in Kind if kind not in (Kind.OTHER, Kind.NULL))
"""Kinds of values that both engines put in one order."""


def check_kind(kinds: frozenset[Kind]) -> Callable[[Expr], None]:
    """Refuses an aggregate of values of other kinds."""

    def check(node: Expr) -> None:
        found = kind_of(aggregated(node))
        if found not in kinds:
            raise refused(node, f"of {found.value} it is not known to give the same in both engines")

    return check


def aggregated(node: Expr) -> Expr:
    """What an aggregate is of, less the ``DISTINCT``."""
    inner: Expr = node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this
    return inner
