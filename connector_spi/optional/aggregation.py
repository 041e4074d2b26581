"""Aggregates that a connector computes in place of the engine. Driver side."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

import pyarrow as pa

from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.serializable import Serializable
from connector_spi.session import ConnectorSession

__all__ = ["AggregateFunction", "AggregateKind", "Aggregation", "AggregationApplication", "SupportsAggregation"]


class AggregateKind(Enum):
    """What is aggregated; NULLs are passed over, except by ``COUNT_ROWS``. ``DISTINCT`` is never offered."""

    COUNT_ROWS = "count(*)"
    COUNT = "count"
    SUM = "sum"
    """Of integers of up to 32 bits, as ``int64``, or of decimals, with ten digits more than the column has."""
    MIN = "min"
    """In the order of domains: NaN is above all numbers, texts are in the order of their UTF-8 bytes."""
    MAX = "max"


@dataclass(frozen=True, slots=True)
class AggregateFunction(Serializable):
    """One aggregate.

    Attributes:
        kind: What is aggregated.
        column: Of which values; ``None`` for ``COUNT_ROWS``.
        type: Arrow type of the result: ``int64`` of counts, the column's of ``MIN`` and ``MAX``.
    """

    kind: AggregateKind
    column: ColumnHandle | None
    type: pa.DataType

    def __str__(self) -> str:
        return self.kind.value if self.column is None else f"{self.kind.value}({self.column.name})"


@dataclass(frozen=True, slots=True)
class Aggregation(Serializable):
    """``SELECT keys, functions FROM table GROUP BY keys``.

    Attributes:
        keys: Whole columns to group by, where NULL is a group of its own; none makes one group of all rows.
        functions: In output order; may be none, where there are keys.
    """

    keys: tuple[ColumnHandle, ...]
    functions: tuple[AggregateFunction, ...]

    def __str__(self) -> str:
        functions = ", ".join(map(str, self.functions)) or "distinct"
        return f"{functions} by {', '.join(key.name for key in self.keys)}" if self.keys else functions


@dataclass(frozen=True, slots=True)
class AggregationApplication:
    """An aggregation that a table took over.

    Attributes:
        table: The handle; its rows are groups now.
        columns: What to read of it: a column for each key, then for each function, in order, of the types that were
            asked. Their names are different, and the connector's to choose.
        complete: Each group comes once; without keys exactly one row comes, also of a table with no rows. Otherwise a
            group may come in several rows, which the engine puts together: counts and sums are added, of ``MIN`` and
            ``MAX`` the least and the greatest is taken, and NULL is nothing.
    """

    table: TableHandle
    columns: tuple[ColumnHandle, ...]
    complete: bool


@runtime_checkable
class SupportsAggregation(Protocol):
    """Metadata whose tables aggregate."""

    def apply_aggregation(
        self, session: ConnectorSession, table: TableHandle, aggregation: Aggregation
    ) -> AggregationApplication | None:
        """Offers an aggregation; ``None`` where the engine has to aggregate.

        Offered only if nothing is left of the filters, so that the handle knows all of them. A connector that only
        prunes by a filter it was given has to decline. It takes what it computes exactly as asked, or nothing.
        """
