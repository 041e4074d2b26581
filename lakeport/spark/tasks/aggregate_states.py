"""What a task keeps of an aggregate: its state, an Arrow column with one value for a row or for a group of rows.

Rules are those of Spark's ``Sum``, ``Min``, ``Max`` and ``Count`` (``org.apache.spark.sql.catalyst.expressions.
aggregate``). Executor side.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.serializable import Serializable

__all__ = ["Aggregate", "AggregateFunction", "first_state", "largest_sum", "result", "whole_pieces"]

_EXACT = decimal.Context(prec=100)
_MAX_PRECISION = 38
_SUM_DIGITS = 10
"""Digits that Spark's sum of decimals has more than its values."""
_COARSE_BOUND = 2**56


class AggregateFunction(Enum):
    """What is aggregated."""

    COUNT_ROWS = "count(*)"
    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Aggregate(Serializable):
    """One aggregate of one column.

    Attributes:
        function: What is aggregated.
        column: Name of the column; empty for ``COUNT_ROWS``.
        type: The column's Arrow type as Spark wants it; ``int64`` for ``COUNT_ROWS``.
    """

    function: AggregateFunction
    column: str
    type: pa.DataType

    def __str__(self) -> str:
        return f"{self.function.value}({self.column})" if self.column else self.function.value

    @property
    def merging(self) -> str:
        """What makes one state of two: Arrow's name of ``sum``, ``min`` or ``max``."""
        return self.function.value if self.function in (AggregateFunction.MIN, AggregateFunction.MAX) else "sum"

    @property
    def counts(self) -> bool:
        """It is 0, not NULL, over no rows."""
        return self.function in (AggregateFunction.COUNT_ROWS, AggregateFunction.COUNT)

    @property
    def result_type(self) -> pa.DataType:
        """Arrow type of what the task gives to Spark.

        The sum of a decimal has the decimal's own type, since Spark casts what comes from the scan to it
        (``V2ScanRelationPushDown``); a sum with more digits is given in several pieces.
        """
        if self.counts or (self.function is AggregateFunction.SUM and pa.types.is_integer(self.type)):
            return pa.int64()
        if self.function is AggregateFunction.SUM and pa.types.is_floating(self.type):
            return pa.float64()
        return self.type

    @property
    def sum_limit(self) -> int | None:
        """Sums of magnitudes below it overflow nowhere in Spark, whatever the order; ``None`` where none can."""
        if self.function is not AggregateFunction.SUM or pa.types.is_floating(self.type):
            return None
        if pa.types.is_integer(self.type):
            return 2**63
        return _power(min(_MAX_PRECISION, int(self.type.precision) + _SUM_DIGITS))


def first_state(aggregate: Aggregate, batch: pa.RecordBatch) -> pa.Array:
    """The state of each row of a batch."""
    if aggregate.function is AggregateFunction.COUNT_ROWS:
        return pa.array(np.ones(batch.num_rows, np.int64))
    column = batch.column(aggregate.column)
    if aggregate.function is AggregateFunction.COUNT:
        return column.is_valid().cast(pa.int64())
    if aggregate.function is AggregateFunction.SUM:
        if pa.types.is_decimal(column.type):
            return column.cast(pa.decimal128(_MAX_PRECISION, column.type.scale))
        return column.cast(aggregate.result_type)
    return _ordered(column) if pa.types.is_floating(column.type) else column


def largest_sum(aggregate: Aggregate, state: pa.Array) -> int:
    """At least the sum of the magnitudes of the rows that ``first_state`` gave; of decimals the unscaled values."""
    count = len(state)
    if pa.types.is_decimal(aggregate.type):
        digits = int(aggregate.type.precision)
        if digits + _SUM_DIGITS <= _MAX_PRECISION:
            return count * _power(digits)
        return count * max((abs(_unscaled(value)) for value in _extremes(state)), default=0)
    if aggregate.type.bit_width < 64:
        return count * _power(int(aggregate.type.bit_width) - 1, 2)
    coarse = count * max((abs(int(str(value))) for value in _extremes(state)), default=0)
    if coarse < _COARSE_BOUND:
        return coarse
    magnitudes = pc.sum(pc.abs(state.cast(pa.float64(), safe=False))).as_py()
    # Sums of doubles are off by less than a part in a billion.
    bound: int = math.ceil(magnitudes * (1 + 1e-9))
    return bound


