"""How one kind of part of a query in Trino's SQL is translated."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot.expressions import Expr

__all__ = ["Rule", "UntranslatableError"]

Rule = Callable[[Expr], Expr | None]
"""Gives what stands in the node's place, ``None`` where it stays; raises UntranslatableError where nothing can."""


class UntranslatableError(Exception):
    """A part that may mean something else in Spark.

    Args:
        node: The part.
        why: What is different.
        instead: What the user can write; may be empty.
    """

    def __init__(self, node: Expr, why: str, instead: str) -> None:
        super().__init__(why)
        self.node = node
        self.why = why
        self.instead = instead
