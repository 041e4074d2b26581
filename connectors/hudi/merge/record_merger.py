"""How the rows of one record key become one: what a merge mode or payload class says, and plugins may. Both sides.

A merger decides about many rows at once, by columns. First the rows of the logs meet, in the order in which they were
written, then what came of them meets the row of the base file, which is older (BufferedRecordMergerFactory).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from connectors.hudi.merge.ordering import OrderingKeys, ordering_keys
from connectors.hudi.merge.partial_updates import UNAVAILABLE, PartialUpdates, ValueTest, value_test

__all__ = ["CombiningMerger", "MergeRules", "RecordMerger"]


@dataclass(frozen=True, slots=True)
class MergeRules:
    """What a table's properties say about merging, for its merger.

    Attributes:
        ordering_fields: Columns of the ordering value; a field may be nested (``a.b``).
        delete_field: Column whose value says that a row is deleted; ``None`` where there is none.
        delete_marker: That value.
        partial_updates: Which columns of the winning row do not count.
        unavailable_value: With ``FILL_UNAVAILABLE``: the text that stands for a value that was not sent.
    """

    ordering_fields: tuple[str, ...] = ()
    delete_field: str | None = None
    delete_marker: str | None = None
    partial_updates: PartialUpdates = PartialUpdates.NONE
    unavailable_value: str = UNAVAILABLE


class RecordMerger(ABC):
    """Merges rows of one key: one row wins, and the other one may fill its columns.

    A delete is a row without values that wins by the same rules.

    Args:
        rules: What the table's properties say.

    Attributes:
        spi_version: As ``connector_spi.ConnectorFactory.spi_version``; each plugin has one.
    """

    spi_version: ClassVar[int]

    def __init__(self, rules: MergeRules) -> None:
        self.rules = rules

    @property
    @abstractmethod
    def ordering_fields(self) -> tuple[str, ...]:
        """Columns whose values decide which row wins: the greater one, of equal ones the row written later.

        Without any, the row written later wins.
        """

    def ordering_keys(self, values: Sequence[pa.Array], where: str) -> OrderingKeys:
        """The values of the ordering fields in a form that compares.

        Args:
            values: One array for each ordering field.
            where: Names the table, for messages.

        Raises:
            NotSupportedError: A type whose order is unknown.
        """
        return ordering_keys(values, where)

    @property
    def value_test(self) -> ValueTest | None:
        """Where the values of a row count; the others are taken from the row that lost. ``None`` where all count."""
        return value_test(self.rules.partial_updates, self.rules.unavailable_value)

    @property
    def later_columns(self) -> frozenset[str]:
        """Columns whose values are those of the row written later, whichever row wins."""
        return frozenset()


class CombiningMerger(RecordMerger):
    """Makes a new row of each two rows of a key. Between a row and a delete, the ordering fields decide."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that ``combine`` needs, whichever a query asks for."""
        return ()

    @abstractmethod
    def combine(self, older: pa.Table, newer: pa.Table) -> pa.Table:
        """Combines rows pair by pair.

        Args:
            older: Rows with the columns of the query and those of ``columns``.
            newer: As many rows of the same keys, written later; of the same schema.

        Returns:
            The combined rows, of the same schema and in the same order.
        """
