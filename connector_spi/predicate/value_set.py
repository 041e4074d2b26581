"""Sets of values of one type, without null."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar, TypeVar

import pyarrow as pa

from connector_spi.errors import InternalError, InvalidArgumentError
from connector_spi.predicate.cuts import Cut
from connector_spi.predicate.range import Range
from connector_spi.predicate.values import Comparability, Value, comparability
from connector_spi.serializable import Serializable

__all__ = ["SHOWN", "ValueSet", "listing", "require_same_type"]

SHOWN = 10
"""How many values or ranges of a set are written for people."""

SetT = TypeVar("SetT", bound="ValueSet")

_IMPLEMENTATIONS: dict[Comparability, type[ValueSet]] = {}


class ValueSet(Serializable, ABC):
    """Values of one type; null is a matter of Domain.

    Made by ``none``, ``all``, ``of`` and ``of_ranges``, which choose the class by the type's comparability. All
    operations are exact but ``simplify``, which may add values, and refuse a set of another type.
    """

    __slots__ = ()

    type: pa.DataType
    comparability: ClassVar[Comparability]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        _IMPLEMENTATIONS[cls.comparability] = cls

    @classmethod
    def none(cls, data_type: pa.DataType) -> ValueSet:
        """No value."""
        return cls.all(data_type).complement()

    @classmethod
    def all(cls, data_type: pa.DataType) -> ValueSet:
        """Every value."""
        return _IMPLEMENTATIONS[comparability(data_type)].all(data_type)

    @classmethod
    def of(cls, data_type: pa.DataType, values: Iterable[Value]) -> ValueSet:
        """Exactly these values, in any order.

        Raises:
            InvalidArgumentError: A value is not of the type, is null, or values of the type do not compare.
        """
        return _IMPLEMENTATIONS[comparability(data_type)].of(data_type, values)

    @classmethod
    def of_ranges(cls, data_type: pa.DataType, ranges: Iterable[Range]) -> ValueSet:
        """The values in any of these ranges.

        Raises:
            InvalidArgumentError: A range is of another type.
        """
        pairs = []
        for item in ranges:
            if item.type != data_type:
                raise InvalidArgumentError(f"a range of {item.type} cannot be in a set of {data_type}")
            pairs.append(item.cut_pair)
        return _IMPLEMENTATIONS[comparability(data_type)]._of_cut_pairs(data_type, pairs)

    @property
    @abstractmethod
    def is_none(self) -> bool:
        """Whether no value is in it."""

    @property
    @abstractmethod
    def is_all(self) -> bool:
        """Whether every value is in it."""

    @property
    def is_single_value(self) -> bool:
        """Whether exactly one value is in it."""
        values = self.discrete_values()
        return values is not None and len(values) == 1

    @property
    def single_value(self) -> Value:
        """The only value.

        Raises:
            InternalError: There may be several, or none.
        """
        values = self.discrete_values()
        if values is None or len(values) != 1:
            raise InternalError(f"the set {self} is not a single value; ask is_single_value first")
        return values[0]

    @abstractmethod
    def contains_value(self, value: Value) -> bool:
        """Whether the value is in the set."""

    @abstractmethod
    def intersect(self, other: ValueSet) -> ValueSet:
        """The values in both."""

    @abstractmethod
    def union(self, *others: ValueSet) -> ValueSet:
        """The values in any; many at once cost no more than their number of ranges, sorted."""

    @abstractmethod
    def complement(self) -> ValueSet:
        """The values not in it."""

    def contains(self, other: ValueSet) -> bool:
        """Whether every value of ``other`` is in this set."""
        return other.intersect(self.complement()).is_none

    def overlaps(self, other: ValueSet) -> bool:
        """Whether some value is in both."""
        return not self.intersect(other).is_none

    def ranges(self) -> tuple[Range, ...] | None:
        """The set as disjoint ranges in order; ``None`` where the type has no order."""
        return None

    def discrete_values(self) -> tuple[Value, ...] | None:
        """All values, in order where there is one; ``None`` where they cannot be listed one by one."""
        return None

    @abstractmethod
    def simplify(self, threshold: int) -> ValueSet:
        """This set, or a simple larger one where it has more than ``threshold`` ranges or values."""

    @classmethod
    def _of_cut_pairs(cls, data_type: pa.DataType, pairs: list[tuple[Cut, Cut]]) -> ValueSet:
        # A Range has an orderable type, so here the list is empty.
        return cls.none(data_type)


def require_same_type(this: SetT, other: ValueSet) -> SetT:
    """Returns ``other`` as a set of the class of ``this``.

    Raises:
        InvalidArgumentError: The types differ.
    """
    if not isinstance(other, type(this)) or this.type != other.type:
        raise InvalidArgumentError(f"a set of {this.type} cannot be combined with one of {other.type}")
    return other


def listing(items: list[str], count: int) -> str:
    """Writes the first items of a set of ``count`` for people."""
    return "{" + ", ".join(items) + (f", ... {count} in all" if count > len(items) else "") + "}"
