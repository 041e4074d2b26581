"""The type of translation rules, and the error of parts that cannot be translated."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot.expressions import Expr

__all__ = ["Rule", "UntranslatableError"]

Rule = Callable[[Expr], Expr | None]
"""Returns the node's replacement, or ``None`` to keep it; raises UntranslatableError where there is none."""


class UntranslatableError(Exception):
    """A part of a query has no translation that surely means the same in Spark.

    Args:
        node: The part.
        why: The difference.
        instead: What the user can write instead; may be empty.
    """

    def __init__(self, node: Expr, why: str, instead: str) -> None:
        super().__init__(why)
        self.node = node
        self.why = why
        self.instead = instead
