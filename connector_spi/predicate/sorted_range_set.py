"""Sets of values that have an order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from connector_spi.predicate import cuts
from connector_spi.predicate.range import Range
from connector_spi.predicate.value_set import SHOWN, ValueSet, listing, require_same_type
from connector_spi.predicate.values import Comparability, Value, normalize

__all__ = ["SortedRangeSet"]


@dataclass(frozen=True, slots=True)
class SortedRangeSet(ValueSet):
    """A set of an orderable type: disjoint ranges in order.

    Attributes:
        type: Arrow type of the values.
        boundaries: Where the ranges begin and end, in turn; see ``connector_spi.predicate.cuts``.
    """

    comparability: ClassVar[Comparability] = Comparability.ORDERABLE

    type: pa.DataType
    boundaries: cuts.Cuts

    @classmethod
    def all(cls, data_type: pa.DataType) -> ValueSet:
        """Every value."""
        return cls(data_type, (cuts.BELOW_ALL, cuts.ABOVE_ALL))

    @classmethod
    def of(cls, data_type: pa.DataType, values: Iterable[Value]) -> ValueSet:
        """Exactly these values, in any order."""
        distinct = {normalize(data_type, value) for value in values}
        return cls(data_type, cuts.merge((cuts.before(value), cuts.after(value)) for value in distinct))

    def __str__(self) -> str:
        return listing([str(item) for item in self._ranges(SHOWN)], len(self.boundaries) // 2)

    @property
    def is_none(self) -> bool:
        """Whether no value is in it."""
        return not self.boundaries

    @property
    def is_all(self) -> bool:
        """Whether every value is in it."""
        return self.boundaries == (cuts.BELOW_ALL, cuts.ABOVE_ALL)

    def contains_value(self, value: Value) -> bool:
        """Whether the value is in the set."""
        return cuts.contains_value(self.boundaries, normalize(self.type, value))

    def intersect(self, other: ValueSet) -> ValueSet:
        """The values in both."""
        return SortedRangeSet(self.type, cuts.intersect(self.boundaries, require_same_type(self, other).boundaries))

    def union(self, *others: ValueSet) -> ValueSet:
        """The values in any."""
        sets = (self, *(require_same_type(self, other) for other in others))
        return SortedRangeSet(self.type, cuts.merge(piece for item in sets for piece in cuts.pairs(item.boundaries)))

    def complement(self) -> ValueSet:
        """The values not in it."""
        return SortedRangeSet(self.type, cuts.complement(self.boundaries))

    def contains(self, other: ValueSet) -> bool:
        """Whether every value of ``other`` is in this set."""
        return cuts.contains(self.boundaries, require_same_type(self, other).boundaries)

    def overlaps(self, other: ValueSet) -> bool:
        """Whether some value is in both."""
        return cuts.overlaps(self.boundaries, require_same_type(self, other).boundaries)

    def ranges(self) -> tuple[Range, ...]:
        """The disjoint ranges, in order."""
        return self._ranges(len(self.boundaries))

    def discrete_values(self) -> tuple[Value, ...] | None:
        """All values in order, or ``None`` where a range may hold several."""
        values: list[Value] = []
        for low, high in cuts.pairs(self.boundaries):
            value = cuts.only_value(low, high)
            if value is None:
                return None
            values.append(value)
        return tuple(values)

    def simplify(self, threshold: int) -> ValueSet:
        """This set, or the one range that spans it."""
        if len(self.boundaries) // 2 <= threshold:
            return self
        return SortedRangeSet(self.type, (self.boundaries[0], self.boundaries[-1]))

    def _ranges(self, limit: int) -> tuple[Range, ...]:
        pieces = cuts.pairs(self.boundaries[: 2 * limit])
        return tuple(Range(self.type, *cuts.bounds(low, high)) for low, high in pieces)

    @classmethod
    def _of_cut_pairs(cls, data_type: pa.DataType, pairs: list[tuple[cuts.Cut, cuts.Cut]]) -> ValueSet:
        return cls(data_type, cuts.merge(pairs))
