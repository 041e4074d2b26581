"""What a rule is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot.expressions import Expr

__all__ = ["Rule", "Rules"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for a kind of expression.

    Attributes:
        check: Refuses what may mean something else in DuckDB, and gives the expression Spark's type. The parts of the
            expression were checked before.
        rewrite: The same for DuckDB, of an expression whose parts were rewritten before, which may become a part of
            the result; ``None`` leaves it as it is.
    """

    check: Callable[[Expr], None]
    rewrite: Callable[[Expr], Expr] | None = None


Rules: TypeAlias = Mapping[type[Expr], Rule]
"""Rules by the kind of expression."""
