"""Sets of values that have no order: comparable only, or not even that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from connector_spi.predicate.value_set import SHOWN, ValueSet, listing, require_same_type
from connector_spi.predicate.values import Comparability, Value, normalize

__all__ = ["AllOrNoneValueSet", "EquatableValueSet"]


@dataclass(frozen=True, slots=True)
class EquatableValueSet(ValueSet):
    """A set of a type that is comparable and not orderable: some values, or all but some.

    Attributes:
        type: Arrow type of the values.
        inclusive: Whether ``values`` are those in the set, or those not in it.
        values: The values.
    """

    comparability: ClassVar[Comparability] = Comparability.COMPARABLE

    type: pa.DataType
    inclusive: bool
    values: frozenset[Value]

    @classmethod
    def all(cls, data_type: pa.DataType) -> ValueSet:
        """Every value."""
        return cls(data_type, False, frozenset())

    @classmethod
    def of(cls, data_type: pa.DataType, values: Iterable[Value]) -> ValueSet:
        """Exactly these values."""
        return cls(data_type, True, frozenset(normalize(data_type, value) for value in values))

    def __str__(self) -> str:
        shown = listing([repr(value) for value in sorted(self.values, key=repr)[:SHOWN]], len(self.values))
        return shown if self.inclusive else f"not {shown}"

    @property
    def is_none(self) -> bool:
        """Whether no value is in it."""
        return self.inclusive and not self.values

    @property
    def is_all(self) -> bool:
        """Whether every value is in it."""
        return not self.inclusive and not self.values

    def contains_value(self, value: Value) -> bool:
        """Whether the value is in the set."""
        return (normalize(self.type, value) in self.values) == self.inclusive

    def intersect(self, other: ValueSet) -> ValueSet:
        """The values in both."""
        return self.complement().union(require_same_type(self, other).complement()).complement()

    def union(self, *others: ValueSet) -> ValueSet:
        """The values in any."""
        sets = (self, *(require_same_type(self, other) for other in others))
        listed = frozenset[Value]().union(*(item.values for item in sets if item.inclusive))
        excluded = [item.values for item in sets if not item.inclusive]
        if not excluded:
            return EquatableValueSet(self.type, True, listed)
        return EquatableValueSet(self.type, False, frozenset.intersection(*excluded) - listed)

    def complement(self) -> EquatableValueSet:
        """The values not in it."""
        return EquatableValueSet(self.type, not self.inclusive, self.values)

    def discrete_values(self) -> tuple[Value, ...] | None:
        """All values, or ``None`` where the set is all but some."""
        return tuple(sorted(self.values, key=repr)) if self.inclusive else None

    def simplify(self, threshold: int) -> ValueSet:
        """This set, or all."""
        return self if len(self.values) <= threshold else EquatableValueSet(self.type, False, frozenset())


@dataclass(frozen=True, slots=True)
class AllOrNoneValueSet(ValueSet):
    """A set of a type whose values do not compare.

    Attributes:
        type: Arrow type of the values.
        everything: Whether it holds every value, or none.
    """

    comparability: ClassVar[Comparability] = Comparability.NEITHER

    type: pa.DataType
    everything: bool

    @classmethod
    def all(cls, data_type: pa.DataType) -> ValueSet:
        """Every value."""
        return cls(data_type, True)

    @classmethod
    def of(cls, data_type: pa.DataType, values: Iterable[Value]) -> ValueSet:
        """None, where no value is given; the type's values do not compare, so any is refused."""
        for value in values:
            normalize(data_type, value)
        return cls(data_type, False)

    def __str__(self) -> str:
        return "all" if self.everything else "none"

    @property
    def is_none(self) -> bool:
        """Whether no value is in it."""
        return not self.everything

    @property
    def is_all(self) -> bool:
        """Whether every value is in it."""
        return self.everything

    def contains_value(self, value: Value) -> bool:
        """Whether the value is in the set."""
        return self.everything

    def intersect(self, other: ValueSet) -> ValueSet:
        """The values in both."""
        return AllOrNoneValueSet(self.type, require_same_type(self, other).everything and self.everything)

    def union(self, *others: ValueSet) -> ValueSet:
        """The values in any."""
        sets = [self, *(require_same_type(self, other) for other in others)]
        return AllOrNoneValueSet(self.type, any(item.everything for item in sets))

    def complement(self) -> ValueSet:
        """The values not in it."""
        return AllOrNoneValueSet(self.type, not self.everything)

    def simplify(self, threshold: int) -> ValueSet:
        """This set."""
        return self
