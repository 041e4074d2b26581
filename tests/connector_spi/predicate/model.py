"""A brute-force model: every type has a short list of values in their order, and a set is a set of places in it.

Between two bounds, below the lowest and above the highest there is always a value to probe wherever the type has one,
so two sets with the same probes in them are the same set.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

from connector_spi.predicate import Domain, Range, Value, ValueSet

Places = frozenset[int]


@dataclass(frozen=True)
class Universe:
    """Values of a type in ascending order, and the places of those that serve as bounds."""

    name: str
    type: pa.DataType
    values: tuple[Value, ...]
    bounds: tuple[int, ...]
    ordered: bool = True

    @property
    def everything(self) -> Places:
        return frozenset(range(len(self.values)))

    def members(self, contains: Callable[[Value], bool]) -> Places:
        return frozenset(place for place, value in enumerate(self.values) if contains(value))


@dataclass(frozen=True)
class RangeModel:
    """Bounds by place."""

    universe: Universe
    low: int | None
    low_inclusive: bool
    high: int | None
    high_inclusive: bool

    @property
    def range(self) -> Range:
        low = None if self.low is None else self.universe.values[self.low]
        high = None if self.high is None else self.universe.values[self.high]
        return Range(self.universe.type, low, self.low_inclusive, high, self.high_inclusive)

    @property
    def places(self) -> Places:
        return frozenset(
            place for place in self.universe.everything if self._above_low(place) and self._below_high(place)
        )

    def _above_low(self, place: int) -> bool:
        return self.low is None or place > self.low or (place == self.low and self.low_inclusive)

    def _below_high(self, place: int) -> bool:
        return self.high is None or place < self.high or (place == self.high and self.high_inclusive)


def _every_other(name: str, data_type: pa.DataType, *values: Value) -> Universe:
    # A bound at the end would have nothing beyond it here, though the type has.
    assert len(values) % 2 == 1
    return Universe(name, data_type, values, tuple(range(1, len(values), 2)))


_FLOATS = (-math.inf, -5.5, -1.5, -0.25, 0.0, 0.5, 2.0, 60000.0, math.inf, math.nan)
_FLOAT_BOUNDS = (0, 2, 4, 6, 8, 9)
_UTC = [datetime(2024, 1, day, 12, 30, microsecond=day, tzinfo=UTC) for day in range(1, 8)]

ORDERED = (
    _every_other("int8", pa.int8(), *range(9)),
    _every_other("int64", pa.int64(), -(2**63), -5, -1, 0, 1, 2, 2**63 - 1),
    Universe("float64", pa.float64(), _FLOATS, _FLOAT_BOUNDS),
    Universe("float32", pa.float32(), _FLOATS, _FLOAT_BOUNDS),
    Universe("float16", pa.float16(), _FLOATS, _FLOAT_BOUNDS),
    Universe("bool", pa.bool_(), (False, True), (0, 1)),
    # By code point, which is the order of UTF-8 bytes too; by UTF-16 units the last two would change places.
    _every_other("string", pa.string(), "", "B", "a", "a\0", "aa", "b", "é", "\uffee", "\U0001f600"),
    _every_other("binary", pa.binary(), b"", b"\0", b"\0\0", b"\x01", b"a", b"\x7f", b"\x80", b"\xff", b"\xff\xff"),
    _every_other("decimal", pa.decimal128(10, 2), *map(Decimal, ["-9.5", "-1.10", "0", "0.01", "1", "10", "99.99"])),
    _every_other("date", pa.date32(), *(date(2000 + year, 2, 28) for year in (-1999, -40, -30, 0, 10, 24, 7999))),
    _every_other("timestamp", pa.timestamp("us"), *(value.replace(tzinfo=None) for value in _UTC)),
    _every_other("timestamp UTC", pa.timestamp("us", "UTC"), *_UTC),
    _every_other("time", pa.time64("us"), *(time(hour, 1, 2, hour) for hour in (0, 1, 2, 11, 12, 22, 23))),
    _every_other("dictionary", pa.dictionary(pa.int32(), pa.string()), "a", "b", "c", "d", "e"),
)
UUIDS = Universe("uuid", pa.uuid(), tuple(uuid.UUID(int=n).bytes for n in (0, 1, 2, 1 << 127)), (0, 1, 2), False)
OPAQUE = Universe("list", pa.list_(pa.int32()), (), (), False)
universes = st.sampled_from((*ORDERED, UUIDS))
ordered_universes = st.sampled_from(ORDERED)


@st.composite
def ranges(draw: st.DrawFn, universe: Universe) -> RangeModel:
    ends = st.one_of(st.none(), st.sampled_from(universe.bounds))
    low, high = draw(ends), draw(ends)
    if low is not None and high is not None and low > high:
        low, high = high, low
    same = low is not None and low == high
    return RangeModel(universe, low, same or draw(st.booleans()), high, same or draw(st.booleans()))


@st.composite
def value_sets(draw: st.DrawFn, universe: Universe) -> tuple[ValueSet, Places]:
    """A set made of values, ranges and their complements, with the places that it should hold."""
    places = draw(st.frozensets(st.sampled_from(universe.bounds), max_size=5))
    result = ValueSet.of(universe.type, [universe.values[place] for place in places])
    if universe.ordered:
        models = draw(st.lists(ranges(universe), max_size=3))
        result = result.union(ValueSet.of_ranges(universe.type, [model.range for model in models]))
        places = places.union(*(model.places for model in models))
    if draw(st.booleans()):
        return result.complement(), universe.everything - places
    return result, places


@st.composite
def domains(draw: st.DrawFn, universe: Universe) -> tuple[Domain, frozenset[int | None]]:
    """A domain, and its places, with ``None`` for null."""
    values, places = draw(value_sets(universe))
    null_allowed = draw(st.booleans())
    return Domain.create(values, null_allowed), places | ({None} if null_allowed else set())
