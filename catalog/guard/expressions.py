"""Row filters and column masks as plain values, and their evaluation on Arrow batches. Task side."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.serializable import Serializable

__all__ = ["FUNCTIONS", "ColumnValue", "ConstantValue", "Expression", "FunctionCall", "column_names", "evaluate"]

_Datum: TypeAlias = "pa.Array | pa.Scalar"


@dataclass(frozen=True, slots=True)
class ColumnValue(Serializable):
    """The value of a column."""

    name: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class ConstantValue(Serializable):
    """A value of a type; ``None`` is NULL."""

    value: object
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class FunctionCall(Serializable):
    """A function of ``FUNCTIONS`` over arguments; ``type`` is that of its result."""

    function: str
    arguments: tuple[Expression, ...]
    type: pa.DataType


Expression: TypeAlias = "ColumnValue | ConstantValue | FunctionCall"


def column_names(expression: Expression) -> Iterator[str]:
    """The columns that an expression reads, maybe several times."""
    if isinstance(expression, ColumnValue):
        yield expression.name
    elif isinstance(expression, FunctionCall):
        for argument in expression.arguments:
            yield from column_names(argument)


def evaluate(expression: Expression, batch: pa.RecordBatch) -> pa.Array:
    """The value of an expression for each row of a batch, which has the columns that it reads."""
    found = _evaluated(expression, batch)
    return pa.repeat(found, batch.num_rows) if isinstance(found, pa.Scalar) else found


def _evaluated(expression: Expression, batch: pa.RecordBatch) -> _Datum:
    if isinstance(expression, ColumnValue):
        return batch.column(expression.name)
    if isinstance(expression, ConstantValue):
        return pa.scalar(expression.value, expression.type)
    arguments = [_evaluated(argument, batch) for argument in expression.arguments]
    found = FUNCTIONS[expression.function](arguments)
    return found if found.type == expression.type else found.cast(expression.type)


def _choose(arguments: Sequence[_Datum]) -> _Datum:
    condition, then, otherwise = arguments
    # An unknown condition is none that holds.
    return pc.if_else(pc.fill_null(condition, False), then, otherwise)


def _null_if(arguments: Sequence[_Datum]) -> _Datum:
    value, other = arguments
    return _choose((pc.equal(value, other), pa.scalar(None, value.type), value))


def _any(arguments: Sequence[_Datum]) -> _Datum:
    found = arguments[0]
    for one in arguments[1:]:
        found = pc.or_kleene(found, one)
    return found


def _concat(arguments: Sequence[_Datum]) -> _Datum:
    return pc.binary_join_element_wise(*arguments, pa.scalar("", pa.string()))


def _substring(arguments: Sequence[_Datum]) -> _Datum:
    """Characters from a position on, from 1, or from the end; nothing where there is no such position (Trino)."""
    text, start = arguments[0], int(arguments[1].as_py())
    length = int(arguments[2].as_py()) if len(arguments) > 2 else None
    if start == 0 or (length is not None and length <= 0):
        return _choose((pc.is_null(text), text, pa.scalar("", pa.string())))
    first = start - 1 if start > 0 else start
    stop = None if length is None else first + length
    if stop is not None and first < 0 <= stop:
        stop = None
    cut = pc.utf8_slice_codeunits(text, first, stop)
    if start > 0:
        return cut
    return _choose((pc.less(pc.utf8_length(text), -start), pa.scalar("", pa.string()), cut))


def _hashed(name: str) -> Callable[[Sequence[_Datum]], _Datum]:
    def function(arguments: Sequence[_Datum]) -> _Datum:
        return _by_value(arguments[0], lambda value: hashlib.new(name, value).digest(), pa.binary())

    return function


def _hex(arguments: Sequence[_Datum]) -> _Datum:
    return _by_value(arguments[0], lambda value: value.hex().upper(), pa.string())


def _by_value(values: _Datum, function: Callable[[bytes], object], result: pa.DataType) -> _Datum:
    """A function of Python, called once for each distinct value: Arrow has no hashes."""
    if isinstance(values, pa.Scalar):
        return pa.scalar(None if not values.is_valid else function(values.as_py()), result)
    encoded = values.dictionary_encode()
    made = pa.array([function(value) for value in encoded.dictionary.to_pylist()], result)
    return made.take(encoded.indices)


FUNCTIONS: dict[str, Callable[[Sequence[_Datum]], _Datum]] = {
    "and": lambda arguments: pc.and_kleene(*arguments),
    "or": _any,
    "not": lambda arguments: pc.invert(*arguments),
    "=": lambda arguments: pc.equal(*arguments),
    "<>": lambda arguments: pc.not_equal(*arguments),
    "<": lambda arguments: pc.less(*arguments),
    "<=": lambda arguments: pc.less_equal(*arguments),
    ">": lambda arguments: pc.greater(*arguments),
    ">=": lambda arguments: pc.greater_equal(*arguments),
    "is null": lambda arguments: pc.is_null(*arguments),
    "like": lambda arguments: pc.match_like(arguments[0], arguments[1].as_py()),
    "if": _choose,
    "coalesce": lambda arguments: pc.coalesce(*arguments),
    "nullif": _null_if,
    "cast": lambda arguments: arguments[0],
    "concat": _concat,
    "substr": _substring,
    "lower": lambda arguments: pc.utf8_lower(*arguments),
    "upper": lambda arguments: pc.utf8_upper(*arguments),
    "reverse": lambda arguments: pc.utf8_reverse(*arguments),
    "length": lambda arguments: pc.utf8_length(*arguments),
    "replace": lambda arguments: pc.replace_substring(
        arguments[0], pattern=arguments[1].as_py(), replacement=arguments[2].as_py()
    ),
    "regexp_replace": lambda arguments: pc.replace_substring_regex(
        arguments[0], pattern=arguments[1].as_py(), replacement=arguments[2].as_py()
    ),
    "to_utf8": lambda arguments: arguments[0].cast(pa.binary()),
    "md5": _hashed("md5"),
    "sha256": _hashed("sha256"),
    "sha512": _hashed("sha512"),
    "to_hex": _hex,
    "year": lambda arguments: pc.year(*arguments),
    "month": lambda arguments: pc.month(*arguments),
    "date_trunc": lambda arguments: pc.floor_temporal(arguments[1], unit=arguments[0].as_py()),
}
"""What filters and masks may call. Arguments of ``like``, ``substr``, ``replace``, ``regexp_replace`` and the unit of
``date_trunc`` are constants."""
