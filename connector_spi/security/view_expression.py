"""A row filter or a column mask."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ViewExpression"]


@dataclass(frozen=True, slots=True)
class ViewExpression:
    """An expression over the columns of a table, as they are without masks.

    Attributes:
        expression: Trino's SQL, as in the rules of Trino's file-based access control.
        user: Whom ``current_user`` in it means; ``None`` is who asks.
    """

    expression: str
    user: str | None = None
