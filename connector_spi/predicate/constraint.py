"""What a query asks of a table's rows."""

from __future__ import annotations

from dataclasses import dataclass

from connector_spi.handles import ColumnHandle
from connector_spi.predicate.expression import ConnectorExpression
from connector_spi.predicate.tuple_domain import TupleDomain
from connector_spi.serializable import Serializable

__all__ = ["Constraint"]


@dataclass(frozen=True, slots=True)
class Constraint(Serializable):
    """The filter of a query, as far as it can be said.

    Attributes:
        summary: What every row of the result fits.
        remaining: Conditions that domains cannot express, as SQL text, only for people to read in ``EXPLAIN``.
        expressions: Those of them that can be said as expressions: every row of the result fits each.
    """

    summary: TupleDomain[ColumnHandle]
    remaining: tuple[str, ...] = ()
    expressions: tuple[ConnectorExpression, ...] = ()

    @classmethod
    def always_true(cls) -> Constraint:
        """Asks nothing."""
        return cls(TupleDomain.all())
