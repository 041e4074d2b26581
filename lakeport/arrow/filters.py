"""Filters of ``session.arrow``: pyarrow's DNF lists, as a domain to push down and as a mask to apply.

The answers are those of SQL's WHERE in Spark: a comparison with NULL is never true, NaN equals itself and is above all
numbers. (pyarrow's own ``filters`` let NULL pass ``not in``.)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet, normalize

__all__ = ["Condition", "RowFilter", "Where", "compare", "copied", "parse_where"]

Condition: TypeAlias = tuple[str, str] | tuple[str, str, object]
"""``("a", ">", 5)``, ``("a", "in", [1, 2])``, ``("a", "is null")``."""

Where: TypeAlias = Sequence[Condition | Sequence[Condition]]
"""Conditions joined by AND, or lists of such joined by OR."""

_NULL_TESTS = ("is null", "is not null")
_LISTS = ("in", "not in")
_COMPARISONS = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_COMPUTE: dict[str, Callable[[pa.Array, pa.Scalar], pa.Array]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_RANGES: dict[str, Callable[[pa.DataType, Value], Range]] = {
    "<": Range.less_than,
    "<=": Range.less_or_equal,
    ">": Range.greater_than,
    ">=": Range.greater_or_equal,
}


@dataclass(frozen=True, slots=True)
class _Test:
    """One condition on one column, its values normalised and of the column's type."""

    column: str
    operator: str
    type: pa.DataType
    values: tuple[Value, ...]

    def domain(self) -> Domain:
        if self.operator == "is null":
            return Domain.only_null(self.type)
        if self.operator == "is not null":
            return Domain.not_null(self.type)
        if self.operator in _RANGES:
            return Domain(_range(_RANGES[self.operator], self.type, self.values[0]), False)
        if self.operator == "not in" and not self.values:
            return Domain.all(self.type)  # as SQL: NOT IN of nothing holds for NULL too
        listed = ValueSet.of(self.type, self.values)
        return Domain(listed if self.operator in ("=", "in") else listed.complement(), False)

    def mask(self, column: pa.Array) -> pa.Array:
        """True where the condition holds; false or null elsewhere."""
        if self.operator in _NULL_TESTS:
            return column.is_null() if self.operator == "is null" else column.is_valid()
        if self.operator in _LISTS:
            return self._in_list(column)
        return compare(column, self.operator, self.values[0])

    def _in_list(self, column: pa.Array) -> pa.Array:
        if not self.values:
            return pa.repeat(pa.scalar(self.operator == "not in"), len(column))
        if pa.types.is_floating(column.type):
            # is_in distinguishes 0.0 from -0.0; equality does not.
            found = functools.reduce(pc.or_, (compare(column, "=", value) for value in self.values))
        else:
            found = pc.is_in(column, value_set=pa.array(list(self.values), column.type))
        return found if self.operator == "in" else pc.and_(pc.invert(found), column.is_valid())


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A filter whose columns are known to be there.

    Attributes:
        columns: The columns that it looks at, each once, in order.
    """

    columns: tuple[str, ...]
    _alternatives: tuple[tuple[_Test, ...], ...]

    def domain(self) -> TupleDomain[str]:
        """What every row that passes fits; other rows may fit too."""
        first, *others = [_conjunction(tests) for tests in self._alternatives]
        return first.union(*others)

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that pass, of a batch that has at least the filter's columns."""
        plain = {name: _plain(batch.column(name)) for name in self.columns}
        masks = [
            functools.reduce(pc.and_kleene, (test.mask(plain[test.column]) for test in tests))
            for tests in self._alternatives
        ]
        return batch.filter(functools.reduce(pc.or_kleene, masks))


def copied(where: Where) -> Where:
    """The same filter, to be read many times: no one else changes it, and values that come once only are kept."""
    return cast(Where, _copied(where))


def parse_where(where: Where, find: Callable[[str], tuple[str, pa.DataType]]) -> RowFilter | None:
    """Reads a filter.

    Args:
        where: See ``Where``; an empty list filters nothing.
        find: From a column as the user wrote it to its name and type.

    Raises:
        InvalidArgumentError: A condition that is not understood, or a value that is not of its column's type.
        ColumnNotFoundError: Whatever ``find`` raises.
    """
    given = _items(where)
    if not given:
        return None
    if any(isinstance(item, str) for item in given):
        raise _malformed(where)  # a condition alone
    alternatives = given if all(_is_conjunction(item) for item in given) else [given]
    tests = tuple(tuple(_test(condition, find) for condition in _conditions(item)) for item in alternatives)
    columns = dict.fromkeys(test.column for conjunction in tests for test in conjunction)
    return RowFilter(tuple(columns), tests)


