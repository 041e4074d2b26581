"""A range of ordered values."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import InternalError, InvalidArgumentError
from connector_spi.predicate import cuts
from connector_spi.predicate.values import Comparability, Value, comparability, normalize
from connector_spi.serializable import Serializable

__all__ = ["Range"]


@dataclass(frozen=True, slots=True)
class Range(Serializable):
    """The values from ``low`` to ``high`` of an orderable type.

    Floats follow Spark: NaN is equal to itself and above every number, and -0.0 is 0.0. So a range that is unbounded
    above holds NaN, and one that ends at infinity does not. A bound may be given as NaN, but is kept as NaN only in
    the range of the single value NaN.

    Attributes:
        type: Arrow type of the values.
        low: Lowest value; ``None`` is unbounded.
        low_inclusive: Whether ``low`` is in the range.
        high: Highest value; ``None`` is unbounded.
        high_inclusive: Whether ``high`` is in the range.

    Raises:
        InvalidArgumentError: ``low`` is above ``high``, they are equal and not both in the range, a bound is not of
            the type, or the type is not orderable.
    """

    type: pa.DataType
    low: Value | None
    low_inclusive: bool
    high: Value | None
    high_inclusive: bool

    def __post_init__(self) -> None:
        if comparability(self.type) is not Comparability.ORDERABLE:
            raise InvalidArgumentError(f"the type {self.type} has no order, so it has no ranges")
        low = None if self.low is None else normalize(self.type, self.low)
        high = None if self.high is None else normalize(self.type, self.high)
        canonical = (low, low is not None and self.low_inclusive, high, high is not None and self.high_inclusive)
        low_cut, high_cut = _cuts(*canonical)
        if low_cut < high_cut:
            canonical = cuts.bounds(low_cut, high_cut)
        elif low is not None and high is not None and not (low_cut == high_cut and low != high):
            raise InvalidArgumentError(
                f"a range of {self.type} from {low!r:.80} to {high!r:.80} holds no value: "
                "expected the low bound below the high one, or both equal and inclusive"
            )
        for name, value in zip(("low", "low_inclusive", "high", "high_inclusive"), canonical, strict=True):
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        # Not field by field, since NaN is not equal to itself in Python.
        if not isinstance(other, Range):
            return NotImplemented
        return bool(self.type == other.type) and self.cut_pair == other.cut_pair

    def __hash__(self) -> int:
        return hash((self.type, self.cut_pair))

    def __str__(self) -> str:
        if self.is_single_value:
            return repr(self.low)
        low = "(-inf" if self.low is None else f"{'[' if self.low_inclusive else '('}{self.low!r}"
        high = "+inf)" if self.high is None else f"{self.high!r}{']' if self.high_inclusive else ')'}"
        return f"{low}, {high}"

    @classmethod
    def all(cls, data_type: pa.DataType) -> Range:
        """Every value but null."""
        return cls(data_type, None, False, None, False)

    @classmethod
    def equal(cls, data_type: pa.DataType, value: Value) -> Range:
        """The value alone."""
        return cls(data_type, value, True, value, True)

    @classmethod
    def greater_than(cls, data_type: pa.DataType, value: Value) -> Range:
        """Above the value; empty for NaN and for true."""
        return cls(data_type, value, False, None, False)

    @classmethod
    def greater_or_equal(cls, data_type: pa.DataType, value: Value) -> Range:
        """The value and above."""
        return cls(data_type, value, True, None, False)

    @classmethod
    def less_than(cls, data_type: pa.DataType, value: Value) -> Range:
        """Below the value; empty for -infinity and for false."""
        return cls(data_type, None, False, value, False)

    @classmethod
    def less_or_equal(cls, data_type: pa.DataType, value: Value) -> Range:
        """The value and below."""
        return cls(data_type, None, False, value, True)

    @classmethod
    def between(
        cls, data_type: pa.DataType, low: Value, low_inclusive: bool, high: Value, high_inclusive: bool
    ) -> Range:
        """From ``low`` to ``high``."""
        return cls(data_type, low, low_inclusive, high, high_inclusive)

    @property
    def cut_pair(self) -> tuple[cuts.Cut, cuts.Cut]:
        """The places where the range begins and ends; equal for ranges of equal values."""
        return _cuts(self.low, self.low_inclusive, self.high, self.high_inclusive)

    @property
    def is_all(self) -> bool:
        """Whether every value is in it."""
        return self.cut_pair == (cuts.BELOW_ALL, cuts.ABOVE_ALL)

    @property
    def is_empty(self) -> bool:
        """Whether no value is in it: above NaN or true, below -infinity or false."""
        low, high = self.cut_pair
        return not low < high

    @property
    def is_single_value(self) -> bool:
        """Whether exactly one value is in it."""
        return cuts.only_value(*self.cut_pair) is not None

    @property
    def single_value(self) -> Value:
        """The only value.

        Raises:
            InternalError: There may be several, or none.
        """
        value = cuts.only_value(*self.cut_pair)
        if value is None:
            raise InternalError(f"the range {self} is not a single value; ask is_single_value first")
        return value

    def contains_value(self, value: Value) -> bool:
        """Whether the value is in the range."""
        return cuts.contains_value(self.cut_pair, normalize(self.type, value))

    def contains(self, other: Range) -> bool:
        """Whether every value of ``other`` is in this range."""
        self._check_same_type(other)
        return other.is_empty or (not self.is_empty and cuts.contains(self.cut_pair, other.cut_pair))

    def overlaps(self, other: Range) -> bool:
        """Whether some value is in both."""
        return self.intersect(other) is not None

    def intersect(self, other: Range) -> Range | None:
        """The values in both, or ``None`` where there are none."""
        self._check_same_type(other)
        (low, high), (other_low, other_high) = self.cut_pair, other.cut_pair
        low, high = max(low, other_low), min(high, other_high)
        return Range(self.type, *cuts.bounds(low, high)) if low < high else None

    def span(self, other: Range) -> Range:
        """The smallest range that holds both."""
        self._check_same_type(other)
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        (low, high), (other_low, other_high) = self.cut_pair, other.cut_pair
        return Range(self.type, *cuts.bounds(min(low, other_low), max(high, other_high)))

    def _check_same_type(self, other: Range) -> None:
        if self.type != other.type:
            raise InvalidArgumentError(f"a range of {self.type} cannot be combined with one of {other.type}")


def _cuts(
    low: Value | None, low_inclusive: bool, high: Value | None, high_inclusive: bool
) -> tuple[cuts.Cut, cuts.Cut]:
    low_cut = cuts.BELOW_ALL if low is None else cuts.before(low) if low_inclusive else cuts.after(low)
    high_cut = cuts.ABOVE_ALL if high is None else cuts.after(high) if high_inclusive else cuts.before(high)
    return low_cut, high_cut
