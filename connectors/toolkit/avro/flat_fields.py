"""Fields of Avro records that are single values, of many records at once. Executor side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.toolkit.avro.schema import Json, is_simple_union, is_wide_union, union_branch
from connectors.toolkit.avro.values import restore
from connectors.toolkit.avro.wire_bytes import Positions, UnusualError, WireBytes, unzigzag_all

__all__ = ["FlatField", "flat_field"]

Mask = npt.NDArray[np.bool_]

_INT = np.iinfo(np.int32)
_WORD_BITS = 64
# A text of at most so many bytes stands in its view.
_INLINE = 12
# For each of the three words of a view's own bytes, by the length of the text: which bits are the text's.
_INLINE_BITS = np.array(
    [[(1 << 8 * min(max(length - 4 * word, 0), 4)) - 1 for length in range(_INLINE + 1)] for word in range(3)],
    dtype=np.uint32,
)
_MOST_BYTES = np.iinfo(np.int32).max


class FlatField:
    """A field.

    Args:
        node: Its Avro type.
        values: Reads its values where they are not null.
    """

    def __init__(self, node: Json, values: _Values) -> None:
        self._node = node
        self._values = values
        # The number of a branch stands as twice of it.
        self._null: int | None = None
        if is_simple_union(node):
            self._null = 0 if cast("list[Json]", node)[0] == "null" else 2

    def skip(self, wire: WireBytes, at: Positions) -> Positions:
        """The positions behind the field."""
        at, present = self._present(wire, at)
        if present is None:
            return self._values.skip(wire, at)
        at[present] = self._values.skip(wire, at[present])
        return at

    def read(self, wire: WireBytes, at: Positions, target: pa.DataType) -> tuple[pa.Array, Positions]:
        """The field of each record in the Arrow type that stands for it, and the positions behind it."""
        at, present = self._present(wire, at)
        if present is None:
            values, ends = self._values.read(wire, at, target)
            return self._restored(values, target), ends
        values, at[present] = self._values.read(wire, at[present], target)
        if not len(values):
            return pa.nulls(len(at), target), at
        numbers = pa.array(np.cumsum(present) - 1, mask=~present)
        return self._restored(values, target).take(numbers), at

    def _restored(self, values: pa.Array, target: pa.DataType) -> pa.Array:
        return values if values.type == target else restore(values, self._node, target)

    def _present(self, wire: WireBytes, at: Positions) -> tuple[Positions, Mask | None]:
        """The positions of the values, and which records have one; ``None`` for all."""
        if self._null is None:
            return at, None
        branches = wire.bytes_at(at)
        present = branches == 2 - self._null
        if present.all():
            return at + 1, None
        if (branches[~present] != self._null).any():
            raise UnusualError
        return at + 1, present


def flat_field(node: Json) -> FlatField | None:
    """Reads a field of a type; ``None`` for a type whose values are made of others, or of no byte."""
    branch = union_branch(node)
    if is_wide_union(node):
        return None
    if isinstance(branch, dict) and branch["type"] == "fixed":
        return FlatField(node, _Fixed(cast(int, branch["size"])))
    make = _VALUES.get(str(branch["type"] if isinstance(branch, dict) else branch))
    return None if make is None else FlatField(node, make())


class _Values(ABC):
    """Values of a type."""

    @abstractmethod
    def skip(self, wire: WireBytes, at: Positions) -> Positions:
        """The positions behind the values."""

    @abstractmethod
    def read(self, wire: WireBytes, at: Positions, target: pa.DataType) -> tuple[pa.Array, Positions]:
        """The values as they lie on the wire, or as the type that stands for them, and the positions behind them."""


class _Boolean(_Values):
    def skip(self, wire: WireBytes, at: Positions) -> Positions:
        return at + 1

    def read(self, wire: WireBytes, at: Positions, target: pa.DataType) -> tuple[pa.Array, Positions]:
        values = wire.bytes_at(at)
        if (values > 1).any():
            raise UnusualError
        return pa.array(values.astype(np.bool_)), at + 1


class _Long(_Values):
    def skip(self, wire: WireBytes, at: Positions) -> Positions:
        return wire.behind_varints(at)

    def read(self, wire: WireBytes, at: Positions, target: pa.DataType) -> tuple[pa.Array, Positions]:
        numbers, ends = wire.varints(at)
        return pa.array(unzigzag_all(numbers)), ends


class _Int(_Long):
    def read(self, wire: WireBytes, at: Positions, target: pa.DataType) -> tuple[pa.Array, Positions]:
        numbers, ends = wire.varints(at)
        values = unzigzag_all(numbers)
        if ((values < _INT.min) | (values > _INT.max)).any():
            raise UnusualError
        return pa.array(values.astype(np.int32)), ends


class _Float(_Values):
    def skip(self, wire: WireBytes, at: Positions) -> Positions:
        return at + 4

    def read(self, wire: WireBytes, at: Positions, target: pa.DataType) -> tuple[pa.Array, Positions]:
        return pa.array(wire.halves_at(at).view(np.float32)), at + 4


class _Double(_Values):
    def skip(self, wire: WireBytes, at: Positions) -> Positions:
        return at + 8

    def read(self, wire: WireBytes, at: Positions, target: pa.DataType) -> tuple[pa.Array, Positions]:
        return pa.array(wire.words_at(at).view(np.float64)), at + 8


class _Fixed(_Values):
    def __init__(self, size: int) -> None:
        self._size = size

    def skip(self, wire: WireBytes, at: Positions) -> Positions:
        return at + self._size

    def read(self, wire: WireBytes, at: Positions, target: pa.DataType) -> tuple[pa.Array, Positions]:
        ends = at + self._size
        wire.check(ends)
        if pa.types.is_decimal128(target) and 0 < self._size * 8 <= _WORD_BITS:
            return _decimals(wire.words_at(at), self._size, target), ends
        values = wire.stretches_at(at, self._size)
        return pa.Array.from_buffers(pa.binary(self._size), len(at), [None, pa.py_buffer(values)]), ends


class _Bytes(_Values):
    type = pa.binary()

    def skip(self, wire: WireBytes, at: Positions) -> Positions:
        starts, lengths = _stretches(wire, at)
        return starts + lengths

    def read(self, wire: WireBytes, at: Positions, target: pa.DataType) -> tuple[pa.Array, Positions]:
        starts, lengths = _stretches(wire, at)
        ends = starts + lengths
        wire.check(ends)
        if wire.size > _MOST_BYTES:
            raise UnusualError
        views = pa.py_buffer(_views(wire, starts, lengths))
        # Texts are checked to be UTF-8.
        return pa.Array.from_buffers(pa.binary_view(), len(at), [None, views, wire.buffer]).cast(self.type), ends


class _String(_Bytes):
    type = pa.string()


_VALUES: Mapping[str, Callable[[], _Values]] = MappingProxyType(
    {
        "boolean": _Boolean,
        "int": _Int,
        "enum": _Int,
        "long": _Long,
        "float": _Float,
        "double": _Double,
        "bytes": _Bytes,
        "string": _String,
    }
)


def _stretches(wire: WireBytes, at: Positions) -> tuple[Positions, Positions]:
    """Where bytes that stand behind their number begin, and how many they are."""
    twice = wire.bytes_at(at).astype(np.int64)
    starts = at + 1
    if (twice > 0x7F).any():
        numbers, starts = wire.varints(at)
        twice = numbers.view(np.int64)
    lengths = twice >> 1
    # A negative number is odd on the wire.
    if (twice & 1).any() or ((lengths < 0) | (lengths > wire.size)).any():
        raise UnusualError
    return starts, lengths


def _views(wire: WireBytes, starts: Positions, lengths: Positions) -> npt.NDArray[np.uint32]:
    """Arrow's views of stretches: a length, and the bytes themselves or their beginning and where they are."""
    views = np.zeros((len(starts), 4), dtype=np.uint32)
    views[:, 0] = lengths
    is_short = lengths <= _INLINE
    if is_short.all():
        _put_inline(views, wire, starts, lengths)
        return views
    views[:, 1] = wire.halves_at(starts)
    views[:, 3] = starts
    if is_short.any():
        own = views[is_short]
        _put_inline(own, wire, starts[is_short], lengths[is_short])
        views[is_short] = own
    return views


def _put_inline(views: npt.NDArray[np.uint32], wire: WireBytes, starts: Positions, lengths: Positions) -> None:
    """Puts short stretches into their views, and zeros behind them."""
    longest = int(lengths.max(initial=0))
    for word in range(3):
        if 4 * word < longest:
            views[:, 1 + word] = wire.halves_at(starts + 4 * word) & _INLINE_BITS[word][lengths]
        else:
            views[:, 1 + word] = 0


def _decimals(words: npt.NDArray[np.uint64], size: int, target: pa.DataType) -> pa.Array:
    """Numbers of a word at most, the greatest byte first."""
    numbers = words.byteswap().view(np.int64) >> np.int64(_WORD_BITS - 8 * size)
    wide = np.empty((len(numbers), 2), dtype=np.int64)
    wide[:, 0] = numbers
    wide[:, 1] = numbers >> np.int64(_WORD_BITS - 1)
    made = pa.Array.from_buffers(target, len(numbers), [None, pa.py_buffer(wide)])
    made.validate(full=True)
    return made
