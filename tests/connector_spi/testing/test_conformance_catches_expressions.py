"""Each way in which a connector may get a condition wrong fails a check of the conformance suite."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pytest

from connector_spi.connector import ConnectorFactory
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import FilterApplication
from connector_spi.predicate import (
    Call,
    ColumnReference,
    ConnectorExpression,
    Constant,
    Constraint,
    FieldDereference,
    Function,
    TupleDomain,
    references,
)
from connector_spi.session import ConnectorSession
from connector_spi.splits import SplitSource
from connector_spi.testing import Behaviour
from connector_spi.testing.reference_queries import rows_that_fit_expression
from connectors.memory.handles import MemorySplit, MemoryTableHandle
from connectors.memory.metadata import MemoryMetadata
from connectors.memory.page_source import MemoryPageSourceProvider
from connectors.memory.splits import MemorySplitManager
from tests.connector_spi.testing.test_conformance_catches import Defect, DefectiveFactory, Suite

Rewrite: TypeAlias = Callable[[ConnectorExpression], ConnectorExpression]
Check: TypeAlias = Callable[["ExactSuite"], object]


class ExactMetadata(MemoryMetadata):
    """Guarantees every condition."""

    def apply_filter(
        self, session: ConnectorSession, table: MemoryTableHandle, constraint: Constraint
    ) -> FilterApplication | None:
        taken = super().apply_filter(session, table, constraint)
        return taken and dataclasses.replace(taken, applied=constraint.expressions)


class ExactSplitManager(MemorySplitManager):
    """Carries the columns of conditions, too, of all parts of the table."""

    def get_splits(
        self,
        transaction: ConnectorTransaction,
        session: ConnectorSession,
        table: MemoryTableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> SplitSource[MemorySplit]:
        used = tuple(one.column for condition in table.conditions for one in references(condition))
        everything = dataclasses.replace(table, conditions=())
        return super().get_splits(transaction, session, everything, (*columns, *used), dynamic_filter)


class ExactProvider(MemoryPageSourceProvider):
    """Gives the rows for which each condition is true, value by value."""

    def read(
        self, split: MemorySplit, table: MemoryTableHandle, columns: tuple[ColumnHandle, ...]
    ) -> Iterator[pa.RecordBatch]:
        for batch in super().read(split, table, columns):
            rows = pa.Table.from_batches([batch])
            for condition in table.conditions:
                rows = rows_that_fit_expression(rows, self.understood(condition))
            yield from rows.to_batches()

    def understood(self, condition: ConnectorExpression) -> ConnectorExpression:
        return condition


class WrongProvider(ExactProvider):
    """Takes parts of a condition for others.

    Args:
        name: Of one of ``REWRITES``: it travels, and functions do not.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def understood(self, condition: ConnectorExpression) -> ConnectorExpression:
        if isinstance(condition, Call):
            arguments = tuple(self.understood(argument) for argument in condition.arguments)
            condition = dataclasses.replace(condition, arguments=arguments)
        return REWRITES[self._name](condition)


class BoastfulProvider(ExactProvider):
    """Filters no row."""

    def understood(self, condition: ConnectorExpression) -> ConnectorExpression:
        return Constant(True, pa.bool_())


class BranchlessMetadata(MemoryMetadata):
    """Chooses parts of the table by the first branch of an OR; guarantees nothing."""

    def apply_filter(
        self, session: ConnectorSession, table: MemoryTableHandle, constraint: Constraint
    ) -> FilterApplication | None:
        first = tuple(_first_of(Function.OR, one) for one in constraint.expressions)
        return super().apply_filter(session, table, dataclasses.replace(constraint, expressions=first))


class NullessProvider(MemoryPageSourceProvider):
    """Leaves rows out in which a column of a condition is NULL; guarantees nothing."""

    def read(
        self, split: MemorySplit, table: MemoryTableHandle, columns: tuple[ColumnHandle, ...]
    ) -> Iterator[pa.RecordBatch]:
        for batch in super().read(split, table, columns):
            rows = pa.Table.from_batches([batch])
            for name in {one.column.name for condition in table.conditions for one in references(condition)}:
                rows = rows.filter(rows.column(name).is_valid())
            yield from rows.to_batches()


def _first_of(function: Function, part: ConnectorExpression) -> ConnectorExpression:
    return part.arguments[0] if isinstance(part, Call) and part.function is function else part


def _last_of(function: Function, part: ConnectorExpression) -> ConnectorExpression:
    return part.arguments[-1] if isinstance(part, Call) and part.function is function else part


def _other(function: Function, taken_for: Function) -> Rewrite:
    def rewrite(part: ConnectorExpression) -> ConnectorExpression:
        is_meant = isinstance(part, Call) and part.function is function
        return dataclasses.replace(part, function=taken_for) if is_meant and isinstance(part, Call) else part

    return rewrite


def _never_unknown(part: ConnectorExpression) -> ConnectorExpression:
    """A comparison with NULL is false, as in a language of two truths: NOT makes it true."""
    if not isinstance(part, Call) or part.function in (Function.AND, Function.OR, Function.NOT, Function.IS_NULL):
        return part
    return Call(Function.NULL_SAFE_EQUAL, (part, Constant(True, pa.bool_())))


def _null_in_list_left_out(part: ConnectorExpression) -> ConnectorExpression:
    if not isinstance(part, Call) or part.function is not Function.IN:
        return part
    kept = [one for one in part.arguments if not isinstance(one, Constant) or one.value is not None]
    return Call(Function.IN, tuple(kept))


def _field(make: Callable[[FieldDereference], ConnectorExpression]) -> Rewrite:
    return lambda part: make(part) if isinstance(part, FieldDereference) else part


