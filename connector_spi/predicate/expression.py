"""Conditions that domains cannot say: an OR over columns, a field of a struct, the end of a text.

A row fits a condition that is true for it; false and unknown (NULL) both leave it out. Comparisons are those of
domains: NaN equals itself and is above all numbers, 0.0 equals -0.0, texts are compared by their UTF-8 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate.values import Value
from connector_spi.serializable import Serializable

__all__ = [
    "Call",
    "ColumnReference",
    "ConnectorExpression",
    "Constant",
    "FieldDereference",
    "Function",
    "Reference",
    "conjuncts",
    "references",
]


class Function(Enum):
    """What a call computes; the value is its SQL. All give ``bool``."""

    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    NULL_SAFE_EQUAL = "<=>"
    """As ``=``, but NULL equals NULL and nothing else: never unknown."""
    IN = "IN"
    """The first argument equals one of the others, which are constants."""
    IS_NULL = "IS NULL"
    STARTS_WITH = "STARTS_WITH"
    """A text and its start; nothing in the second argument has a special meaning. So for the next two."""
    ENDS_WITH = "ENDS_WITH"
    CONTAINS = "CONTAINS"


@dataclass(frozen=True, slots=True)
class Constant(Serializable):
    """A value.

    Attributes:
        value: As ``normalize`` gives it; ``None`` is NULL.
        type: Arrow type of the value.
    """

    value: Value | None
    type: pa.DataType

    def __eq__(self, other: object) -> bool:
        """NaN equals itself, so that a condition is the same one after its travel."""
        return isinstance(other, Constant) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[bool, Value | None, pa.DataType]:
        is_nan = self.value != self.value
        return is_nan, None if is_nan else self.value, self.type

    def __str__(self) -> str:
        if isinstance(self.value, str):
            return "'" + self.value.replace("'", "''") + "'"
        return "NULL" if self.value is None else str(self.value)


@dataclass(frozen=True, slots=True)
class ColumnReference(Serializable):
    """A column of the table."""

    column: ColumnHandle

    @property
    def type(self) -> pa.DataType:
        """Arrow type of the column."""
        return self.column.type

    @property
    def path(self) -> tuple[str, ...]:
        """Names of fields: none."""
        return ()

    def __str__(self) -> str:
        return self.column.name


@dataclass(frozen=True, slots=True)
class FieldDereference(Serializable):
    """A field of a struct; NULL where the struct is.

    Attributes:
        target: The struct.
        field: Name of the field.
        type: Arrow type of the field.
    """

    target: ColumnReference | FieldDereference
    field: str
    type: pa.DataType

    @property
    def column(self) -> ColumnHandle:
        """The column of the table that the field is in."""
        return self.target.column

    @property
    def path(self) -> tuple[str, ...]:
        """Names of the fields, from the column's own fields inwards."""
        return (*self.target.path, self.field)

    def __str__(self) -> str:
        return f"{self.target}.{self.field}"


@dataclass(frozen=True, slots=True)
class Call(Serializable):
    """A function of its arguments.

    Attributes:
        function: What is computed. ``AND`` and ``OR`` have two arguments or more, ``NOT`` and ``IS_NULL`` one, ``IN``
            at least two, the others two of one type.
        arguments: In order.
    """

    function: Function
    arguments: tuple[ConnectorExpression, ...]

    @property
    def type(self) -> pa.DataType:
        """Always ``bool``."""
        return pa.bool_()

    def __str__(self) -> str:
        texts = [str(argument) for argument in self.arguments]
        if self.function in (Function.STARTS_WITH, Function.ENDS_WITH, Function.CONTAINS):
            return f"{self.function.value}({', '.join(texts)})"
        if self.function is Function.NOT:
            return f"NOT ({texts[0]})"
        if self.function is Function.IS_NULL:
            return f"{texts[0]} IS NULL"
        if self.function is Function.IN:
            return f"{texts[0]} IN ({', '.join(texts[1:])})"
        return f"({f' {self.function.value} '.join(texts)})"


ConnectorExpression: TypeAlias = Constant | ColumnReference | FieldDereference | Call
"""A condition, or a part of one. Match it without a default branch, so that mypy finds the missing kind."""

Reference: TypeAlias = ColumnReference | FieldDereference
"""A column, or a field of one."""


def references(expression: ConnectorExpression) -> Iterator[Reference]:
    """The columns and fields in an expression, as often as they are there."""
    match expression:
        case Constant():
            return
        case ColumnReference() | FieldDereference():
            yield expression
        case Call(arguments=arguments):
            for argument in arguments:
                yield from references(argument)


def conjuncts(expression: ConnectorExpression) -> Iterator[ConnectorExpression]:
    """The conditions of which an expression is the ``AND``; of another expression itself."""
    if isinstance(expression, Call) and expression.function is Function.AND:
        for argument in expression.arguments:
            yield from conjuncts(argument)
    else:
        yield expression