def compare(column: pa.Array, operator: str, value: Value) -> pa.Array:
    """Compares a column with a value as Spark does: null for NULL, and NaN equals itself and is above all numbers.

    Args:
        column: Of a plain type: no dictionary, no extension.
        operator: ``=``, ``!=``, ``<``, ``<=``, ``>`` or ``>=``.
        value: Normalised, of the column's type.
    """
    found = _COMPUTE[operator](column, pa.scalar(value, column.type))
    if not pa.types.is_floating(column.type):
        return found
    nan = pc.is_nan(column)
    if value != value:
        always = pc.or_(nan, pc.invert(nan))
        answers = {"=": nan, ">=": nan, "!=": pc.invert(nan), "<": pc.invert(nan), "<=": always}
        return answers.get(operator, pc.and_(nan, pc.invert(nan)))
    return pc.or_(found, nan) if operator in (">", ">=") else found


def _copied(given: object) -> object:
    if isinstance(given, str) or not isinstance(given, Sequence):
        return given
    if len(given) == 3 and isinstance(given[0], str):
        return (given[0], given[1], tuple(given[2]) if _is_list(given[2]) else given[2])
    return tuple(_copied(item) for item in given)


def _is_list(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _is_conjunction(item: object) -> bool:
    return isinstance(item, Sequence) and not isinstance(item, str) and not any(isinstance(p, str) for p in item[:1])


def _conditions(item: object) -> Sequence[object]:
    conditions = _items(item)
    if not conditions:
        raise _malformed(item)
    return conditions


def _items(given: object) -> Sequence[object]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise _malformed(given)
    return given


def _test(condition: object, find: Callable[[str], tuple[str, pa.DataType]]) -> _Test:
    if not isinstance(condition, Sequence) or isinstance(condition, str) or len(condition) not in (2, 3):
        raise _malformed(condition)
    written, spelled, *rest = condition
    if not isinstance(written, str) or not isinstance(spelled, str):
        raise _malformed(condition)
    operator = " ".join(spelled.lower().split())
    column, data_type = find(written)
    if operator in _NULL_TESTS and rest in ([], [None]):
        return _Test(column, operator, data_type, ())
    if operator in _LISTS and len(rest) == 1 and _is_list(rest[0]):
        return _Test(column, operator, data_type, tuple(_value(column, data_type, value) for value in rest[0]))
    if operator in _COMPARISONS and len(rest) == 1:
        value = _value(column, data_type, rest[0])
        return _Test(column, _COMPARISONS[operator], data_type, (value,))
    raise _malformed(condition)


def _value(column: str, data_type: pa.DataType, value: object) -> Value:
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, pa.Scalar):
        value = value.as_py()
    if value is None:
        raise InvalidArgumentError(
            f"column '{column}' cannot be compared with NULL, since that is never true; "
            f"write ('{column}', 'is null') or ('{column}', 'is not null')"
        )
    try:
        found = normalize(data_type, cast(Value, value))
        # Out of the type's bounds, or more digits than it has: Arrow says so.
        if pa.scalar(found, _compared_type(data_type)).as_py() != found and found == found:
            raise InvalidArgumentError(f"{value!r:.80} cannot be held by the type {data_type}")
    except (InvalidArgumentError, pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, ValueError) as error:
        reason = error.message if isinstance(error, InvalidArgumentError) else str(error)
        raise InvalidArgumentError(f"column '{column}' is {data_type}: {reason}") from error
    return found


def _range(make: Callable[[pa.DataType, Value], Range], data_type: pa.DataType, value: Value) -> ValueSet:
    try:
        return ValueSet.of_ranges(data_type, [make(data_type, value)])
    except InvalidArgumentError:
        # Nothing is above NaN or below -infinity, and an empty range is refused.
        return ValueSet.none(data_type)


def _conjunction(tests: Sequence[_Test]) -> TupleDomain[str]:
    parts = (TupleDomain.with_column_domains({test.column: test.domain()}) for test in tests)
    return functools.reduce(TupleDomain.intersect, parts)


def _compared_type(data_type: pa.DataType) -> pa.DataType:
    """The type in which values are compared, with the same values as ``data_type``."""
    if pa.types.is_dictionary(data_type):
        return _compared_type(data_type.value_type)
    if isinstance(data_type, pa.BaseExtensionType):
        return data_type.storage_type
    return data_type


def _plain(column: pa.Array) -> pa.Array:
    if isinstance(column.type, pa.BaseExtensionType):
        return column.storage
    wanted = _compared_type(column.type)
    return column if column.type.equals(wanted) else column.cast(wanted)


def _malformed(met: object) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"cannot read the filter {met!r:.200}: expected [(column, operator, value), ...] or lists of such lists, "
        f"with an operator of {', '.join(dict.fromkeys((*_COMPARISONS, *_LISTS, *_NULL_TESTS)))}"
    )