def _column_of_that_name(field: FieldDereference) -> ConnectorExpression:
    return ColumnReference(ColumnHandle(field.field, field.type))


def _neighbour(field: FieldDereference) -> ConnectorExpression:
    """The field of that type which is found first."""
    return dataclasses.replace(field, field=next(one.name for one in field.target.type if one.type == field.type))


def _wrong_name(field: FieldDereference) -> ConnectorExpression:
    """No field has such a name, so that it is NULL."""
    return Constant(None, field.type)


def _nan_is_unlike_itself(part: ConnectorExpression) -> ConnectorExpression:
    is_nan = isinstance(part, Call) and any(
        isinstance(one, Constant) and one.value != one.value for one in part.arguments
    )
    return Constant(False, pa.bool_()) if is_nan else part


def _zero_has_a_sign(part: ConnectorExpression) -> ConnectorExpression:
    """-0.0 is below 0.0, as in the total order of IEEE 754."""
    if isinstance(part, Constant) and part.value == 0.0 and isinstance(part.value, float):
        return Constant(-5e-324, part.type)
    return part


def _no_letters(part: ConnectorExpression) -> ConnectorExpression:
    """A pattern of LIKE, in which ``_`` stands for any letter."""
    if isinstance(part, Call) and part.arguments[-1] == Constant("_", pa.string()):
        return Call(Function.NOT_EQUAL, (part.arguments[0], Constant("", pa.string())))
    return part


REWRITES: dict[str, Rewrite] = {
    "first branch of OR": lambda part: _first_of(Function.OR, part),
    "last branch of OR": lambda part: _last_of(Function.OR, part),
    "first part of AND": lambda part: _first_of(Function.AND, part),
    "OR as AND": _other(Function.OR, Function.AND),
    "NOT left out": lambda part: _first_of(Function.NOT, part),
    "never unknown": _never_unknown,
    "NULL in a list left out": _null_in_list_left_out,
    "<=> as =": _other(Function.NULL_SAFE_EQUAL, Function.EQUAL),
    "< as <=": _other(Function.LESS, Function.LESS_OR_EQUAL),
    ">= as >": _other(Function.GREATER_OR_EQUAL, Function.GREATER),
    "column of that name": _field(_column_of_that_name),
    "neighbour": _field(_neighbour),
    "field by a wrong name": _field(_wrong_name),
    "NaN is unlike itself": _nan_is_unlike_itself,
    "zero has a sign": _zero_has_a_sign,
    "pattern": _no_letters,
    "start as part": _other(Function.STARTS_WITH, Function.CONTAINS),
}


class ExactSuite(Suite):
    """Not collected by itself: the tests below run single checks of it."""

    __test__ = False
    missing_behaviours = frozenset({Behaviour.DAMAGED_DATA})

    def factory(self) -> ConnectorFactory:
        return DefectiveFactory(self.defect)


def _unknown(suite: ExactSuite) -> None:
    suite.test_a_condition_is_true_false_or_unknown()


def _branches(suite: ExactSuite) -> None:
    suite.test_every_branch_of_an_or_counts()


def _numbers(suite: ExactSuite) -> None:
    suite.test_floating_point_numbers_have_an_order()


def _fields(suite: ExactSuite) -> None:
    suite.test_fields_of_structs_are_found_by_name()


def _texts(suite: ExactSuite) -> None:
    suite.test_parts_of_texts_are_no_patterns()


CHECKS: list[Check] = [_unknown, _branches, _numbers, _fields, _texts]
EXACT = Defect(ExactMetadata, ExactSplitManager, ExactProvider)
CAUGHT: list[tuple[Defect | str, Check]] = [
    (Defect(ExactMetadata, ExactSplitManager, BoastfulProvider), _unknown),
    (Defect(ExactMetadata, ExactSplitManager, BoastfulProvider), _fields),
    (Defect(BranchlessMetadata), _branches),
    (Defect(BranchlessMetadata), _fields),
    (Defect(splits=ExactSplitManager, provider=NullessProvider), _unknown),
    (Defect(splits=ExactSplitManager, provider=NullessProvider), _branches),
    ("first branch of OR", _branches),
    ("last branch of OR", _branches),
    ("first part of AND", _branches),
    ("OR as AND", _branches),
    ("NOT left out", _unknown),
    ("never unknown", _unknown),
    ("never unknown", _fields),
    ("NULL in a list left out", _unknown),
    ("<=> as =", _unknown),
    ("< as <=", _unknown),
    (">= as >", _unknown),
    ("column of that name", _fields),
    ("neighbour", _fields),
    ("field by a wrong name", _fields),
    ("NaN is unlike itself", _numbers),
    ("zero has a sign", _numbers),
    ("pattern", _texts),
    ("start as part", _texts),
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_connector_that_guarantees_conditions_passes(check: Check, tmp_path: Path) -> None:
    check(_suite(EXACT, tmp_path))


@pytest.mark.parametrize(("broken", "check"), CAUGHT)
def test_a_broken_condition_is_caught(broken: Defect | str, check: Check, tmp_path: Path) -> None:
    if isinstance(broken, str):
        name = broken
        broken = Defect(ExactMetadata, ExactSplitManager, lambda: WrongProvider(name))
    suite = _suite(broken, tmp_path)
    with pytest.raises(AssertionError, match=r"condition .* (guaranteed|not guaranteed): \d+ rows are missing"):
        check(suite)


def _suite(defect: Defect, folder: Path) -> ExactSuite:
    suite = ExactSuite()
    suite.defect = defect
    suite.folder = folder
    suite.connector = suite.create_connector()
    return suite
