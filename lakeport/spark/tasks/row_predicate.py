"""Predicates that a task checks row by row, with SQL's three values. Executor side: no Spark session, no metastore.

A row passes where the mask is true: false and unknown (NULL) both leave it out, as in Spark's ``WHERE``.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.predicate import Value
from connector_spi.serializable import Serializable
from lakeport.arrow.filters.conditions import compare

__all__ = ["Comparison", "FieldTest", "InList", "Junction", "Negation", "NullTest", "RowPredicate", "TextTest", "Truth"]

_TEXT_TESTS = {"STARTS_WITH": pc.starts_with, "ENDS_WITH": pc.ends_with, "CONTAINS": pc.match_substring}


class RowPredicate(Serializable):
    """A condition on a row. Subclasses are frozen, slotted dataclasses."""

    __slots__ = ()

    @abstractmethod
    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        """True, false or null for each row of a batch that has at least the predicate's columns."""

    @abstractmethod
    def columns(self) -> frozenset[str]:
        """Names of the columns that it looks at."""


@dataclass(frozen=True, slots=True)
class Truth(RowPredicate):
    """Always true, or never."""

    value: bool

    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        return pa.repeat(pa.scalar(self.value), batch.num_rows)

    def columns(self) -> frozenset[str]:
        return frozenset()


@dataclass(frozen=True, slots=True)
class NullTest(RowPredicate):
    """``IS NULL``, or ``IS NOT NULL``."""

    column: str
    null: bool

    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        column = batch.column(self.column)
        return column.is_null() if self.null else column.is_valid()

    def columns(self) -> frozenset[str]:
        return frozenset((self.column,))


@dataclass(frozen=True, slots=True)
class Comparison(RowPredicate):
    """A column against a value that is not NULL.

    Attributes:
        column: The column.
        operator: ``=``, ``!=``, ``<``, ``<=``, ``>`` or ``>=``.
        value: Of the column's type, as ``connector_spi.predicate.normalize`` gives it.
        null_safe: NULL is another value than ``value`` instead of unknown: ``<=>``.
    """

    column: str
    operator: str
    value: Value
    null_safe: bool = False

    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        found = compare(batch.column(self.column), self.operator, self.value)
        return found.fill_null(False) if self.null_safe else found

    def columns(self) -> frozenset[str]:
        return frozenset((self.column,))


@dataclass(frozen=True, slots=True)
class InList(RowPredicate):
    """A column against several values, not of a floating-point type.

    Attributes:
        column: The column.
        values: Those that are not NULL.
        has_null: NULL is listed, too: the answer is then true or unknown, and never false.
    """

    column: str
    values: tuple[Value, ...]
    has_null: bool

    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        column = batch.column(self.column)
        found = pc.is_in(column, value_set=_value_set(self.values, column.type))
        known = found if self.has_null else column.is_valid()
        return pc.if_else(known, found, pa.scalar(None, pa.bool_()))

    def columns(self) -> frozenset[str]:
        return frozenset((self.column,))


@dataclass(frozen=True, slots=True)
class TextTest(RowPredicate):
    """A text column with a start, an end or a part, compared byte by byte.

    Attributes:
        column: The column.
        operator: ``STARTS_WITH``, ``ENDS_WITH`` or ``CONTAINS``.
        text: What is looked for; nothing in it has a special meaning.
    """

    column: str
    operator: str
    text: str

    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        return _TEXT_TESTS[self.operator](batch.column(self.column), pattern=self.text)

    def columns(self) -> frozenset[str]:
        return frozenset((self.column,))


@dataclass(frozen=True, slots=True)
class FieldTest(RowPredicate):
    """A condition on a field of structs, which is NULL where a struct around it is.

    Attributes:
        column: The column.
        fields: Names of the fields, from the column's own ones inwards.
        inner: The condition on a column ``FieldTest.NAME``.
    """

    column: str
    fields: tuple[str, ...]
    inner: RowPredicate

    NAME: ClassVar[str] = "field"

    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        found = pc.struct_field(batch.column(self.column), list(self.fields))
        return self.inner.mask(pa.RecordBatch.from_arrays([found], [self.NAME]))

    def columns(self) -> frozenset[str]:
        return frozenset((self.column,))


@dataclass(frozen=True, slots=True)
class Negation(RowPredicate):
    """``NOT``; of unknown it is unknown."""

    inner: RowPredicate

    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        return pc.invert(self.inner.mask(batch))

    def columns(self) -> frozenset[str]:
        return self.inner.columns()


@dataclass(frozen=True, slots=True)
class Junction(RowPredicate):
    """``AND`` of at least one predicate, or ``OR`` of them."""

    all_of: bool
    inner: tuple[RowPredicate, ...]

    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        combine = pc.and_kleene if self.all_of else pc.or_kleene
        return functools.reduce(combine, (predicate.mask(batch) for predicate in self.inner))

    def columns(self) -> frozenset[str]:
        return frozenset().union(*(predicate.columns() for predicate in self.inner))


@functools.lru_cache(maxsize=64)
def _value_set(values: tuple[Value, ...], data_type: pa.DataType) -> pa.Array:
    # Lists may be long, and are asked for with every batch.
    return pa.array(list(values), data_type)