def result(aggregate: Aggregate, state: pa.Array) -> pa.Array:
    """From states to what Spark gets, of ``result_type``; of a decimal sum what is left of ``whole_pieces``."""
    if aggregate.counts:
        return state.fill_null(0)
    if pa.types.is_floating(aggregate.type) and aggregate.function is not AggregateFunction.SUM:
        return _unordered(state, aggregate.type)
    if _may_have_pieces(aggregate):
        large = _too_large(aggregate, state)
        if len(large):
            values = state.to_pylist()
            for index in large:
                values[index] = _scaled(_divide(aggregate, values[index])[1], aggregate)
            state = pa.array(values, state.type)
    return state.cast(aggregate.result_type)


def whole_pieces(aggregate: Aggregate, state: pa.Array) -> tuple[npt.NDArray[np.int64], pa.Array]:
    """The pieces of sums that have more digits than Spark takes: each as large as fits.

    Returns:
        For each piece the index of its state, and the pieces themselves. They and ``result`` add up to the states.
    """
    indices: list[npt.NDArray[np.int64]] = [np.zeros(0, np.int64)]
    pieces = [pa.array([], aggregate.result_type)]
    for index in _too_large(aggregate, state) if _may_have_pieces(aggregate) else ():
        count, _ = _divide(aggregate, state[index].as_py())
        piece = _scaled((1 if count > 0 else -1) * _largest(aggregate), aggregate)
        indices.append(np.full(abs(count), index, np.int64))
        pieces.append(pa.repeat(pa.scalar(piece, aggregate.result_type), abs(count)))
    return np.concatenate(indices), pa.concat_arrays(pieces)


def _power(exponent: int, base: int = 10) -> int:
    return int(base**exponent)


def _may_have_pieces(aggregate: Aggregate) -> bool:
    return aggregate.function is AggregateFunction.SUM and pa.types.is_decimal(aggregate.type)


def _too_large(aggregate: Aggregate, state: pa.Array) -> list[int]:
    fits = pa.scalar(_scaled(_largest(aggregate), aggregate), state.type)
    found: list[int] = pc.indices_nonzero(pc.greater(pc.abs(state), fits).fill_null(False)).to_pylist()
    return found


def _largest(aggregate: Aggregate) -> int:
    return _power(int(aggregate.type.precision)) - 1


def _divide(aggregate: Aggregate, value: decimal.Decimal) -> tuple[int, int]:
    """Signed count of the largest pieces in a sum, and the unscaled rest."""
    unscaled = _unscaled(value)
    count, rest = divmod(abs(unscaled), _largest(aggregate))
    return (count, rest) if unscaled > 0 else (-count, -rest)


def _unscaled(value: object) -> int:
    assert isinstance(value, decimal.Decimal)
    sign, digits, _ = value.as_tuple()
    magnitude = int("".join(map(str, digits)))
    return -magnitude if sign else magnitude


def _scaled(unscaled: int, aggregate: Aggregate) -> decimal.Decimal:
    return _EXACT.scaleb(decimal.Decimal(unscaled), -int(aggregate.type.scale))


def _extremes(state: pa.Array) -> list[object]:
    return [value for value in pc.min_max(state).as_py().values() if value is not None]


def _ordered(column: pa.Array) -> pa.Array:
    """Integers in the order of Spark's floating-point numbers: NaN, of whatever bits, is one value above all others."""
    integers, mask = _integers_like(column.type)
    values = column.fill_null(0).to_numpy(zero_copy_only=False)
    bits = np.where(np.isnan(values), values.dtype.type("nan"), values).view(integers)
    ordered = np.where(bits < 0, bits ^ mask, bits)
    return pa.array(ordered, mask=column.is_null().to_numpy(zero_copy_only=False))


def _unordered(state: pa.Array, data_type: pa.DataType) -> pa.Array:
    integers, mask = _integers_like(data_type)
    ordered = state.fill_null(0).to_numpy(zero_copy_only=False)
    bits = np.where(ordered < 0, ordered ^ mask, ordered).astype(integers)
    values = bits.view(data_type.to_pandas_dtype())
    return pa.array(values, data_type, mask=state.is_null().to_numpy(zero_copy_only=False))


def _integers_like(data_type: pa.DataType) -> tuple[type[np.signedinteger], np.signedinteger]:
    integers: type[np.signedinteger] = np.int32 if pa.types.is_float32(data_type) else np.int64
    return integers, integers(np.iinfo(integers).max)
