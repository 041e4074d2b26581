"""What a column may hold: values, and whether null."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.predicate.value_set import ValueSet
from connector_spi.predicate.values import Value
from connector_spi.serializable import Serializable

__all__ = ["DEFAULT_SIMPLIFY_THRESHOLD", "Domain"]

DEFAULT_SIMPLIFY_THRESHOLD = 32
"""Ranges or values above which ``simplify`` widens a domain, as in Trino (``Domain.DEFAULT_COMPACTION_THRESHOLD``)."""


@dataclass(frozen=True, slots=True)
class Domain(Serializable):
    """The values that a column may hold.

    All operations are exact but ``simplify``, which may add values.

    Attributes:
        values: The values other than null.
        null_allowed: Whether null is one more.
    """

    values: ValueSet
    null_allowed: bool

    def __str__(self) -> str:
        if self.is_only_null:
            return "null"
        return f"{'all' if self.values.is_all else self.values}{' or null' if self.null_allowed else ''}"

    @classmethod
    def create(cls, values: ValueSet, null_allowed: bool) -> Domain:
        """These values, with or without null."""
        return cls(values, null_allowed)

    @classmethod
    def none(cls, data_type: pa.DataType) -> Domain:
        """Nothing, not even null: no row fits."""
        return cls(ValueSet.none(data_type), False)

    @classmethod
    def all(cls, data_type: pa.DataType) -> Domain:
        """Every value and null."""
        return cls(ValueSet.all(data_type), True)

    @classmethod
    def only_null(cls, data_type: pa.DataType) -> Domain:
        """Null alone: ``IS NULL``."""
        return cls(ValueSet.none(data_type), True)

    @classmethod
    def not_null(cls, data_type: pa.DataType) -> Domain:
        """Every value but null: ``IS NOT NULL``."""
        return cls(ValueSet.all(data_type), False)

    @classmethod
    def single_value(cls, data_type: pa.DataType, value: Value) -> Domain:
        """One value, without null: ``= value``."""
        return cls(ValueSet.of(data_type, (value,)), False)

    @classmethod
    def multiple_values(cls, data_type: pa.DataType, values: Iterable[Value]) -> Domain:
        """Some values, without null: ``IN (...)``. No values give ``none``."""
        return cls(ValueSet.of(data_type, values), False)

    @property
    def type(self) -> pa.DataType:
        """Arrow type of the values."""
        return self.values.type

    @property
    def is_none(self) -> bool:
        """Whether nothing is in it, not even null."""
        return not self.null_allowed and self.values.is_none

    @property
    def is_all(self) -> bool:
        """Whether everything is in it, null too."""
        return self.null_allowed and self.values.is_all

    @property
    def is_only_null(self) -> bool:
        """Whether null is in it and nothing else."""
        return self.null_allowed and self.values.is_none

    @property
    def is_single_value(self) -> bool:
        """Whether exactly one value is in it, and not null; the value is ``values.single_value``."""
        return not self.null_allowed and self.values.is_single_value

    def includes_value(self, value: Value | None) -> bool:
        """Whether the value, or null for ``None``, is in it."""
        return self.null_allowed if value is None else self.values.contains_value(value)

    def intersect(self, other: Domain) -> Domain:
        """What is in both."""
        return Domain(self.values.intersect(other.values), self.null_allowed and other.null_allowed)

    def union(self, *others: Domain) -> Domain:
        """What is in any; hand over many at once rather than one after the other."""
        null_allowed = self.null_allowed or any(other.null_allowed for other in others)
        return Domain(self.values.union(*(other.values for other in others)), null_allowed)

    def complement(self) -> Domain:
        """What is not in it. Of ``= 1`` this holds null too, unlike SQL's ``<> 1``."""
        return Domain(self.values.complement(), not self.null_allowed)

    def contains(self, other: Domain) -> bool:
        """Whether everything in ``other`` is in this domain."""
        # The values are asked first, so that different types are always refused; so in overlaps.
        return self.values.contains(other.values) and (self.null_allowed or not other.null_allowed)

    def overlaps(self, other: Domain) -> bool:
        """Whether something, a value or null, is in both."""
        return self.values.overlaps(other.values) or (self.null_allowed and other.null_allowed)

    def simplify(self, threshold: int = DEFAULT_SIMPLIFY_THRESHOLD) -> Domain:
        """This domain, or a simple larger one where it has more than ``threshold`` ranges or values."""
        return Domain(self.values.simplify(threshold), self.null_allowed)
