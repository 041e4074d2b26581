"""Tests of a column, or a field of structs, against constants, with the answers of SQL's WHERE in Spark.

A comparison with NULL is never true, NaN equals itself and is above all numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet, normalize

__all__ = ["ColumnTest", "Junction", "RowTest", "column_value", "compare", "plain_column", "renamed_test"]

_NULL_TESTS = ("is null", "is not null")
_LISTS = ("in", "not in")
_PATTERNS = ("like", "not like")
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
class ColumnTest:
    """One condition on one column, or on one field of a column of structs.

    Attributes:
        column: Its name.
        operator: ``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in``, ``not in``, ``like``, ``not like``, ``is null``
            or ``is not null``.
        type: Type of the column, or of the field.
        values: What it is compared with, as ``column_value`` gives it.
        path: Names of fields, from the column's own fields inwards, as they are in its type; none for the column.
    """

    column: str
    operator: str
    type: pa.DataType
    values: tuple[Value, ...]
    path: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def domain(self) -> TupleDomain[str]:
        """What every row fits for which the condition holds; other rows fit too, where it is about a field."""
        if self.path:
            return TupleDomain.all()
        return TupleDomain.with_column_domains({self.column: self._domain()})

    def mask(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """True where the condition holds; false or null elsewhere."""
        column = columns[self.column]
        if self.path:
            # A field of a struct that is NULL is NULL, whatever lies below.
            column = plain_column(pc.struct_field(column, list(self.path)))
        if self.operator in _NULL_TESTS:
            return column.is_null() if self.operator == "is null" else column.is_valid()
        if self.operator in _LISTS:
            return self._in_list(column)
        if self.operator in _PATTERNS:
            found = pc.match_like(column, cast(str, self.values[0]))
            return found if self.operator == "like" else pc.invert(found)
        return compare(column, self.operator, self.values[0])

    def _domain(self) -> Domain:
        if self.operator == "is null":
            return Domain.only_null(self.type)
        if self.operator in ("is not null", *_PATTERNS):
            return Domain.not_null(self.type)
        if self.operator in _RANGES:
            return Domain(_range(_RANGES[self.operator], self.type, self.values[0]), False)
        if self.operator == "not in" and not self.values:
            return Domain.all(self.type)  # as SQL: NOT IN of nothing holds for NULL too
        listed = ValueSet.of(self.type, self.values)
        return Domain(listed if self.operator in ("=", "in") else listed.complement(), False)

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
class Junction:
    """Conditions joined by AND or OR.

    Attributes:
        every: AND; else OR.
        parts: The conditions; none, joined by AND, hold for every row.
    """

    every: bool
    parts: tuple[RowTest, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all parts, each once, in order."""
        return tuple(dict.fromkeys(column for part in self.parts for column in part.columns))

    def domain(self) -> TupleDomain[str]:
        """What every row fits for which it holds; other rows may fit too."""
        domains = [part.domain() for part in self.parts]
        if self.every:
            return functools.reduce(TupleDomain.intersect, domains, TupleDomain[str].all())
        return domains[0].union(*domains[1:])

    def mask(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """True where it holds; false or null elsewhere."""
        # A part without columns holds for every row.
        tests = [part for part in self.parts if part.columns]
        if not tests or (not self.every and len(tests) < len(self.parts)):
            return pa.repeat(pa.scalar(True), len(next(iter(columns.values()))))
        return functools.reduce(pc.and_kleene if self.every else pc.or_kleene, (p.mask(columns) for p in tests))


RowTest: TypeAlias = ColumnTest | Junction
"""A condition on rows."""


def column_value(column: str, data_type: pa.DataType, value: object) -> Value:
    """A value as a test of a column compares it.

    Raises:
        InvalidArgumentError: It is NULL, or not of the column's type.
    """
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


def renamed_test(test: RowTest, names: Mapping[str, str]) -> RowTest:
    """The test of columns that have other names."""
    if isinstance(test, ColumnTest):
        return replace(test, column=names[test.column])
    return replace(test, parts=tuple(renamed_test(part, names) for part in test.parts))


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


def plain_column(column: pa.Array) -> pa.Array:
    """The column in the type in which it is compared."""
    if isinstance(column.type, pa.BaseExtensionType):
        return column.storage
    wanted = _compared_type(column.type)
    return column if column.type.equals(wanted) else column.cast(wanted)


def _compared_type(data_type: pa.DataType) -> pa.DataType:
    """The type in which values are compared, with the same values as ``data_type``."""
    if pa.types.is_dictionary(data_type):
        return _compared_type(data_type.value_type)
    if isinstance(data_type, pa.BaseExtensionType):
        return data_type.storage_type
    return data_type


def _range(make: Callable[[pa.DataType, Value], Range], data_type: pa.DataType, value: Value) -> ValueSet:
    try:
        return ValueSet.of_ranges(data_type, [make(data_type, value)])
    except InvalidArgumentError:
        # Nothing is above NaN or below -infinity, and an empty range is refused.
        return ValueSet.none(data_type)
